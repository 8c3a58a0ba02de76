/* Finds the sites that hold most of the value, or of the growth, that broke a gate. */
#include <string.h>

#include "analyse/categories/glob.h"
#include "analyse/compare/diff.h"

/* True if the gate covers the site of that name and memory kind. */
static bool is_asked(const struct gate_result *result, const char *group, const char *name)
{
	const struct metric_query *query = &result->gate->query;
	const char *site = query->by[NARROWING_SITE];

	return pattern_fits(metric_space(query, result->run), group) &&
	       (!site || site_matches(site, name));
}

/* Inserts the site into the list if it is one of those with the largest amounts, largest first. */
static void keep_site(struct gate_site *list, size_t *count, struct gate_site site)
{
	size_t at = *count;

	while (at && list[at - 1].amount < site.amount)
		at--;
	if (at == GATE_SITES || site.amount <= 0)
		return;
	*count += *count < GATE_SITES;
	memmove(&list[at + 1], &list[at], (*count - at - 1) * sizeof(*list));
	list[at] = site;
}

static size_t sites_that_grew(const struct diff *diff, const struct gate_result *result,
			      enum column column, struct gate_site *list)
{
	const char *const *by = result->gate->query.by;
	size_t count = 0;

	/* With these filters, it is not known how much of the value each site holds. */
	if (by[NARROWING_POOL] || by[NARROWING_OWNER] || by[NARROWING_PHASE] ||
	    by[NARROWING_CATEGORY])
		return 0;
	foreach (row, DIFF_ROWS(diff, DIMENSION_SITE)) {
		if (is_asked(result, row->group, row->name) && row->why != WHY_MOMENT)
			keep_site(list, &count,
				  (struct gate_site){ row->name, row->file, row->line,
						      diff_change(row, column) });
	}
	return count;
}

static size_t sites_that_hold(const struct gate_result *result, enum column column,
			      struct gate_site *list)
{
	bool summed = !strcmp(metric_space(&result->gate->query, result->run), "device");
	int64_t left = result->head;
	size_t count = 0;

	foreach (row, result->run->rows) {
		if (row->dimension != DIMENSION_SITE || !is_asked(result, row->group, row->name))
			continue;
		run_count(&left, -row->values[column]);
		keep_site(
			list, &count,
			(struct gate_site){ row->name, row->file, row->line, row->values[column] });
	}
	/* Sites explain the value only if their sum is the value, which may be that of a pool or of
	 * one device. Outside device memory, the sum need not be the value. */
	return left && summed ? 0 : count;
}

size_t diff_gate_sites(const struct diff *diff, const struct gate_result *result,
		       struct gate_site *list)
{
	enum column column = metric_rows[result->gate->query.metric].column;

	if (!result->broken || column == COLUMN_NONE)
		return 0;
	return result->gate->kind == GATE_MOST ? sites_that_hold(result, column, list)
					       : sites_that_grew(diff, result, column, list);
}
