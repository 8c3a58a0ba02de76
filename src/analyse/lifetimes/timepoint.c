/* Reads points and spans of time as users write them. */
#include "analyse/lifetimes/timepoint.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"

int timepoint_time(const char *text, uint64_t *ns)
{
	return quantity_parse(text, QUANTITY_TIME, ns)
		       ? 0
		       : err("cannot read the time %.100s: write it like 12.5s or 2min", text);
}

/* --- phases --- */

static bool is_named(const struct trace_phase *phase, const char *name)
{
	return phase->name && !strcmp(phase->name, name);
}

static int no_phase(const struct trace *trace, const char *name)
{
	char list[400] = "";
	size_t shown = 0;

	for (size_t i = 0; i < trace->phases_n && shown < 6; i++) {
		const char *phase = trace->phases[i].name;
		size_t before = 0;

		while (before < i && !is_named(&trace->phases[before], phase ? phase : ""))
			before++;
		if (!phase || before < i)
			continue;
		text_append(list, sizeof(list), shown++ ? ", " : "; the phases are: ");
		text_append(list, sizeof(list), phase);
	}
	return err("%s: has no phase %.100s%s%s", trace->path, name, list,
		   shown == 6 ? ", ..."
		   : shown    ? ""
			      : " (it has no phases)");
}

static uint64_t height(const struct trace_phase *phase)
{
	return phase->allocated.peak_bytes == TRACE_NONE ? 0 : phase->allocated.peak_bytes;
}

/* Returns the phase with the highest peak among those of this name, or NULL. Sets *count to their
 * number, and *number to the returned phase's position among them by time, from 1. */
static const struct trace_phase *find_phase(const struct trace *trace, const char *name,
					    size_t *number, size_t *count)
{
	const struct trace_phase *best = NULL;

	*count = 0;
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];

		if (!is_named(phase, name))
			continue;
		++*count;
		if (best && height(phase) <= height(best))
			continue;
		best = phase;
		*number = *count;
	}
	return best;
}

/* --- marks --- */

struct mark {
	uint64_t t, seq;
	size_t number, count; /* of the `count` marks with the same name, this is the number-th */
};

/* Reads the trace again to find a mark: the last named NAME for "NAME", the second for "NAME#2". */
static int find_mark(struct mark *mark, const struct trace *trace, const char *text)
{
	const char *end = strrchr(text, '#');
	uint64_t wanted = 0;
	struct trace again;
	struct event event;
	int more;

	*mark = (struct mark){ .count = 0 };
	if (!end || !quantity_parse(end + 1, QUANTITY_SETTING, &wanted))
		end = text + strlen(text);
	if (trace->once)
		return err("%s cannot be read twice, as mark:NAME needs: use a file", trace->path);
	if (trace_open(&again, trace->path))
		return -EINVAL;
	while ((more = trace_next_of(&again, EVENT_MARK, &event)) == 1) {
		const char *name = trace_text(&again, event.name);

		if (!name || strncmp(name, text, (size_t)(end - text)) != 0 || name[end - text])
			continue;
		mark->count++;
		if (!wanted || wanted == mark->count) {
			mark->t = event.t;
			mark->seq = event.seq;
			mark->number = mark->count;
		}
	}
	trace_close(&again);
	if (more < 0 || mark->number)
		return more;
	return err("%s: has no mark %.100s (it has %zu marks with this name)", trace->path, text,
		   mark->count);
}

static int at_mark(struct replay_wish *wish, const struct trace *trace, const char *name,
		   char *what, size_t size)
{
	struct mark mark;
	int error = find_mark(&mark, trace, name);

	wish->last = mark.seq;
	if (mark.count > 1)
		snprintf(what, size, "at mark %.200s (%zu of %zu with this name)", name,
			 mark.number, mark.count);
	else
		snprintf(what, size, "at mark %.200s", name);
	return error;
}

/* --- bounds --- */

bool timepoint_is_named(const char *text)
{
	return !strncmp(text, "phase:", 6) || !strncmp(text, "mark:", 5);
}

