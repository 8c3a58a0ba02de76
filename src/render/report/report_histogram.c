/* The report: how large allocations are. */
#include <string.h>

#include "analyse/trace/trace.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"

enum { BAR = 20 };

struct sizes {
	uint64_t from, least; /* of the bucket; 0 stands in the document for 1 */
	uint64_t count, bytes, live_count, live_bytes;
	uint64_t most; /* of all counts */
};

static const char *show_bar(char *to, const void *row)
{
	const struct sizes *sizes = row;
	unsigned length =
		(unsigned)((double)sizes->count / (double)sizes->most * (BAR - 1) + 0.999);

	memset(to, '#', length);
	to[length] = '\0';
	return to;
}

static const struct emit_column size_columns[] = {
	EMIT_MEMBER("from_bytes", BYTES, struct sizes, least),
	EMIT_CELL("size from", -12, BYTES, struct sizes, from),
	EMIT_COLUMN("count", "times", 11, COUNT, struct sizes, count),
	EMIT_COLUMN("bytes", "bytes", 12, BYTES, struct sizes, bytes),
	EMIT_COLUMN("live_count", "live", 9, COUNT, struct sizes, live_count),
	EMIT_COLUMN("live_bytes", "bytes", 12, BYTES, struct sizes, live_bytes),
	{ .heading = "", .gap = 2, .kind = EMIT_COUNT, .show = show_bar },
	EMIT_END,
};

/* What is live at the end is known where no event is missing. */
static size_t find_sizes(const struct report *report, struct sizes *sizes)
{
	const struct event_scan_bucket *buckets = report->study->survey.buckets;
	bool whole = report_has_all_events(report);
	uint64_t most = 0;
	size_t count = 0;

	for (unsigned i = 0; i < SURVEY_BUCKETS; i++)
		most = buckets[i].count > most ? buckets[i].count : most;
	for (unsigned i = 0; i < SURVEY_BUCKETS; i++) {
		if (!buckets[i].count)
			continue;
		sizes[count++] = (struct sizes){
			1ull << i,
			i ? 1ull << i : 0,
			buckets[i].count,
			buckets[i].bytes,
			whole ? buckets[i].live_count : TRACE_NONE,
			whole ? buckets[i].live_bytes : TRACE_NONE,
			most,
		};
	}
	return count;
}

int report_tell_histogram(const struct report *report)
{
	struct sizes sizes[SURVEY_BUCKETS];
	struct emit_rows rows = { .size = 0 };
	const char *heading;

	if (report->study->surveyed)
		rows = EMIT_ROWS_OF(sizes, find_sizes(report, sizes));
	else if (!report->json)
		return report_say_unread(report, "Sizes");
	if (report->json)
		return report_tell_rows(report, "\nhistogram", size_columns, rows, NULL);
	if (report_has_all_events(report))
		heading = rows.count ? "Sizes of allocations, and what of them is live at the end"
				     : "Sizes: there were no allocations";
	else
		heading = rows.count ? "Sizes of those allocations whose events are left"
				     : "Sizes: no event of an allocation is left";
	report_table(report, size_columns, &rows, heading);
	return 0;
}
