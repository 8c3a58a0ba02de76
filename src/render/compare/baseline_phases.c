/* The phases of a baseline: of each name those that a gate may be about. */
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/metrics.h"
#include "analyse/input/error.h"
#include "analyse/trace/phase_name.h"
#include "facts/trace_rows.h"
#include "render/compare/baseline_parts.h"

/* More names than this are one each of their families: "step #" for "step 1", "step 2", ... */
enum { PHASE_NAMES = 100 };

/* Of the phases of one name those that a gate may be about: the highest by each metric. */
struct kept_phase {
	const char *name;
	size_t length;
	size_t order; /* as the trace has them: equals stay in it */
	const struct trace_phase *highest[METRIC_IDS];
};

/* What is not known is no more than nothing. */
static uint64_t height(const struct trace_phase *phase, enum metric_id metric)
{
	uint64_t value = metric_of_phase(phase, metric);

	return value == TRACE_NONE ? 0 : value;
}

static int compare_phase_names(const struct kept_phase *x, const struct kept_phase *y)
{
	size_t length = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->name, y->name, length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_phase(const void *a, const void *b)
{
	const struct kept_phase *x = a;
	const struct kept_phase *y = b;
	int order = compare_phase_names(x, y);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Sorts, and puts the phases of one name together. */
static size_t join_phases(struct kept_phase *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), by_phase);
	for (size_t i = 0; i < count; i++) {
		struct kept_phase *to = kept ? &list[kept - 1] : NULL;

		if (!to || compare_phase_names(to, &list[i])) {
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

static void keep_phase(struct trace_phase *to, const char *name, const struct trace_phase *of)
{
	to->name = name;
	to->end = 0;
	to->allocated = of->allocated;
	to->reserved = of->reserved;
}

int kept_phases(struct trace *to, struct arena *arena, const struct trace *trace)
{
	struct kept_phase *list = calloc(trace->phases_n + 1, sizeof(*list));
	size_t count = 0;
	bool error = false;

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *of = &trace->phases[i];

		if (!of->name)
			continue;
		list[count] = (struct kept_phase){ of->name, strlen(of->name), i, { NULL } };
		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++)
			list[count].highest[metric] = of;
		count++;
	}
	count = join_phases(list, count);
	if (count > PHASE_NAMES) {
		for (size_t i = 0; i < count; i++) {
			char family[PHASE_FAMILY];

			list[i].length = phase_family(family, sizeof(family), list[i].name);
			list[i].name = arena_text(arena, family, list[i].length);
			error |= !list[i].name;
		}
		if (error) {
			free(list);
			return err("no memory left");
		}
		count = join_phases(list, count);
	}
	to->phases = rows_make(arena, ROWS_phase, METRIC_IDS * count);
	for (size_t i = 0; to->phases && i < count; i++) {
		const char *name = arena_text(arena, list[i].name, list[i].length);

		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++) {
			if (!stands_already(&list[i], metric))
				keep_phase(&to->phases[to->phases_n++], name,
					   list[i].highest[metric]);
		}
	}
	free(list);
	return to->phases ? 0 : err("no memory left");
}
