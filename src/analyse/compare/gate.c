/* Gates and budgets: the verdict. */
#include "analyse/compare/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/median.h"
#include "analyse/input/error.h"
#include "base/text/text.h"

struct side {
	struct figures *figures; /* by run */
	size_t count;
	int64_t *values; /* room for one of each run */
};

static void side_clear(struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		figures_clear(&side->figures[i]);
	free(side->figures);
	free(side->values);
}

/* A run without the place counts as nothing there. */
static int64_t side_median(struct side *side, const char *place, int64_t *spread)
{
	int64_t median;

	for (size_t i = 0; i < side->count; i++) {
		const struct figure *figure = figures_find(&side->figures[i], place);

		side->values[i] = figure ? figure->value : 0;
	}
	median = median_of(side->values, side->count);
	if (side->count && side->values[side->count - 1] - side->values[0] > *spread)
		*spread = side->values[side->count - 1] - side->values[0];
	return median;
}

static int side_read(struct side *side, const struct run *runs, size_t count,
		     const struct metric_query *query)
{
	side->figures = calloc(count + 1, sizeof(*side->figures));
	side->values = calloc(count + 1, sizeof(*side->values));
	if (!side->figures || !side->values)
		return err("no memory left");
	side->count = count;
	for (size_t i = 0; i < count; i++) {
		if (figures_read(&side->figures[i], &runs[i], query))
			return -EINVAL;
	}
	return 0;
}

static bool breaks(const struct gate *gate, const struct gate_result *result)
{
	int64_t growth = result->head - result->base;

	if (gate->kind == GATE_MOST)
		return result->head > (int64_t)gate->amount;
	if (growth <= 0 || growth <= result->noise)
		return false;
	if (gate->amount != TRACE_NONE && growth <= (int64_t)gate->amount)
		return false;
	return gate->percent < 0 || (double)growth * 100 > gate->percent * (double)result->base;
}

bool gate_worse(const struct gate_result *a, const struct gate_result *b)
{
	if (!b->gate || a->broken != b->broken)
		return !b->gate || a->broken;
	return a->head - a->base > b->head - b->base;
}

static void judge_places(const struct gate *gate, struct side *base, struct side *head,
			 const struct figures *places, struct gate_result *result)
{
	for (size_t i = 0; i < places->count; i++) {
		struct gate_result one = { .gate = gate };

		text_copy(one.place, sizeof(one.place), places->list[i].place);
		one.base = side_median(base, one.place, &one.noise);
		one.head = side_median(head, one.place, &one.noise);
		one.broken = breaks(gate, &one);
		if (gate_worse(&one, result))
			*result = one;
	}
}

/* Of a figure that one side does not tell at all nobody knows how it changed. */
static int told_by_both(const struct gate *gate, const struct side *base, const struct side *head,
			const struct run *of_base, const struct run *of_head)
{
	const struct side *const sides[] = { base, head };

	for (size_t i = 0; i < NARROWINGS; i++) {
		if (gate->query.by[i])
			return 0; /* what is named may be new, or gone */
	}
	for (size_t i = 0; i < 2; i++) {
		size_t told = 0;

		for (size_t k = 0; k < sides[i]->count; k++)
			told += sides[i]->figures[k].count;
		if (sides[i]->count && !told && sides[1 - i]->count)
			return err("%s: the gate %s cannot be judged: the trace does not tell it",
				   (i ? of_head : of_base)->trace.path, gate->text);
	}
	return 0;
}

static int matches_nothing(const struct gate *gate, const struct run *run)
{
	if (gate->query.by[NARROWING_CATEGORY] && run->categories_from == RUN_UNTOLD)
		return err("%s: the gate %s matches nothing: the trace tells no categories, which "
			   "take events",
			   run->trace.path, gate->text);
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (gate->query.by[i])
			return err("%s: the gate %s matches nothing: there is no such %s",
				   run->trace.path, gate->text, narrowing_rows[i].key);
	}
	if (!run->trace.summary.devices_n)
		return err("%s: the gate %s matches nothing: the trace has no device",
			   run->trace.path, gate->text);
	return err("%s: the gate %s matches nothing: the trace does not tell it", run->trace.path,
		   gate->text);
}

int gate_judge(const struct gate *gate, const struct run *base, size_t base_n,
	       const struct run *head, size_t head_n, struct gate_result *result)
{
	struct side sides[2] = { { NULL, 0, NULL }, { NULL, 0, NULL } };
	int error = side_read(&sides[0], base, base_n, &gate->query);

	*result = (struct gate_result){ .gate = NULL };
	if (!error)
		error = side_read(&sides[1], head, head_n, &gate->query);
	if (!error)
		error = told_by_both(gate, &sides[0], &sides[1], base, head);
	for (size_t i = 0; !error && i < 2; i++) {
		for (size_t k = 0; k < sides[i].count; k++)
			judge_places(gate, &sides[0], &sides[1], &sides[i].figures[k], result);
	}
	side_clear(&sides[0]);
	side_clear(&sides[1]);
	if (!error && !result->gate)
		error = matches_nothing(gate, head);
	return error;
}
