/* Finds the reason why a site holds more or less: from its own numbers and those of other sites. */
#include "analyse/compare/diff.h"

enum {
	LONGER_PERCENT = 150, /* lifetimes vary from run to run, so only a much longer one counts */
	OFTEN_PERCENT = 105,
};

static const int8_t ways[WHYS] = {
#define WHY(id, way, word, verb) way,
#include "analyse/compare/diff_why.def"
};

/*
 * Totals do not show whether blocks became larger or whether larger blocks were added. So if the
 * count and the mean size changed in the same direction, size is the reason only if the count is
 * about the same as before. Else the reason is whichever of the two changed by the larger factor.
 */
static enum diff_why often_or_large(const struct diff_row *row)
{
	double base = (double)row->base[COLUMN_COUNT];
	double head = (double)row->head[COLUMN_COUNT];
	double base_size = (double)row->base[COLUMN_TOTAL] / base;
	double head_size = (double)row->head[COLUMN_TOTAL] / head;
	double often = head > base ? head / base : base / head;
	double large = head_size > base_size ? head_size / base_size : base_size / head_size;

	if (row->base[COLUMN_TOTAL] <= 0 || row->head[COLUMN_TOTAL] <= 0 || often >= large ||
	    ((head > base) == (head_size > base_size) && often * 100 >= OFTEN_PERCENT))
		return head > base ? WHY_MORE : head < base ? WHY_FEWER : WHY_SAME;
	return head_size > base_size ? WHY_LARGER : WHY_SMALLER;
}

static enum diff_why why(const struct diff_row *row)
{
	int64_t peak = row->head[COLUMN_ALLOCATED] - row->base[COLUMN_ALLOCATED];
	int64_t kept = row->head[COLUMN_LIVE] - row->base[COLUMN_LIVE];

	if (row->base[COLUMN_COUNT] <= 0 && row->head[COLUMN_COUNT] > 0)
		return WHY_NEW;
	if (row->head[COLUMN_COUNT] <= 0 && row->base[COLUMN_COUNT] > 0)
		return WHY_GONE;
	if (row->head[COLUMN_COUNT] != row->base[COLUMN_COUNT] ||
	    row->head[COLUMN_TOTAL] != row->base[COLUMN_TOTAL])
		return row->head[COLUMN_COUNT] > 0 ? often_or_large(row) : WHY_SAME;
	if (kept)
		return kept > 0 ? WHY_KEPT : WHY_FREED;
	return peak > 0 ? WHY_LONGER : peak < 0 ? WHY_SOONER : WHY_SAME;
}

/* Bytes that sites gained and lost at the peak, except changes that contradict a site's `why`. */
struct tide {
	int64_t rises, falls;
};

static int64_t peak_change(const struct diff_row *row)
{
	return row->head[COLUMN_ALLOCATED] - row->base[COLUMN_ALLOCATED];
}

static void add_to_tide(struct tide *tide, const struct diff_row *row)
{
	int64_t change = peak_change(row);

	if (ways[row->why] > 0 && change > 0)
		tide->rises += change;
	if (ways[row->why] < 0 && change < 0)
		tide->falls -= change;
}

static bool is_much_longer(uint64_t life, uint64_t than)
{
	return life / LONGER_PERCENT > than / 100;
}

/* True if longer or shorter lifetimes explain the site's change at the peak. */
static bool is_cause(const struct diff_row *row, const struct tide *tide)
{
	bool longer = row->why == WHY_LONGER;
	int64_t along = longer ? tide->rises : tide->falls;
	int64_t against = longer ? tide->falls : tide->rises;

	if (!against || along < against)
		return !against;
	/* Without lifetimes (baseline, or nothing freed), `along` must be twice `against`. */
	if (row->base_lifetime == TRACE_NONE || row->lifetime == TRACE_NONE)
		return along / 2 >= against;
	return longer ? is_much_longer(row->lifetime, row->base_lifetime)
		      : is_much_longer(row->base_lifetime, row->lifetime);
}

/*
 * A site with unchanged allocations may hold more or less at the peak only because the peak moved
 * to another time (WHY_MOMENT). Its lifetimes are the reason only if no site changed in the other
 * direction, or if at least as many bytes changed in this site's direction as in the other and the
 * site's longest lifetime grew to above LONGER_PERCENT (or shrank that much). Where no lifetimes
 * are known, at least twice as many bytes must have changed in the site's direction.
 *
 * If a site allocates more but holds less at the peak, its memory is freed sooner (it may be
 * computed again instead of kept). Memory that is kept at exit does not explain a lower peak.
 */
void diff_find_why(struct diff *diff)
{
	struct tide tide = { 0, 0 };

	foreach (row, DIFF_ROWS(diff, DIMENSION_SITE)) {
		row->why = (uint8_t)why(row);
		add_to_tide(&tide, row);
	}
	foreach (row, DIFF_ROWS(diff, DIMENSION_SITE)) {
		int64_t change = peak_change(row);

		if (row->why == WHY_LONGER || row->why == WHY_SOONER) {
			if (!is_cause(row, &tide))
				row->why = WHY_MOMENT;
		} else if (row->why != WHY_NEW && row->why != WHY_GONE) {
			if (change < 0 && ways[row->why] > 0)
				row->why = WHY_SOONER;
			if (change > 0 && ways[row->why] < 0)
				row->why = WHY_LONGER;
		}
	}
}

enum diff_why diff_why_of(const struct diff_row *row, enum column column)
{
	int64_t change = diff_change(row, column);
	bool allocates = row->why >= WHY_NEW && row->why <= WHY_SMALLER;

	if (column == COLUMN_ALLOCATED || !change ||
	    (allocates && (change > 0) == (ways[row->why] > 0)))
		return row->why;
	return change > 0 ? WHY_KEPT : WHY_FREED;
}
