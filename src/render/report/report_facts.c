/* The sentences of a report, and the grouping of stacks into rows. */

#include <string.h>

#include "render/report/report_parts.h"

/* --- groups --- */

static const struct sort_key share_order[] = {
	SORT_UP(struct report_share, key),
	SORT_DOWN(struct report_share, bytes),
	SORT_UP(struct report_share, stack),
	{ 0 },
};

static const struct sort_key group_order[] = {
	SORT_DOWN(struct report_group, bytes),
	SORT_UP(struct report_group, key),
	{ 0 },
};

struct emit_rows report_group(const struct report *report, const struct emit_rows *shares)
{
	const struct report_share *list = shares->rows;
	struct emit_rows groups = report_rows(report, struct report_group);
	size_t first = 0;

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
		report_add(report, &groups, &group);
	}
	emit_sort(&groups, group_order);
	return groups;
}

/* Groups a peak's stacks by site; a stack without a site is a group of its own. */
struct emit_rows report_group_peak(const struct report *report, const struct trace_peak *peak)
{
	const struct trace *trace = report->trace;
	struct emit_rows shares = EMIT_NONE_OF(struct report_share, SIZE_MAX);
	struct emit_rows groups;

	for (size_t i = 0; peak && i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];
		uint32_t site = trace->site_of[share->stack];
		uint64_t key = site == UINT32_MAX ? (uint64_t)1 << 32 | share->stack : site;

		report_add(report, &shares,
			   &(struct report_share){ key, share->bytes, share->count, share->stack });
	}
	groups = report_group(report, &shares);
	foreach (group, ROWS_IN(struct report_group, groups)) {
		if (group->key <= UINT32_MAX)
			group->name = trace->sites[group->key].site;
	}
	return groups;
}

/* --- the sentence that begins a report --- */

bool report_is_wanted(const struct report *report, int device)
{
	int wanted = report->options->select.device;

	return wanted == NO_DEVICE || device == wanted;
}

const struct trace_device *report_worst(const struct report *report)
{
	const struct trace_summary *summary = &report->trace->summary;
	const struct trace_device *worst = NULL;

	foreach (device, summary->devices) {
		if (report_is_wanted(report, device->device) &&
		    (!worst || trace_known(device->allocated.peak_bytes) >
				       trace_known(worst->allocated.peak_bytes)))
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

const char *report_answer(const struct report *report)
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
