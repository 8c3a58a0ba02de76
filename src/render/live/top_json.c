/* Processes as they are now, as the document memtrace-top/1 (include/memtrace/top.schema.json). */
#include <math.h>

#include "base/guest/clock.h"
#include "base/mem/arena.h"
#include "base/text/out.h"
#include "facts/trace_model.h"
#include "render/document/document.h"
#include "render/emit/emit.h"
#include "render/live/top.h"

struct scope_row {
	struct live_view_scope of;
	uint64_t cached;
	const struct live_view_scope *used; /* NULL: no sample was taken */
};

struct line_row {
	struct live_view_line of;
	uint64_t estimated;
	uint64_t lines; /* 1: the sum over those that are left out counts them */
};

struct range_row {
	const char *name, *domain;
	uint64_t thread, start, end;
};

struct ranges_row {
	bool complete;
	struct emit_rows open, ended;
};

struct process_row {
	int pid;
	const char *rank, *command, *spool, *state, *stopped;
	bool events_on, one_moment;
	uint64_t sample, uptime, events, dropped, allocated, ooms;
	double events_rate, bytes_rate;
	struct emit_rows scopes[SCOPE_SPACE + 1], lines;
	struct ranges_row ranges;
};

struct top_document {
	const char *schema;
	uint64_t time;
	struct emit_rows processes;
};

/* --- columns --- */

static const struct emit_column sum_columns[] = {
	EMIT_MEMBER("now_bytes", BYTES, struct spool_sum, now),
	EMIT_MEMBER("peak_bytes", BYTES, struct spool_sum, peak),
	EMIT_MEMBER("peak_t", TIME, struct spool_sum, peak_t),
	EMIT_END,
};

static const struct emit_column used_columns[] = {
	{ .kind = EMIT_INLINED, .at = offsetof(struct live_view_scope, used), .of = sum_columns },
	EMIT_MEMBER("source", TEXT, struct live_view_scope, source),
	EMIT_MEMBER("rounding_bytes", CHANGE, struct live_view_scope, rounding),
	EMIT_MEMBER("named_bytes", CHANGE, struct live_view_scope, named),
	EMIT_MEMBER("residual_bytes", CHANGE, struct live_view_scope, residual),
	EMIT_END,
};

static const struct emit_column count_columns[] = {
	EMIT_MEMBER("allocations", COUNT, struct scope_row, of.allocations),
	EMIT_MEMBER("frees", COUNT, struct scope_row, of.frees),
	EMIT_MEMBER("allocations_rate", RATE, struct scope_row, of.rate),
	EMIT_END,
};

#define ALLOCATED(key) EMIT_NESTED(key, OBJECT, struct scope_row, of.allocated, sum_columns)
#define RESERVED EMIT_NESTED("reserved", OBJECT, struct scope_row, of.reserved, sum_columns)
#define COUNTS                                            \
	{                                                 \
		.kind = EMIT_INLINED, .of = count_columns \
	}

static const struct emit_column device_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct scope_row, of.device),
	EMIT_MEMBER("name", TEXT, struct scope_row, of.name),
	EMIT_MEMBER("total_bytes", BYTES, struct scope_row, of.total),
	ALLOCATED("\n   allocated"),
	RESERVED,
	EMIT_MEMBER("cached_bytes", BYTES, struct scope_row, cached),
	EMIT_NESTED("used", POINTED, struct scope_row, used, used_columns),
	COUNTS,
	EMIT_MEMBER("ooms", COUNT, struct scope_row, of.ooms),
	EMIT_MEMBER("retries", COUNT, struct scope_row, of.retries),
	EMIT_END,
};

static const struct emit_column pool_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct scope_row, of.device),
	EMIT_MEMBER("pool", TEXT, struct scope_row, of.name),
	ALLOCATED("allocated"),
	RESERVED,
	COUNTS,
	EMIT_END,
};

static const struct emit_column owner_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct scope_row, of.device),
	EMIT_MEMBER("owner", TEXT, struct scope_row, of.name),
	ALLOCATED("allocated"),
	RESERVED,
	COUNTS,
	EMIT_END,
};

