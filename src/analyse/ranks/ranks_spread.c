/* Finds the spread of the ranks' peaks, and whether it is worth a report. */
#include "analyse/input/grow.h"
#include "analyse/ranks/ranks.h"
#include "base/mem/sort.h"

/* Smaller differences between peaks are not reported; `memtrace diff --gate` has the same
 * limits. */
enum { WORTH_PERCENT = 2, WORTH_BYTES = 1 << 20 };

static void find_spread(struct merge *merge, enum trace_metric metric)
{
	struct merge_spread *spread = &merge->spreads[metric];
	int64_t *values = NEED_ROOM(&merge->arena, values, merge->order_n);

	for (size_t i = 0; i < merge->order_n; i++) {
		size_t at = merge->order[i];
		uint64_t peak = merge->ranks[at].peaks[metric];

		if (peak == TRACE_NONE || merge->ranks[at].rank == TRACE_NONE)
			continue;
		if (!spread->count || peak < spread->lowest) {
			spread->lowest = peak;
			spread->lowest_rank = at;
		}
		if (!spread->count || peak > spread->highest) {
			spread->highest = peak;
			spread->highest_rank = at;
		}
		values[spread->count++] = (int64_t)peak;
	}
	spread->median = (uint64_t)median_of(values, spread->count);
}

void merge_find_spreads(struct merge *merge)
{
	for (enum trace_metric metric = 0; metric < TRACE_METRICS; metric++)
		find_spread(merge, metric);
}

enum trace_metric merge_uneven(const struct merge *merge)
{
	for (enum trace_metric metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *spread = &merge->spreads[metric];
		uint64_t above = spread->highest - spread->median;

		if (spread->count > 1 && above > WORTH_BYTES &&
		    (double)above * 100 > (double)spread->median * WORTH_PERCENT)
			return metric;
	}
	return TRACE_METRICS;
}
