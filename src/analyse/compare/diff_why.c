/* Why a site holds more or less: told from its columns, and from those of the others. */
#include "analyse/compare/diff.h"

enum {
	LONGER_PERCENT =
		150, /* a lifetime is told by a clock: only much more of it says anything */
	OFTEN_PERCENT = 105,
};

/*
 * Sums alone do not tell whether blocks became larger or larger ones came to them. That a site
 * allocates more often is true of both, so larger is said of those that allocate about as often.
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

/* How the longest life of a site changed: 1 much longer, -1 much shorter, 0 neither. */
static int life_of(const struct diff *diff, const struct diff_row *row, bool *known)
{
	const struct run_row *was =
		run_find(diff_base(diff), DIMENSION_SITE, row->group, row->name);
	const struct run_row *is = run_find(diff_head(diff), DIMENSION_SITE, row->group, row->name);

	/* A baseline has no times. */
	*known = was && is && was->lifetime != TRACE_NONE && is->lifetime != TRACE_NONE;
	if (!*known)
		return 0;
	if (is->lifetime / LONGER_PERCENT > was->lifetime / 100)
		return 1;
	return was->lifetime / LONGER_PERCENT > is->lifetime / 100 ? -1 : 0;
}

/* What rose and fell at the peak, but for sites whose fall or rise contradicts what they do. */
struct tide {
	int64_t rises, falls;
};

static void add_to_tide(struct tide *tide, const struct diff_row *row)
{
	int64_t change = row->head[COLUMN_ALLOCATED] - row->base[COLUMN_ALLOCATED];

	switch ((enum diff_why)row->why) {
	case WHY_NEW:
	case WHY_MORE:
	case WHY_LARGER:
	case WHY_KEPT:
	case WHY_LONGER:
		tide->rises += change > 0 ? change : 0;
		break;
	case WHY_GONE:
	case WHY_FEWER:
	case WHY_SMALLER:
	case WHY_FREED:
	case WHY_SOONER:
		tide->falls -= change < 0 ? change : 0;
		break;
	default:
		break;
	}
}

static bool is_cause(const struct diff *diff, const struct diff_row *row, const struct tide *tide)
{
	int64_t along = row->why == WHY_LONGER ? tide->rises : tide->falls;
	int64_t against = row->why == WHY_LONGER ? tide->falls : tide->rises;
	bool known;
	int life = life_of(diff, row, &known);

	if (!against)
		return true;
	if (along < against)
		return false;
	if (known)
		return life == (row->why == WHY_LONGER ? 1 : -1);
	return along / 2 >= against;
}

/*
 * Who allocates more and yet holds less has it freed sooner: what is computed again, say. And what
 * is kept at exit says nothing about a peak that fell.
 */
static void against_the_peak(struct diff_row *row)
{
	int64_t change = row->head[COLUMN_ALLOCATED] - row->base[COLUMN_ALLOCATED];

	if (change < 0 && (row->why == WHY_MORE || row->why == WHY_LARGER || row->why == WHY_KEPT))
		row->why = WHY_SOONER;
	if (change > 0 &&
	    (row->why == WHY_FEWER || row->why == WHY_SMALLER || row->why == WHY_FREED))
		row->why = WHY_LONGER;
}

/*
 * When some sites hold more at the peak, and others that do what they did hold less, the peak has
 * moved to where the former stand: a new one, or one that always stood there. Who does what it did
 * is no cause then, but for one that goes with the peak and lives much longer than it did, or much
 * shorter; where nobody tells lifetimes, but for the side that prevails.
 */
void diff_find_why(struct diff *diff)
{
	struct tide tide = { 0, 0 };

	for (size_t i = diff->first[DIMENSION_SITE]; i < diff->first[DIMENSION_SITE + 1]; i++) {
		struct diff_row *row = &diff->rows[i];

		row->why = (uint8_t)why(row);
		add_to_tide(&tide, row);
	}
	for (size_t i = diff->first[DIMENSION_SITE]; i < diff->first[DIMENSION_SITE + 1]; i++) {
		struct diff_row *row = &diff->rows[i];

		if ((row->why == WHY_LONGER || row->why == WHY_SOONER) &&
		    !is_cause(diff, row, &tide))
			row->why = WHY_MOMENT;
	}
	for (size_t i = diff->first[DIMENSION_SITE]; i < diff->first[DIMENSION_SITE + 1]; i++)
		against_the_peak(&diff->rows[i]);
}

enum diff_why diff_why_of(const struct diff_row *row, enum column column)
{
	int64_t change = diff_change(row, column);

	if (column == COLUMN_ALLOCATED || !change)
		return row->why;
	switch ((enum diff_why)row->why) {
	case WHY_NEW:
	case WHY_MORE:
	case WHY_LARGER:
		return change > 0 ? row->why : WHY_FREED;
	case WHY_GONE:
	case WHY_FEWER:
	case WHY_SMALLER:
		return change < 0 ? row->why : WHY_KEPT;
	default:
		return change > 0 ? WHY_KEPT : WHY_FREED;
	}
}
