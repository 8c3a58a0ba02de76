/* Groups phases by name: sorts them so that each group is contiguous, and sums up each group. */
#include "render/selection/phase_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/metrics.h"
#include "analyse/input/grow.h"
#include "analyse/trace/phase_name.h"
#include "render/emit/emit.h"

static const char *text(const char *name)
{
	return name ? name : "";
}

static int compare_names(const struct trace_phase *x, const struct trace_phase *y)
{
	return strcmp(text(x->name), text(y->name));
}

/* Orders phases by family, phase_is_noted() and domain. Returns 0 if they may be in one group. */
static int by_family(const struct trace_phase *x, const struct trace_phase *y)
{
	const char *a = text(x->name);
	const char *b = text(y->name);
	int order = phase_family_order(a, b);

	if (!order)
		order = phase_is_noted(a) - phase_is_noted(b);
	return order ? order : strcmp(text(x->domain), text(y->domain));
}

static int compare_group_names(const void *a, const void *b)
{
	const struct trace_phase *x = a;
	const struct trace_phase *y = b;
	int order = by_family(x, y);

	if (!order)
		order = compare_names(x, y);
	return order ? order : x->start < y->start ? -1 : x->start > y->start;
}

static void add_count(struct trace_phase_count *to, const struct trace_phase_count *count)
{
	if (to->count == TRACE_NONE || count->count == TRACE_NONE) {
		*to = (struct trace_phase_count){ TRACE_NONE, TRACE_NONE };
		return;
	}
	to->bytes += count->bytes;
	to->count += count->count;
}

static void raise_peak(uint64_t *peak, uint64_t bytes)
{
	if (bytes != TRACE_NONE && bytes > *peak)
		*peak = bytes;
}

/* Finds a phase's values on the device. For NO_DEVICE, allocations and frees are those of all
 * devices, other values of the device with the highest peak. False if the device has no values. */
static bool part_of(const struct trace_phase *phase, int device, struct trace_phase_device *part)
{
	const struct trace_phase_device *found = NULL;

	foreach (row, phase->devices) {
		if (device == NO_DEVICE ? !found || trace_known(row->allocated.peak_bytes) >
							    trace_known(found->allocated.peak_bytes)
					: row->device == device)
			found = row;
	}
	*part = (struct trace_phase_device){ .allocated = phase->allocated,
					     .reserved = phase->reserved,
					     .kept = phase->kept };
	if (found)
		*part = *found;
	if (device == NO_DEVICE) {
		part->allocations = phase->allocations;
		part->freed = phase->freed;
	}
	return found || device == NO_DEVICE;
}

bool phase_group_device(const struct phase_group *group, struct trace *trace, int device,
			struct phase_values *values)
{
	int64_t *growth = need(&trace->arena, 3 * (group->count + 1) * sizeof(*growth));
	int64_t *bytes = growth + group->count;
	int64_t *count = bytes + group->count;
	size_t grown = 0, known = 0, parts = 0;

	*values = (struct phase_values){ .device = device };
	for (uint64_t i = 0; i < group->count; i++) {
		struct trace_phase_device part;
		const struct trace_phase_sums *sums = &part.allocated;

		if (!part_of(&group->first[i], device, &part))
			continue;
		parts++;
		raise_peak(&values->peak_bytes, sums->peak_bytes);
		raise_peak(&values->peak_reserved, part.reserved.peak_bytes);
		if (sums->start_bytes != TRACE_NONE &&
		    trace_known(sums->peak_bytes) > sums->start_bytes)
			raise_peak(&values->above_start, sums->peak_bytes - sums->start_bytes);
		if (sums->start_bytes != TRACE_NONE && sums->end_bytes != TRACE_NONE)
			growth[grown++] = (int64_t)(sums->end_bytes - sums->start_bytes);
		add_count(&values->allocations, &part.allocations);
		add_count(&values->freed, &part.freed);
		if (part.kept.count == TRACE_NONE)
			continue;
		bytes[known] = (int64_t)part.kept.bytes;
		count[known++] = (int64_t)part.kept.count;
	}
	values->growth = grown ? median_of(growth, grown) : INT64_MIN;
	values->kept.bytes = known == parts ? (uint64_t)median_of(bytes, known) : TRACE_NONE;
	values->kept.count = known == parts ? (uint64_t)median_of(count, known) : TRACE_NONE;
	return parts > 0;
}

static void add_phase(struct phase_group *to, const struct trace_phase *phase)
{
	to->count++;
	if (phase->end == TRACE_NONE)
		to->open = true;
	else if (phase->end > phase->start)
		to->total_ns += phase->end - phase->start;
}

/* Counts the phases of the same family at the start of a sorted list, and their different names. */
static size_t family(const struct trace_phase *first, size_t left, size_t *names)
{
	size_t count = 1;

	*names = 1;
	for (; count < left && !by_family(&first[0], &first[count]); count++)
		*names += compare_names(&first[count - 1], &first[count]) != 0;
	return count;
}

/* True if a family becomes one group: it has many names or, for names with XLA's notes, several. */
static bool is_folded(const struct trace_phase *first, size_t names)
{
	const char *name = text(first->name);

	return names > (phase_is_noted(name) ? 1 : PHASE_GROUPS_FOLD);
}

static const struct sort_key group_order[] = {
	SORT_DOWN(struct phase_group, values.peak_bytes),
	SORT_UP(struct phase_group, number),
	{ 0 },
};

struct emit_rows phase_groups_find(struct trace *trace, const struct trace_phase *phases,
				   size_t count)
{
	struct phase_group *list = NEED_ROOM(&trace->arena, list, count);
	struct trace_phase *sorted = NEED_ROOM(&trace->arena, sorted, count);
	struct emit_rows groups = EMIT_ROWS_OF(list, 0);
	size_t names;

	if (count)
		memcpy(sorted, phases, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_group_names);
	for (size_t i = 0, end; i < count; i = end) {
		bool fold;

		end = i + family(&sorted[i], count - i, &names);
		fold = is_folded(&sorted[i], names);
		for (size_t k = i; k < end; k++) {
			if (k == i || (!fold && compare_names(&sorted[k - 1], &sorted[k])))
				list[groups.count++] = (struct phase_group){ .first = &sorted[k],
									     .number = k,
									     .folded = fold };
			add_phase(&list[groups.count - 1], &sorted[k]);
		}
	}
	foreach (row, list, groups.count)
		phase_group_device(row, trace, NO_DEVICE, &row->values);
	emit_sort(&groups, group_order);
	return groups;
}

const char *phase_group_name(const struct phase_group *group, char *to, size_t size)
{
	const char *name = text(group->first->name);

	if (!group->folded)
		return name;
	phase_family(to, size, name);
	return to;
}

const char *phase_group_title(const struct phase_group *group, char *to, size_t size)
{
	const char *domain = group->first->domain;
	char name[PHASE_GROUPS_NAME];
	const char *title = phase_group_name(group, name, sizeof(name));

	if (domain && *domain)
		snprintf(to, size, "%s (%s)", title, domain);
	else
		snprintf(to, size, "%s", title);
	return to;
}