static const struct emit_column space_columns[] = {
	EMIT_MEMBER("space", TEXT, struct scope_row, of.name),
	ALLOCATED("allocated"),
	COUNTS,
	EMIT_END,
};

static const struct emit_column line_columns[] = {
	EMIT_MEMBER("line", TEXT, struct line_row, of.name),
	EMIT_MEMBER("device", DEVICE, struct line_row, of.device),
	EMIT_MEMBER("space", TEXT, struct line_row, of.space),
	EMIT_MEMBER("bytes", BYTES, struct line_row, of.bytes),
	EMIT_MEMBER("count", COUNT, struct line_row, of.count),
	EMIT_MEMBER("estimated_bytes", BYTES, struct line_row, estimated),
	EMIT_MEMBER("allocated_bytes", BYTES, struct line_row, of.allocated),
	EMIT_MEMBER("allocated_rate", RATE, struct line_row, of.rate),
	EMIT_END,
};

static const struct emit_column left_out_columns[] = {
	EMIT_MEMBER("count", COUNT, struct line_row, lines),
	EMIT_MEMBER("bytes", BYTES, struct line_row, of.holds),
	EMIT_END,
};

static const struct emit_column range_columns[] = {
	EMIT_MEMBER("name", TEXT, struct range_row, name),
	EMIT_MEMBER("domain", TEXT, struct range_row, domain),
	EMIT_MEMBER("thread", NUMBER, struct range_row, thread),
	EMIT_MEMBER("start", TIME, struct range_row, start),
	EMIT_MEMBER("end", TIME, struct range_row, end),
	EMIT_END,
};

static const struct emit_column ranges_columns[] = {
	EMIT_MEMBER("complete", TRUTH, struct ranges_row, complete),
	EMIT_LIST("open", "\n   ", struct ranges_row, open, range_columns),
	EMIT_LIST("ended", "\n   ", struct ranges_row, ended, range_columns),
	EMIT_END,
};