int timepoint_bound(const struct trace *trace, const char *text, bool end, uint64_t *ns)
{
	const struct trace_phase *phase;
	size_t number, count;
	struct mark mark;
	int error;

	if (!timepoint_is_named(text))
		return timepoint_time(text, ns);
	if (text[0] == 'm') {
		error = find_mark(&mark, trace, text + 5);
		*ns = mark.t;
		return error;
	}
	phase = find_phase(trace, text + 6, &number, &count);
	if (!phase)
		return no_phase(trace, text + 6);
	*ns = end ? phase->end : phase->start;
	return 0;
}

/* --- points in time --- */

/* The device with the highest peak, of the pool if `pool` is given; NO_DEVICE if there is none. */
static int worst_device(const struct trace *trace, const char *pool)
{
	const struct trace_peak *worst = NULL;

	for (size_t i = 0; i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		if (peak->metric == TRACE_ALLOCATED && text_same(peak->pool, pool) &&
		    (!worst || peak->bytes > worst->bytes))
			worst = peak;
	}
	return worst ? worst->device : NO_DEVICE;
}

static void at_peak(struct replay_wish *wish, const struct trace *trace)
{
	wish->moment = REPLAY_PEAK;
	if (wish->device == NO_DEVICE && wish->space == SPACES)
		wish->device = worst_device(trace, wish->pool);
}

static int at_phase(struct replay_wish *wish, const struct trace *trace, const char *name,
		    char *what, size_t size)
{
	size_t number, count;
	const struct trace_phase *phase = find_phase(trace, name, &number, &count);

	if (!phase)
		return no_phase(trace, name);
	at_peak(wish, trace);
	wish->from = phase->start;
	wish->to = phase->end;
	if (count > 1)
		snprintf(what, size, "at the peak of phase %.200s (%zu of %zu with this name)",
			 name, number, count);
	else
		snprintf(what, size, "at the peak of phase %.200s", name);
	return 0;
}

static int read_event(const char *text, uint64_t *seq)
{
	return quantity_digits(text, seq)
		       ? 0
		       : err("cannot read seq:%.40s: expected an event number after seq:", text);
}

static int not_moment(const char *text)
{
	return err("cannot read the moment %.100s: expected 12.5s, peak, exit, 'phase:NAME', "
		   "'mark:NAME' or seq:N",
		   text);
}

bool timepoint_makes_sense(const char *text)
{
	uint64_t number;

	if (!strcmp(text, "peak") || !strcmp(text, "exit") || timepoint_is_named(text))
		return true;
	if (!strncmp(text, "seq:", 4))
		return !read_event(text + 4, &number);
	return !timepoint_time(text, &number) || (not_moment(text), false);
}

int moment_find(struct replay_wish *wish, const struct trace *trace, const char *text, char *what,
		size_t size)
{
	int error;

	wish->moment = REPLAY_END;
	wish->from = 0;
	wish->to = UINT64_MAX;
	wish->last = UINT64_MAX;
	if (!strcmp(text, "peak")) {
		at_peak(wish, trace);
		text_copy(what, size, "at the peak");
		return 0;
	}
	if (!strcmp(text, "exit")) {
		text_copy(what, size,
			  trace->process.exit == TRACE_EXIT ? "at exit" : "when recording ended");
		return 0;
	}
	if (!strncmp(text, "phase:", 6))
		return at_phase(wish, trace, text + 6, what, size);
	if (!strncmp(text, "mark:", 5))
		return at_mark(wish, trace, text + 5, what, size);
	if (!strncmp(text, "seq:", 4)) {
		error = read_event(text + 4, &wish->last);
		snprintf(what, size, "after event %.40s", text + 4);
		return error;
	}
	error = timepoint_time(text, &wish->to);
	snprintf(what, size, "at %.100s", text);
	if (!error && trace->process.duration_ns && wish->to > trace->process.duration_ns)
		return err("%s: %.100s is after the trace's end, which is at %.3f s", trace->path,
			   text, (double)trace->process.duration_ns / 1e9);
	return error ? not_moment(text) : 0;
}
