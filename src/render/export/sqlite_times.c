/* Rows of phases, of each device's share of them, of actions and their spans. */
#ifdef HAVE_SQLITE

#include "render/export/sqlite_times.h"

#include "analyse/trace/trace.h"
#include "render/export/sqlite_file.h"

static void insert_sums(struct sqlite_file *file, const struct trace_phase_sums *sums)
{
	sqlite_u64(file, sums->start_bytes);
	sqlite_u64(file, sums->end_bytes);
	sqlite_u64(file, sums->peak_bytes);
}

static void put_count(struct sqlite_file *file, const struct trace_phase_count *count)
{
	sqlite_u64(file, count->bytes);
	sqlite_u64(file, count->count);
}

static void put_device(struct sqlite_file *file, uint64_t phase,
		       const struct trace_phase_device *device)
{
	sqlite_row(file, TABLE_phase_devices);
	sqlite_u64(file, phase);
	sqlite_device(file, device->device);
	insert_sums(file, &device->allocated);
	insert_sums(file, &device->reserved);
	put_count(file, &device->born);
	put_count(file, &device->freed);
	put_count(file, &device->outliving);
	sqlite_row_end(file);
}

void sqlite_phases(struct sqlite_file *file, const struct trace *trace)
{
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];

		sqlite_row(file, TABLE_phases);
		sqlite_u64(file, i);
		sqlite_text(file, phase->name);
		sqlite_text(file, phase->domain);
		sqlite_u64(file, phase->thread);
		sqlite_u64(file, phase->start);
		sqlite_u64(file, phase->end);
		insert_sums(file, &phase->allocated);
		insert_sums(file, &phase->reserved);
		put_count(file, &phase->born);
		put_count(file, &phase->freed);
		put_count(file, &phase->outliving);
		sqlite_text(file, phase->category);
		sqlite_text(file, phase->color);
		sqlite_text(file, phase->payload);
		sqlite_row_end(file);
		for (size_t k = 0; k < phase->devices_n; k++)
			put_device(file, i, &phase->devices[k]);
	}
}

static void put_span(struct sqlite_file *file, const struct trace_span *span)
{
	bool call = span->device < 0;

	sqlite_row(file, TABLE_spans);
	sqlite_u64(file, span->t);
	sqlite_u64(file, span->ns);
	sqlite_u64(file, span->action);
	sqlite_device(file, span->device);
	sqlite_u64(file, call ? TRACE_NONE : span->stream);
	sqlite_u64(file, call ? span->thread : TRACE_NONE);
	sqlite_u64(file, span->bytes ? span->bytes : TRACE_NONE);
	sqlite_row_end(file);
}

void sqlite_spans(struct sqlite_file *file, const struct trace *trace)
{
	for (size_t i = 0; i < trace->actions_n; i++) {
		const struct trace_action *action = &trace->actions[i];

		sqlite_row(file, TABLE_actions);
		sqlite_u64(file, i);
		sqlite_text(file, action->kind);
		sqlite_text(file, action->name);
		sqlite_u64(file, action->count);
		sqlite_u64(file, action->total_ns);
		sqlite_u64(file, action->max_ns);
		sqlite_u64(file, action->bytes);
		sqlite_row_end(file);
	}
	for (size_t i = 0; i < trace->spans_n; i++)
		put_span(file, &trace->spans[i]);
}

#else

/* ISO C wants something in a file. */
typedef int sqlite_is_missing;

#endif
