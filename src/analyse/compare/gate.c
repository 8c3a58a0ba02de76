/* Gates and budgets: the verdict. */
#include "analyse/compare/gate.h"

#include <errno.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"

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

/* The median, and their spread where it is larger than what is known of it. */
static int64_t middle_of(int64_t *values, size_t count, int64_t *spread)
{
	int64_t median = median_of(values, count);

	if (count && values[count - 1] - values[0] > *spread)
		*spread = values[count - 1] - values[0];
	return median;
}

/* Of a figure that one side does not tell at all nobody knows how it changed. */
static int told_by_both(const struct gate *gate, const struct run *base, const struct run *head,
			size_t told_by_base, size_t told_by_head)
{
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (gate->query.by[i])
			return 0; /* what is named may be new, or gone */
	}
	if (told_by_base && told_by_head)
		return 0;
	return err("%s: the gate %s cannot be judged: the trace does not tell it",
		   (told_by_base ? head : base)->trace.path, gate->text);
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
	struct figures figures = { .runs = base_n + head_n };
	size_t told_by_base = 0;
	int error = 0;

	*result = (struct gate_result){ .gate = NULL };
	for (size_t i = 0; !error && i < base_n + head_n; i++) {
		if (i == base_n)
			told_by_base = figures.told;
		error = figures_add(&figures, i < base_n ? &base[i] : &head[i - base_n],
				    &gate->query);
	}
	if (!error && base_n)
		error = told_by_both(gate, base, head, told_by_base, figures.told - told_by_base);
	for (size_t i = 0; !error && i < figures.count; i++) {
		struct gate_result one = { .gate = gate };
		int64_t *values = figures.list[i].values;

		text_copy(one.place, sizeof(one.place), figures.list[i].place);
		one.base = middle_of(values, base_n, &one.noise);
		one.head = middle_of(values + base_n, head_n, &one.noise);
		one.broken = breaks(gate, &one);
		if (gate_worse(&one, result))
			*result = one;
	}
	figures_clear(&figures);
	if (!error && !result->gate)
		error = matches_nothing(gate, head);
	return error;
}
