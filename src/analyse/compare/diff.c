#include "analyse/compare/diff.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"

const struct run *diff_base(const struct diff *diff)
{
	return diff->base.count ? &diff->base.runs[diff->base.middle] : NULL;
}

const struct run *diff_head(const struct diff *diff)
{
	return &diff->head.runs[diff->head.middle];
}

/* --- the median run, and sums over all runs --- */

int64_t diff_peak(const struct run *run)
{
	int64_t peak = 0;

	foreach (row, run->rows) {
		if (row->dimension == DIMENSION_DEVICE)
			peak += row->values[COLUMN_ALLOCATED];
	}
	return peak;
}

static void sum_up(struct arena *arena, struct diff_side *side, int device)
{
	int64_t *peaks = need(arena, side->count * sizeof(*peaks));
	int64_t middle;

	for (size_t i = 0; i < side->count; i++) {
		peaks[i] = diff_peak(&side->runs[i]);
		side->ooms += trace_ooms(&side->runs[i].trace, device);
	}
	median_of(peaks, side->count);
	middle = peaks[(side->count - 1) / 2]; /* the lower of the middle two if `count` is even */
	while (diff_peak(&side->runs[side->middle]) != middle)
		side->middle++;
}

/* --- rows --- */

static int64_t spread_of(const struct diff_side *side, const struct diff_row *row,
			 enum column column)
{
	int64_t low = INT64_MAX;
	int64_t high = INT64_MIN;

	foreach (run, side->runs, side->count) {
		const struct run_row *found = run_find(run, row->dimension, row->group, row->name);
		int64_t value = found ? found->values[column] : 0;

		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	return side->count ? high - low : 0;
}

static void measure_noise(const struct diff *diff, struct diff_row *row)
{
	for (enum column column = 0; column < COLUMNS; column++) {
		int64_t base = spread_of(&diff->base, row, column);
		int64_t head = spread_of(&diff->head, row, column);

		row->noise[column] = base > head ? base : head;
	}
}

static void join_row(struct diff *diff, const struct run_row *base, const struct run_row *head)
{
	const struct run_row *any = head ? head : base;
	struct diff_row *row = &diff->rows[diff->rows_n++];

	*row = (struct diff_row){ .dimension = any->dimension,
				  .name = any->name,
				  .group = any->group,
				  .file = any->file,
				  .line = any->line,
				  .base_line = base ? base->line : 0,
				  .base_lifetime = base ? base->lifetime : TRACE_NONE,
				  .lifetime = head ? head->lifetime : TRACE_NONE };
	if (base)
		memcpy(row->base, base->values, sizeof(row->base));
	if (head)
		memcpy(row->head, head->values, sizeof(row->head));
	if (!diff->pairs_n && (diff->base.count > 1 || diff->head.count > 1))
		measure_noise(diff, row);
}

static void join_rows(struct diff *diff)
{
	const struct run *base = diff_base(diff);
	const struct run *head = diff_head(diff);

	diff->rows = NEED_ROOM(&diff->arena, diff->rows, base->rows_n + head->rows_n);
	for (enum dimension dimension = 0; dimension < DIMENSIONS; dimension++) {
		diff->first[dimension] = diff->rows_n;
		foreach (row, head->rows) {
			if (row->dimension == (uint8_t)dimension)
				join_row(diff, run_find(base, dimension, row->group, row->name),
					 row);
		}
		foreach (row, base->rows) {
			if (row->dimension == (uint8_t)dimension &&
			    !run_find(head, dimension, row->group, row->name))
				join_row(diff, row, NULL);
		}
	}
	diff->first[DIMENSIONS] = diff->rows_n;
}

/* --- the same peak at another time --- */

static bool same_height(const struct diff *diff, enum column column)
{
	foreach (row, DIFF_ROWS(diff, DIMENSION_DEVICE)) {
		if (row->base[column] != row->head[column])
			return false;
	}
	return true;
}

/*
 * A run may reach the same peak several times, and chance decides which of these times is recorded.
 * So if no device's peak changed, the head's sites get the base's values at the peak.
 */
static void settle_moment(struct diff *diff, enum column column)
{
	if (!same_height(diff, column))
		return;
	foreach (row, DIFF_ROWS(diff, DIMENSION_SITE)) {
		if (strcmp(row->group, "device") != 0 || row->base[column] == row->head[column])
			continue;
		diff->moved = true;
		row->head[column] = row->base[column];
	}
}

/* --- queries --- */

int64_t diff_change(const struct diff_row *row, enum column column)
{
	int64_t change = row->head[column] - row->base[column];
	int64_t size = change < 0 ? -change : change;

	return size > row->noise[column] ? change : 0;
}

void diff_totals(const struct diff *diff, const char *group, enum column column, int64_t *base,
		 int64_t *head)
{
	*base = *head = 0;
	foreach (row, DIFF_ROWS(diff, DIMENSION_SITE)) {
		if (!group || strcmp(row->group, group) != 0)
			continue;
		*base += row->base[column];
		*head += row->head[column];
	}
}

static int by_change(const void *a, const void *b, void *of)
{
	const enum column *column = of;
	const struct diff_row *x = *(const struct diff_row *const *)a;
	const struct diff_row *y = *(const struct diff_row *const *)b;
	int64_t p = diff_change(x, *column);
	int64_t q = diff_change(y, *column);
	int order;

	if ((x->why == WHY_MOMENT) != (y->why == WHY_MOMENT))
		return x->why == WHY_MOMENT ? 1 : -1;
	if ((p < 0 ? -p : p) != (q < 0 ? -q : q))
		return (p < 0 ? -p : p) > (q < 0 ? -q : q) ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->group, y->group);
}