#define SCOPES(key, scope, columns) \
	EMIT_LIST("\n  " key, "\n   ", struct process_row, scopes[SCOPE_##scope], columns)

static const struct emit_column process_columns[] = {
	EMIT_MEMBER("pid", INTEGER, struct process_row, pid),
	EMIT_MEMBER("rank", TEXT, struct process_row, rank),
	EMIT_MEMBER("command", TEXT, struct process_row, command),
	EMIT_MEMBER("spool", TEXT, struct process_row, spool),
	EMIT_MEMBER("\n  state", TEXT, struct process_row, state),
	EMIT_MEMBER("stopped", TEXT, struct process_row, stopped),
	EMIT_MEMBER("events_on", TRUTH, struct process_row, events_on),
	EMIT_MEMBER("sample_bytes", BYTES, struct process_row, sample),
	EMIT_MEMBER("uptime_ns", TIME, struct process_row, uptime),
	EMIT_MEMBER("one_moment", TRUTH, struct process_row, one_moment),
	EMIT_MEMBER("\n  events", COUNT, struct process_row, events),
	EMIT_MEMBER("events_dropped", COUNT, struct process_row, dropped),
	EMIT_MEMBER("events_rate", RATE, struct process_row, events_rate),
	EMIT_MEMBER("allocated_bytes", BYTES, struct process_row, allocated),
	EMIT_MEMBER("allocated_rate", RATE, struct process_row, bytes_rate),
	EMIT_MEMBER("ooms", COUNT, struct process_row, ooms),
	SCOPES("devices", DEVICE, device_columns),
	SCOPES("pools", POOL, pool_columns),
	SCOPES("owners", OWNER, owner_columns),
	SCOPES("spaces", SPACE, space_columns),
	EMIT_LIST("\n  lines", "\n   ", struct process_row, lines, line_columns),
	EMIT_NESTED("\n  lines_left_out", OTHER, struct process_row, lines, left_out_columns),
	EMIT_NESTED("\n  ranges", OBJECT, struct process_row, ranges, ranges_columns),
	EMIT_END,
};

static const struct emit_column document_columns[] = {
	EMIT_MEMBER("schema", TEXT, struct top_document, schema),
	EMIT_MEMBER("time_ns", TIME, struct top_document, time),
	EMIT_LIST("processes", "\n ", struct top_document, processes, process_columns),
	EMIT_END,
};

/* --- rows; where there is no memory for some, these are not there --- */

static uint64_t known_value(uint64_t value)
{
	return value ? value : TRACE_NONE;
}

/* Of a first look no rate is known. */
static double rate(const struct look *look, double value)
{
	return look->seconds > 0 ? value : NAN;
}

static struct emit_rows scopes(const struct look *look, enum scope_kind kind, struct arena *arena)
{
	struct scope_row *list = arena_alloc(arena, (look->scopes_n + 1) * sizeof(*list));
	size_t count = 0;

	for (const struct live_view_scope *scope = NULL;
	     list && (scope = live_view_next(look, kind, scope));) {
		struct scope_row *row = &list[count++];

		*row = (struct scope_row){ *scope, live_view_cached(scope),
					   scope->samples ? scope : NULL };
		row->of.total = known_value(scope->total);
		row->of.rate = rate(look, scope->rate);
	}
	return EMIT_ROWS_OF(list, count);
}

static struct emit_rows lines(const struct look *look, size_t most, struct arena *arena)
{
	const struct live_view_lines *all = &look->lines;
	struct line_row *list = arena_alloc(arena, (all->sorted_n + 1) * sizeof(*list));
	size_t count = 0;

	for (; list && count < all->sorted_n; count++) {
		const struct live_view_line *line = all->sorted[count];

		list[count] =
			(struct line_row){ *line, all->sampled ? line->holds : TRACE_NONE, 1 };
		list[count].of.rate = rate(look, line->rate);
	}
	return EMIT_SOME_OF(list, count, most);
}

static struct emit_rows ranges(const struct spool *spool, const struct live_view_range *of,
			       size_t most, struct arena *arena)
{
	struct range_row *list = arena_alloc(arena, (most + 1) * sizeof(*list));
	size_t count = 0;

	for (; list && count < most; count++) {
		const struct live_view_range *range = &of[count];

		list[count] = (struct range_row){
			.name = range->name ? spool_text(spool, range->name) : NULL,
			.domain = range->domain ? spool_text(spool, range->domain) : NULL,
			.thread = range->thread,
			.start = range->start,
			.end = known_value(range->end),
		};
	}
	return EMIT_ROWS_OF(list, count);
}

static void fill_process(struct process_row *row, const struct look *look, size_t most,
			 struct arena *arena)
{
	const struct spool *spool = &look->follow.spool;

	*row = (struct process_row){
		.pid = look->pid,
		.rank = look->rank,
		.command = look->command,
		.spool = spool->path,
		.state = look->ended ? "ended" : "running",
		.stopped = document_stop_text(look->stop),
		.events_on = look->events_on,
		.one_moment = !look->follow.torn,
		.sample = known_value(look->sample),
		.uptime = look->uptime,
		.events = look->events,
		.dropped = look->dropped,
		.allocated = look->lines.allocated,
		.ooms = look->ooms,
		.events_rate = rate(look, look->events_rate),
		.bytes_rate = rate(look, look->bytes_rate),
		.lines = lines(look, most, arena),
		.ranges = { !look->ranges.late,
			    ranges(spool, look->ranges.open, look->ranges.open_n, arena),
			    ranges(spool, look->ranges.ended, look->ranges.ended_n, arena) },
	};
	for (enum scope_kind kind = 0; kind <= SCOPE_SPACE; kind++)
		row->scopes[kind] = scopes(look, kind, arena);
}

void top_json(const struct top *top, struct out *out)
{
	struct arena arena = { 0 };
	struct process_row *list = arena_alloc(&arena, (top->looks_n + 1) * sizeof(*list));
	struct top_document document = { "memtrace-top/1", clock_realtime(),
					 EMIT_ROWS_OF(list, list ? top->looks_n : 0) };

	for (size_t i = 0; i < document.processes.count; i++)
		fill_process(&list[i], top->looks[i], top->lines, &arena);
	emit_json(out, document_columns, &document);
	out_char(out, '\n');
	arena_clear(&arena);
}
