/* The document's counted calls: the rows of all shards of threads added up by name. */
#include <string.h>

#include "base/mem/sort.h"
#include "render/document/document_sections.h"

enum { NAMES = 512 }; /* more than there are rows in the tables of calls */

struct sum {
	uint32_t name;
	uint64_t calls, failed, ticks, max;
};

/* The longest first. */
static int by_ticks(const void *a, const void *b)
{
	const struct sum *x = a;
	const struct sum *y = b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static size_t add_row(struct sum *sums, size_t count, const struct spool_call *row)
{
	uint64_t max = atomic_load(&row->max);
	size_t i = 0;

	while (i < count && sums[i].name != row->name)
		i++;
	if (i == NAMES)
		return count;
	if (i == count)
		sums[count++] = (struct sum){ .name = row->name };
	sums[i].calls += atomic_load(&row->calls);
	sums[i].failed += atomic_load(&row->failed);
	sums[i].ticks += atomic_load(&row->ticks);
	if (max > sums[i].max)
		sums[i].max = max;
	return count;
}

/* tick_ns has 32 bits behind the point. */
static uint64_t in_ns(uint64_t ticks, uint64_t tick_ns)
{
	return (uint64_t)((double)ticks * ((double)tick_ns / 4294967296.0));
}

static bool fill_call(struct filler *filler, uint64_t i, void *item)
{
	const struct sum *sum = (const struct sum *)filler->from + i;
	uint64_t tick_ns = filler->spool->header->tick_ns;
	const char *name = spool_text(filler->spool, sum->name);

	*(struct trace_call *)item = (struct trace_call){
		.api = name ? name : "?",
		.calls = sum->calls,
		.failed = sum->failed,
		.total_ns = in_ns(sum->ticks, tick_ns),
		.max_ns = in_ns(sum->max, tick_ns),
	};
	return true;
}

void document_calls(struct filler *filler)
{
	const struct spool *spool = filler->spool;
	uint64_t rows = spool_count(spool, SPOOL_CALL);
	struct sum sums[NAMES];
	size_t count = 0;

	for (uint64_t i = 0; i < rows; i++)
		count = add_row(sums, count, spool_at(spool, SPOOL_CALL, i));
	sort_rows(sums, count, sizeof(sums[0]), by_ticks);
	document_list(filler, "calls", count, fill_call, sums);
}
