/* What a report says, before it is said. */

#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"

/* --- groups --- */

static const struct emit_column share_order[] = {
	EMIT_MEMBER(NULL, NUMBER, struct report_share, key),
	EMIT_MEMBER(NULL, BYTES, struct report_share, bytes),
	EMIT_MEMBER(NULL, NUMBER, struct report_share, stack),
	EMIT_END,
};

static const struct emit_column group_order[] = {
	EMIT_MEMBER(NULL, BYTES, struct report_group, bytes),
	EMIT_MEMBER(NULL, NUMBER, struct report_group, key),
	EMIT_END,
};

int report_group(struct emit_rows *groups, struct trace *trace, const struct emit_rows *shares)
{
	const struct report_share *list = shares->rows;
	size_t first = 0;

	*groups = EMIT_NONE_OF(struct report_group, SIZE_MAX);
	emit_sort(shares, share_order);
	for (size_t end = 1; end <= shares->count; end++) {
		struct report_group group = { .key = list[first].key,
					      .shares = &list[first],
					      .shares_n = end - first };

		if (end < shares->count && list[end].key == group.key)
			continue;
		for (; first < end; first++) {
			group.bytes += list[first].bytes;
			group.count += list[first].count;
		}
		if (!emit_add(&trace->arena, groups, &group))
			return err_no_memory(trace->path);
	}
	emit_sort(groups, group_order);
	return 0;
}

/* A stack without a site stands alone. */
int report_group_peak(struct emit_rows *groups, struct trace *trace, const struct trace_peak *peak)
{
	struct emit_rows shares = EMIT_NONE_OF(struct report_share, SIZE_MAX);
	struct report_group *list;
	int error;

	for (size_t i = 0; peak && i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];
		uint32_t site = trace->site_of[share->stack];
		const struct report_share keyed = {
			site == UINT32_MAX ? (uint64_t)1 << 32 | share->stack : site,
			share->bytes,
			share->count,
			share->stack,
		};

		if (!emit_add(&trace->arena, &shares, &keyed))
			return err_no_memory(trace->path);
	}
	error = report_group(groups, trace, &shares);
	list = (struct report_group *)groups->rows;
	for (size_t i = 0; i < groups->count; i++) {
		if (list[i].key <= UINT32_MAX)
			list[i].name = trace->sites[list[i].key].site;
	}
	return error;
}

/* --- the answer --- */

const struct trace_device *report_worst(const struct trace *trace, int wanted)
{
	const struct trace_device *worst = NULL;

	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];

		if (wanted != NO_DEVICE && device->device != wanted)
			continue;
		if (!worst || trace_known(device->allocated.peak_bytes) >
				      trace_known(worst->allocated.peak_bytes))
			worst = device;
	}
	return worst;
}

uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device)
{
	const struct trace_curve *curve = trace_curve(trace, device->device, NULL);
	uint64_t t = device->allocated.peak_t;

	if (!curve || t == TRACE_NONE ||
	    trace_curve_at(curve, curve->allocated, t) != device->allocated.peak_bytes)
		return TRACE_NONE;
	return trace_curve_at(curve, curve->reserved, t);
}

static void device_text(const struct trace_device *device, char *to, size_t size)
{
	size_t used = (size_t)snprintf(to, size, "device %d", device->device);

	if (!device->name && device->total_bytes == TRACE_NONE)
		return;
	if (device->total_bytes == TRACE_NONE)
		snprintf(to + used, size - used, " (%s)", device->name);
	else
		snprintf(to + used, size - used, " (%s%s%s)", device->name ? device->name : "",
			 device->name ? ", " : "", SAY_BYTES(device->total_bytes));
}

void report_line_text(const struct trace *trace, uint32_t stack, char *to, size_t size)
{
	uint32_t line = trace_line(trace, stack);

	if (line != UINT32_MAX)
		trace_frame_text(trace, line, to, size);
	else if (stack < trace->stacks_n && trace->site_of[stack] != UINT32_MAX)
		text_copy(to, size, trace->sites[trace->site_of[stack]].site);
	else
		text_copy(to, size, "an unknown place");
}

/* Nothing on any device: say what there was instead. */
static void no_device_text(const struct trace *trace, int wanted, char *to, size_t size)
{
	const struct trace_space *most = NULL;

	for (size_t i = 0; i < trace->summary.spaces_n; i++) {
		const struct trace_space *space = &trace->summary.spaces[i];

		if (trace_known(space->allocated.peak_bytes) >
		    (most ? most->allocated.peak_bytes : 0))
			most = space;
	}
	if (wanted != NO_DEVICE)
		snprintf(to, size, "No memory of device %d was allocated.", wanted);
	else if (most)
		snprintf(to, size, "No device memory was allocated; %s memory reached %s.",
			 most->space ? most->space : "other",
			 SAY_BYTES(most->allocated.peak_bytes));
	else
		text_copy(to, size, "No GPU memory was allocated.");
}