unsigned diff_columns(const struct diff *diff, enum dimension dimension)
{
	/* A site's memory on one of several devices is known only at peaks. */
	if (dimension == DIMENSION_SITE && diff->device != NO_DEVICE &&
	    (diff_head(diff)->trace.summary.devices_n > 1 ||
	     diff_base(diff)->trace.summary.devices_n > 1))
		return 1u << COLUMN_ALLOCATED | 1u << COLUMN_RESERVED;
	return run_dimensions[dimension].columns;
}

static bool is_changed(const struct diff_row *row, const char *group, enum column column)
{
	return (!group || !strcmp(row->group, group)) && diff_change(row, column);
}

bool diff_any(const struct diff *diff, enum dimension dimension, const char *group,
	      enum column column)
{
	if (!(diff_columns(diff, dimension) & 1u << column))
		return false;
	foreach (row, DIFF_ROWS(diff, dimension)) {
		if (is_changed(row, group, column))
			return true;
	}
	return false;
}

size_t diff_changed(struct diff *diff, enum dimension dimension, const char *group,
		    enum column column, const struct diff_row ***list)
{
	size_t count = 0;

	*list = need(&diff->arena, (diff->first[dimension + 1] - diff->first[dimension] + 1) *
					   sizeof(const void *));
	foreach (row, DIFF_ROWS(diff, dimension)) {
		if (is_changed(row, group, column))
			(*list)[count++] = row;
	}
	if (count)
		qsort_r(*list, count, sizeof(const void *), by_change, &column);
	return count;
}

int diff_make(struct diff *diff, const struct diff_side *base, const struct diff_side *head,
	      int device)
{
	int error;

	*diff = (struct diff){ .base = *base, .head = *head, .device = device };
	sum_up(&diff->arena, &diff->head, device);
	if (!diff->base.count)
		return 0;
	sum_up(&diff->arena, &diff->base, device);
	error = diff_pair_ranks(diff);
	if (error)
		return error;
	join_rows(diff);
	diff_compare_keys(diff);
	settle_moment(diff, COLUMN_ALLOCATED);
	settle_moment(diff, COLUMN_RESERVED);
	diff_find_why(diff);
	return 0;
}

int diff_judge(struct diff *diff, struct gate *const *gates, size_t count)
{
	diff->gates = NEED_ROOM(&diff->arena, diff->gates, count);
	for (size_t i = 0; i < count; i++) {
		bool each = diff->pairs_n || (!diff->base.count && diff->head.count > 1);
		int error = each ? diff_judge_ranks(diff, gates[i], &diff->gates[i])
				 : gate_judge(gates[i], diff->base.runs, diff->base.count,
					      diff->head.runs, diff->head.count, &diff->gates[i]);

		if (error)
			return error;
		diff->gates_n++;
	}
	return 0;
}

size_t diff_broken(const struct diff *diff)
{
	size_t broken = 0;

	foreach (gate, diff->gates)
		broken += gate->broken;
	return broken;
}

void diff_clear(struct diff *diff)
{
	foreach (run, diff->base.runs, diff->base.count)
		run_close(run);
	for (size_t i = 0; i < diff->head.count; i++)
		run_close(&diff->head.runs[i]);
	free(diff->base.runs);
	free(diff->head.runs);
	free(diff->unlike);
	arena_clear(&diff->arena);
	*diff = (struct diff){ .rows = NULL };
}
