/* The sentences with which a report begins. */

#include <string.h>

#include "render/report/report_parts.h"

enum { SENTENCE = 4096 };

/* --- on the whole run --- */

bool report_is_wanted(const struct report *report, int device)
{
	int wanted = report->options->select.device;

	return wanted == NO_DEVICE || device == wanted;
}

const struct trace_device *report_worst(const struct report *report)
{
	return trace_worst_device(report->trace, report->options->select.device);
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

/* Returns the device's name and memory, " (NVIDIA H200, 140.00 GiB)", without what is unknown. */
static const char *card_text(const struct report *report, const struct trace_device *device)
{
	bool sized = device->total_bytes != TRACE_NONE;

	if (!device->name && !sized)
		return "";
	return report_format(report, " (%s%s%s)", device->name ? device->name : "",
			     device->name && sized ? ", " : "",
			     sized ? SAY_BYTES(device->total_bytes) : "");
}

const char *report_line(const struct report *report, uint64_t stack)
{
	const struct trace *trace = report->trace;
	uint32_t line = trace_line(trace, (uint32_t)stack);
	char text[512];

	if (line != UINT32_MAX)
		trace_frame_text(trace, line, text, sizeof(text));
	else if (stack < trace->stacks_n && trace->site_of[stack] != UINT32_MAX)
		return trace->sites[trace->site_of[stack]].site;
	else
		return "an unknown place";
	return report_format(report, "%s", text);
}

/* Returns the first sentence for a run without device memory: about the largest memory kind. */
static const char *no_device_text(const struct report *report)
{
	const struct trace_summary *summary = &report->trace->summary;
	const struct trace_space *most = NULL;

	foreach (space, summary->spaces) {
		if (trace_known(space->allocated.peak_bytes) >
		    (most ? most->allocated.peak_bytes : 0))
			most = space;
	}
	if (report->options->select.device != NO_DEVICE)
		return report_format(report, "No memory was allocated on device %d.",
				     report->options->select.device);
	if (!most)
		return "No GPU memory was allocated.";
	return report_format(report, "No device memory was allocated; %s memory reached %s.",
			     most->space ? most->space : "other",
			     SAY_BYTES(most->allocated.peak_bytes));
}

/* Describes a group; a call site as "Linear.forward (linear.py), called by Net.forward (net.py:2)",
 * without the ":2" if the group's stacks are from several lines. */
static const char *group_text(const struct report *report, const struct report_group *group)
{
	const struct trace *trace = report->trace;
	const char *line = report_line(report, group->shares->stack);
	/* The name of a library's site has " from " and the function that called the library. */
	const char *from = group->name ? strstr(group->name, " from ") : NULL;

	if (group->name && trace->by != TRACE_BY_SITE)
		return group->name;
	for (size_t i = 1; group->name && i < group->shares_n; i++) {
		if (trace_line(trace, (uint32_t)group->shares[i].stack) !=
		    trace_line(trace, (uint32_t)group->shares->stack))
			line = from ? from + strlen(" from ") : group->name;
	}
	return report_format(report, "%.*s%s%s", from ? (int)(from - group->name) : 0,
			     from ? group->name : "", from ? ", called by " : "", line);
}

/* Returns the end of the first sentence, "; most of it 812.00 MiB from Net.forward (net.py:12)" or,
 * with --filter Net, "; stacks with Net held 812.00 MiB of that". */
static const char *culprit_text(const struct report *report, const struct trace_device *device)
{
	const struct trace_peak *peak =
		trace_peak(report->trace, device->device, NULL, TRACE_ALLOCATED);
	const struct emit_rows groups = report_group_peak(report, peak);
	const struct report_group *first = groups.rows;
	uint64_t held = 0;
	bool all;

	foreach (group, ROWS_IN(const struct report_group, groups))
		held += group->bytes;
	if (report->selection->stacks)
		return report_format(report, "; stacks with %.100s held %s of that",
				     report->options->select.filter,
				     held ? SAY_BYTES(held) : "nothing");
	if (!held)
		return "";
	all = first->bytes == peak->bytes;
	return report_format(report, "; %s%s%s from %s",
			     all                                          ? "all of it"
			     : first->bytes >= peak->bytes - first->bytes ? "most of it"
									  : "the largest part",
			     all ? "" : " ", all ? "" : SAY_BYTES(first->bytes),
			     group_text(report, first));
}

const char *report_run_answer(const struct report *report)
{
	const struct trace_device *device = report_worst(report);
	bool timed = !report->trace->capture.baseline;
	uint64_t reserved;

	if (!device || (!trace_known(device->allocated.peak_bytes) &&
			!trace_known(device->reserved.peak_bytes)))
		return no_device_text(report);
	reserved = report_reserved_at_peak(report->trace, device);
	if (reserved == TRACE_NONE)
		reserved = device->reserved.peak_bytes;
	return report_format(report, "Peak %s allocated of %s reserved on device %d%s%s%s%s.",
			     SAY_BYTES(device->allocated.peak_bytes), SAY_BYTES(reserved),
			     device->device, card_text(report, device), timed ? ", at " : "",
			     timed ? SAY_TIME(device->allocated.peak_t) : "",
			     culprit_text(report, device));
}

/* --- failed allocations --- */

const struct trace_oom *report_fatal(const struct report *report)
{
	const struct trace *trace = report->trace;
	const struct trace_oom *last = trace->ooms_n ? &trace->ooms[trace->ooms_n - 1] : NULL;

	return last && !last->survived && report_is_wanted(report, last->device) ? last : NULL;
}

const char *report_place(const struct report *report, int device)
{
	return device == NO_DEVICE ? "" : report_format(report, " on device %d", device);
}

/* Returns the reason for a failure as a sentence, " The pool is fragmented.". It is the line of the
 * explanation that begins with "Why: ", joined with the indented lines after it. */
static const char *reason_text(const struct report *report, const struct trace_oom *oom)
{
	static const char why[] = "Why: ";
	const size_t indent = sizeof(why) - 1;
	const char *reason = "";
	size_t i = 0;

	while (i < oom->text_n && strncmp(oom->text[i], why, indent) != 0)
		i++;
	for (; i < oom->text_n; i++) {
		if (*reason && strncmp(oom->text[i], "     ", indent) != 0)
			break;
		reason = report_format(report, "%s %s", reason, oom->text[i] + indent);
	}
	return reason;
}

const char *report_fatal_text(const struct report *report)
{
	const struct trace_oom *oom = report_fatal(report);

	if (!oom)
		return NULL;
	return report_format(report, "Out of memory: %s%s could not be allocated at %s, by %s.%s",
			     SAY_BYTES(oom->size), report_place(report, oom->device),
			     SAY_TIME(oom->t), report_line(report, oom->stack),
			     reason_text(report, oom));
}

/* --- on what the report is about --- */

/* The first sentence for a selection: "For pool torch from 1s to 2s: peak 1.23 GiB, at 1.5 s." */
static const char *selection_answer(const struct report *report)
{
	const struct report_selection *selection = report->selection;
	const char *what = selection->what[0] ? selection->what : "the whole run";
	const char *before = selection->moment ? "Live " : "For ";
	const struct trace_peak *peak = report->trace->peaks;
	bool lacks = selection->replay.dropped &&
		     (!selection->moment || selection->replay.lost == TRACE_NONE);

	if (selection->empty)
		return report_format(report, "Nothing in the trace matches: %s.", selection->what);
	if (!selection->moment && selection->window) { /* `what` is "from ..." or "until ..." */
		before = what[0] == 'f' ? "F" : "U";
		what++;
	}
	if (!peak->bytes)
		return report_format(report, "%s%s: %s.", before, what,
				     lacks ? "not known" : "nothing");
	return report_format(report, "%s%s: %s%s, at %s.", before, what,
			     selection->moment ? "" : "peak ", SAY_BYTES(peak->bytes),
			     SAY_TIME(peak->t));
}

const char *report_answer(const struct report *report)
{
	const struct report_selection *selection = report->selection;

	if (selection->narrow || selection->moment || (selection->empty && selection->stacks))
		return selection_answer(report);
	return report_run_answer(report);
}

const char *report_story(const struct report *report)
{
	const char *fatal = report_fatal_text(report);

	if (report->selection->replayed)
		return NULL;
	return fatal ? fatal : report_study_story(report);
}

const char *report_doubt(const struct report *report)
{
	char text[SENTENCE];

	return report_select_doubt(report->selection, text, sizeof(text))
		       ? report_format(report, "%s", text)
		       : NULL;
}
