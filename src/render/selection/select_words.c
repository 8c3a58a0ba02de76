/* Describes a selection and its missing events in words, and reports unknown devices and pools. */
#include "render/selection/select.h"

#include <stdio.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "render/emit/term.h"

/* Appends the three texts, after a comma if `to` is not empty. Does nothing if `word` is NULL. */
static void add_word(char *to, size_t size, const char *before, const char *word,
		     const char *behind)
{
	if (word)
		show_more(to, size, "%s%s%s%s", to[0] ? ", " : "", before, word, behind);
}

/* Appends a bound of time, as in "pool torch from 1s". Does nothing if `bound` is NULL. */
static void add_bound(char *to, size_t size, const char *before, const char *bound)
{
	if (bound)
		show_more(to, size, "%s%s%s", to[0] ? " " : "", before, bound);
}

void report_select_describe(struct report_selection *selection,
			    const struct selection_options *options)
{
	size_t size = sizeof(selection->what);
	char *to = selection->what;
	char number[24];

	text_u64(number, (uint64_t)options->device);
	add_word(to, size, "pool ", options->pool, "");
	add_word(to, size, "",
		 options->space == SPACES ? NULL : space_name((unsigned)options->space), " memory");
	add_word(to, size, "device ", options->device == NO_DEVICE ? NULL : number, "");
	add_word(to, size, options->categories ? "" : "stacks with ", options->filter, "");
	selection->window = !to[0] && (options->from || options->to);
	add_bound(to, size, "from ", options->from);
	add_bound(to, size, options->from ? "to " : "until ", options->to);
}

bool report_select_doubt(const struct report_selection *selection, char *to, size_t size)
{
	const struct replay *replay = &selection->replay;
	char until[SHOW_NUMBER];
	char what[200];

	/* For one kind of memory, figures taken from the trace instead of events are all exact. */
	if (!selection->replayed || !replay->dropped ||
	    (selection->told && replay->wish->space != SPACES && !selection->moment))
		return false;
	show_time(until, replay->dropped_to);
	if (selection->told && !selection->moment)
		text_copy(what, sizeof(what),
			  "the peak and the stacks that held it are exact, but all other figures "
			  "here lack the missing events.");
	else if (selection->told)
		text_copy(what, sizeof(what),
			  "the stacks that held memory are exact, but the free gaps between blocks "
			  "are not known.");
	else if (selection->moment && replay->lost != TRACE_NONE)
		snprintf(
			what, sizeof(what),
			"of the memory allocated before %s, only the total is known: %s; free gaps "
			"are not known.",
			until, SAY_BYTES(replay->lost));
	else
		snprintf(what, sizeof(what),
			 "missing events do not count; memory allocated before %s is not known.",
			 until);
	snprintf(to, size, "%s %s missing between %s and %s: %s", SAY_COUNT(replay->dropped),
		 replay->dropped == 1 ? "event is" : "events are", SAY_TIME(replay->dropped_from),
		 until, what);
	return true;
}

static int check_device(const struct trace *trace, int device)
{
	char list[200] = "";

	if (device == NO_DEVICE || trace_device(trace, device))
		return 0;
	for (size_t i = 0; i < trace->summary.devices_n && i < 16; i++)
		show_more(list, sizeof(list), "%s%d", !i ? "; it has " : ", ",
			  trace->summary.devices[i].device);
	return err("%s: has no device %d%s", trace->path, device,
		   trace->summary.devices_n ? list : "; the trace has no devices");
}

static int check_pool(const struct trace *trace, int device, const char *pool)
{
	char list[400] = "";

	foreach (row, trace->summary.devices) {
		for (size_t k = 0; k < row->pools_n; k++) {
			const char *name = row->pools[k].name ? row->pools[k].name : "?";

			if ((device == NO_DEVICE || device == row->device) &&
			    text_same(row->pools[k].name, pool))
				return 0;
			show_more(list, sizeof(list), "%s%s",
				  list[0] ? ", " : "; the pools are: ", name);
		}
	}
	return err("%s: has no pool %.100s%s", trace->path, pool,
		   list[0] ? list : "; the trace has no pools");
}

int report_select_check(const struct trace *trace, int device, const char *pool)
{
	int error = check_device(trace, device);

	return error || !pool ? error : check_pool(trace, device, pool);
}