/* "; most of it 812.00 MiB from Linear.forward (linear.py), called by Net.forward (net.py:12)" */
static int add_culprit(struct trace *trace, const struct trace_device *device, char *to,
		       size_t size)
{
	const struct trace_peak *peak = trace_peak(trace, device->device, NULL, TRACE_ALLOCATED);
	struct emit_rows groups;
	const struct report_group *first;
	char line[300];
	size_t used = strlen(to);
	int error = report_group_peak(&groups, trace, peak);

	first = groups.rows;
	if (!error && groups.count && first->bytes) {
		/* A library's doing is not that of the line which called it. */
		const char *from = first->name ? strstr(first->name, " from ") : NULL;

		report_line_text(trace, (uint32_t)first->shares->stack, line, sizeof(line));
		snprintf(to + used, size - used, "; %s %s from %.*s%s%s",
			 first->bytes >= peak->bytes - first->bytes ? "most of it"
								    : "the largest part",
			 SAY_BYTES(first->bytes), from ? (int)(from - first->name) : 0,
			 from ? first->name : "", from ? ", called by " : "", line);
	}
	text_append(to, size, ".");
	return error;
}

int report_answer(struct trace *trace, int wanted, char *to, size_t size)
{
	const struct trace_device *device = report_worst(trace, wanted);
	bool timed = !trace->capture.baseline;
	char where[300];
	uint64_t bytes;

	if (!device || (!trace_known(device->allocated.peak_bytes) &&
			!trace_known(device->reserved.peak_bytes))) {
		no_device_text(trace, wanted, to, size);
		return 0;
	}
	bytes = report_reserved_at_peak(trace, device);
	if (bytes == TRACE_NONE)
		bytes = device->reserved.peak_bytes;
	device_text(device, where, sizeof(where));
	snprintf(to, size, "Peak %s allocated of %s reserved on %s%s%s",
		 SAY_BYTES(device->allocated.peak_bytes), SAY_BYTES(bytes), where,
		 timed ? ", at " : "", timed ? SAY_TIME(device->allocated.peak_t) : "");
	return add_culprit(trace, device, to, size);
}

/* --- failed allocations --- */

uint64_t report_ooms(const struct trace *trace, int wanted)
{
	uint64_t ooms = 0;

	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		if (wanted == NO_DEVICE || trace->summary.devices[i].device == wanted)
			ooms += trace->summary.devices[i].ooms;
	}
	return ooms;
}

int report_failures(struct trace *trace, int wanted, struct event *events, size_t most)
{
	size_t count = 0;
	int more = 1;

	while (count < most && more == 1) {
		more = trace_next_of(trace, EVENT_OOM, &events[count]);
		if (more < 0)
			return more;
		if (more == 1 && (wanted == NO_DEVICE || events[count].device == wanted))
			count++;
	}
	return (int)count;
}

const struct trace_oom *report_fatal(const struct trace *trace, int wanted)
{
	const struct trace_oom *last = trace->ooms_n ? &trace->ooms[trace->ooms_n - 1] : NULL;

	if (!last || last->survived || (wanted != NO_DEVICE && last->device != wanted))
		return NULL;
	return last;
}

/* " It was so.", of the lines that explain it: one begins "Why: ", and those below are indented. */
static void add_reason(const struct trace_oom *oom, char *to, size_t size)
{
	static const char why[] = "Why: ";
	const size_t indent = sizeof(why) - 1;
	size_t first = 0;

	while (first < oom->text_n && strncmp(oom->text[first], why, indent) != 0)
		first++;
	for (size_t i = first; i < oom->text_n; i++) {
		if (i > first && strncmp(oom->text[i], "     ", indent) != 0)
			break;
		text_append(to, size, " ");
		text_append(to, size, oom->text[i] + indent);
	}
}

bool report_fatal_text(const struct trace *trace, int wanted, char *to, size_t size)
{
	const struct trace_oom *oom = report_fatal(trace, wanted);
	char place[40] = "";
	char line[300];

	if (!oom)
		return false;
	if (oom->device != NO_DEVICE)
		snprintf(place, sizeof(place), " on device %d", oom->device);
	report_line_text(trace, oom->stack, line, sizeof(line));
	snprintf(to, size, "Out of memory: %s%s could not be had at %s, by %s.",
		 SAY_BYTES(oom->size), place, SAY_TIME(oom->t), line);
	add_reason(oom, to, size);
	return true;
}

void report_failure_text(const struct trace *trace, const struct event *event, char *to,
			 size_t size)
{
	const char *error = trace_text(trace, event->error);
	const char *api = trace_text(trace, event->api);
	const struct trace_thread *thread = trace_thread(trace, event->thread);
	bool named = thread && !thread->main;
	char place[40] = "";
	char sums[120] = "";
	char line[300];

	report_line_text(trace, event->stack, line, sizeof(line));
	if (event->device != NO_DEVICE)
		snprintf(place, sizeof(place), " on device %d", event->device);
	if (event->allocated != TRACE_NONE && event->reserved != TRACE_NONE)
		snprintf(sums, sizeof(sums), ", with %s allocated and %s reserved",
			 SAY_BYTES(event->allocated), SAY_BYTES(event->reserved));
	snprintf(to, size, "%s%s at %s%s: %s, by %s (%.80s)%s%.40s", SAY_BYTES(event->size), place,
		 SAY_TIME(event->t), sums, error ? error : "failed", line, api ? api : "?",
		 named ? " in thread " : "", named ? thread->name : "");
}
