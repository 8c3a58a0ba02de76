/* Groups stacks into the rows of a report. */
#include "render/report/report_parts.h"

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
