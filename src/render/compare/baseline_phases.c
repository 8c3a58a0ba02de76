/* The phases of a baseline: of each name those that a gate may be about. */
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/metrics.h"
#include "analyse/input/error.h"
#include "analyse/trace/phase_name.h"
#include "base/mem/sort.h"
#include "facts/trace_rows.h"
#include "render/compare/baseline.h"

/* More names than this are one each of their families: "step #" for "step 1", "step 2", ... */
enum { PHASE_NAMES = 100 };

/* Of the phases of one name those that a gate may be about: the highest by each metric. */
struct kept_phase {
	const char *name;
	const struct trace_phase *highest[METRIC_IDS];
};

/* What is not known is no more than nothing. */
static uint64_t height(const struct trace_phase *phase, enum metric_id metric)
{
	return trace_known(metric_of_phase(phase, metric));
}

/* Sorts, and puts the phases of one name together. */
static size_t join_phases(struct kept_phase *list, size_t count)
{
	static const struct sort_key by_name[] = { SORT_TEXT(struct kept_phase, name), { 0 } };
	size_t kept = 0;

	sort_rows(list, count, sizeof(*list), by_name);
	for (size_t i = 0; i < count; i++) {
		struct kept_phase *to = kept ? &list[kept - 1] : NULL;

		if (!to || strcmp(to->name, list[i].name) != 0) {
			list[kept++] = list[i];
			continue;
		}
		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++) {
			if (height(list[i].highest[metric], metric) >
			    height(to->highest[metric], metric))
				to->highest[metric] = list[i].highest[metric];
		}
	}
	return kept;
}

/* A phase that is kept for another metric and is as high by this one: a baseline of what is
 * written must be the same again. */
static bool stands_already(const struct kept_phase *kept, enum metric_id metric)
{
	for (enum metric_id before = 0; before < metric; before++) {
		if (height(kept->highest[before], metric) == height(kept->highest[metric], metric))
			return true;
	}
	return false;
}

/* The phases by name; NULL without memory. */
static struct kept_phase *find_phases(struct run *run, size_t *count)
{
	const struct trace *trace = &run->trace;
	struct kept_phase *list = arena_alloc(&run->arena, (trace->phases_n + 1) * sizeof(*list));

	*count = 0;
	for (size_t i = 0; list && i < trace->phases_n; i++) {
		if (!trace->phases[i].name)
			continue;
		list[*count].name = trace->phases[i].name;
		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++)
			list[*count].highest[metric] = &trace->phases[i];
		(*count)++;
	}
	*count = join_phases(list, *count);
	if (*count <= PHASE_NAMES)
		return list;
	for (size_t i = 0; i < *count; i++) {
		char family[PHASE_FAMILY];
		size_t length = phase_family(family, sizeof(family), list[i].name);

		list[i].name = arena_text(&run->arena, family, length);
		if (!list[i].name)
			return NULL;
	}
	*count = join_phases(list, *count);
	return list;
}

int baseline_phases(struct trace *to, struct run *run)
{
	size_t count;
	const struct kept_phase *list = find_phases(run, &count);

	to->phases = rows_make(&run->arena, ROWS_phase, METRIC_IDS * count);
	if (!list || !to->phases)
		return err("no memory left");
	for (size_t i = 0; i < count; i++) {
		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++) {
			const struct trace_phase *of = list[i].highest[metric];
			struct trace_phase *phase = &to->phases[to->phases_n];

			if (stands_already(&list[i], metric))
				continue;
			phase->name = list[i].name;
			phase->end = 0;
			phase->allocated = of->allocated;
			phase->reserved = of->reserved;
			to->phases_n++;
		}
	}
	return 0;
}
