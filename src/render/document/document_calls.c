/* The document's counted calls: the rows of all shards of threads added up by name. */
#include "base/mem/sort.h"
#include "render/document/document_sections.h"

enum { NAMES = 512 }; /* more than there are rows in the tables of calls */

/* The longest first; names lie in the spool in the order of their ids. */
static int by_time(const void *a, const void *b)
{
	const struct trace_call *x = a;
	const struct trace_call *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->api < y->api ? -1 : x->api > y->api;
}

/* Until all are there, times are in ticks. */
static void add_row(struct trace *trace, const struct spool_call *row, const char *name)
{
	uint64_t max = atomic_load(&row->max);
	struct trace_call *call = trace->calls;

	while (call < trace->calls + trace->calls_n && call->api != name)
		call++;
	if (call == trace->calls + NAMES)
		return;
	if (call == trace->calls + trace->calls_n)
		trace->calls[trace->calls_n++].api = name;
	call->calls += atomic_load(&row->calls);
	call->failed += atomic_load(&row->failed);
	call->total_ns += atomic_load(&row->ticks);
	if (max > call->max_ns)
		call->max_ns = max;
}

/* tick_ns has 32 bits behind the point. */
static uint64_t in_ns(uint64_t ticks, uint64_t tick_ns)
{
	return (uint64_t)((double)ticks * ((double)tick_ns / 4294967296.0));
}

void document_calls(struct recording *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t rows = spool_count(spool, SPOOL_CALL);
	struct trace *trace = recording->trace;

	trace->calls = recording_room(recording, NAMES, sizeof(*trace->calls));
	for (uint64_t i = 0; trace->calls && i < rows; i++) {
		const struct spool_call *row = spool_at(spool, SPOOL_CALL, i);
		const char *name = spool_text(spool, row->name);

		add_row(trace, row, name ? name : "?");
	}
	sort_rows(trace->calls, trace->calls_n, sizeof(*trace->calls), by_time);
	for (size_t i = 0; i < trace->calls_n; i++) {
		struct trace_call *call = &trace->calls[i];

		call->total_ns = in_ns(call->total_ns, spool->header->tick_ns);
		call->max_ns = in_ns(call->max_ns, spool->header->tick_ns);
	}
}
