/* Writes the memory of processes as JSON, memtrace-top/1 (include/memtrace/top.schema.json). */
#include "base/guest/clock.h"
#include "base/mem/arena.h"
#include "base/text/out.h"
#include "facts/trace_model.h"
#include "render/document/document.h"
#include "render/emit/emit.h"
#include "render/live/top.h"

struct process_row {
	const struct look *look;
	int pid;
	const char *rank, *command, *spool, *state, *stopped;
	bool one_moment, ranges_complete;
	struct emit_rows scopes[SCOPE_SPACE + 1], lines, open, ended;
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
	EMIT_FIELD(TIME, struct spool_sum, peak_t),
	EMIT_END,
};

/* now_bytes comes first: if it is null (never measured), the whole object becomes null. */
static const struct emit_column used_columns[] = {
	EMIT_MEMBER("now_bytes", BYTES, struct live_view_scope, row.sums[METRIC_USED].now),
	EMIT_MEMBER("peak_bytes", BYTES, struct live_view_scope, row.sums[METRIC_USED].peak),
	EMIT_MEMBER("peak_t", TIME, struct live_view_scope, row.sums[METRIC_USED].peak_t),
	EMIT_FIELD(TEXT, struct live_view_scope, source),
	EMIT_MEMBER("rounding_bytes", CHANGE, struct live_view_scope, row.rounding),
	EMIT_MEMBER("named_bytes", CHANGE, struct live_view_scope, row.named),
	EMIT_MEMBER("residual_bytes", CHANGE, struct live_view_scope, row.residual),
	EMIT_END,
};

static const struct emit_column count_columns[] = {
	EMIT_MEMBER("allocations", COUNT, struct live_view_scope, row.allocations),
	EMIT_MEMBER("frees", COUNT, struct live_view_scope, row.frees),
	EMIT_MEMBER("allocations_rate", RATE, struct live_view_scope, rate),
	EMIT_END,
};

#define SUM(key, metric) \
	EMIT_NESTED(key, OBJECT, struct live_view_scope, row.sums[METRIC_##metric], sum_columns)
#define COUNTS                                            \
	{                                                 \
		.kind = EMIT_INLINED, .of = count_columns \
	}

static const struct emit_column device_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct live_view_scope, row.device),
	EMIT_FIELD(TEXT, struct live_view_scope, name),
	EMIT_MEMBER("total_bytes", BYTES, struct live_view_scope, total),
	SUM("\n   allocated", ALLOCATED),
	SUM("reserved", RESERVED),
	EMIT_MEMBER("cached_bytes", BYTES, struct live_view_scope, cached),
	EMIT_NESTED("used", KNOWN, struct live_view_scope, row, used_columns),
	COUNTS,
	EMIT_MEMBER("ooms", COUNT, struct live_view_scope, row.ooms),
	EMIT_MEMBER("retries", COUNT, struct live_view_scope, row.retries),
	EMIT_END,
};

static const struct emit_column pool_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct live_view_scope, row.device),
	EMIT_MEMBER("pool", TEXT, struct live_view_scope, name),
	SUM("allocated", ALLOCATED),
	SUM("reserved", RESERVED),
	COUNTS,
	EMIT_END,
};

static const struct emit_column owner_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct live_view_scope, row.device),
	EMIT_MEMBER("owner", TEXT, struct live_view_scope, name),
	SUM("allocated", ALLOCATED),
	SUM("reserved", RESERVED),
	COUNTS,
	EMIT_END,
};

static const struct emit_column space_columns[] = {
	EMIT_MEMBER("space", TEXT, struct live_view_scope, name),
	SUM("allocated", ALLOCATED),
	COUNTS,
	EMIT_END,
};

static const struct emit_column line_columns[] = {
	EMIT_MEMBER("line", TEXT, struct live_view_line, name),
	EMIT_FIELD(DEVICE, struct live_view_line, device),
	EMIT_FIELD(TEXT, struct live_view_line, space),
	EMIT_FIELD(BYTES, struct live_view_line, bytes),
	EMIT_FIELD(COUNT, struct live_view_line, count),
	EMIT_MEMBER("estimated_bytes", BYTES, struct live_view_line, estimated),
	EMIT_MEMBER("allocated_bytes", BYTES, struct live_view_line, allocated),
	EMIT_MEMBER("allocated_rate", RATE, struct live_view_line, rate),
	EMIT_END,
};

static const struct emit_column held_columns[] = {
	EMIT_MEMBER(NULL, BYTES, struct live_view_line, holds),
	EMIT_END,
};

static const struct emit_column left_out_columns[] = {
	{ .key = "count", .kind = EMIT_HIDDEN },
	{ .key = "bytes", .kind = EMIT_REST, .of = held_columns },
	EMIT_END,
};

static const struct emit_column range_columns[] = {
	EMIT_FIELD(TEXT, struct live_view_range, name),
	EMIT_FIELD(TEXT, struct live_view_range, domain),
	EMIT_FIELD(NUMBER, struct live_view_range, thread),
	EMIT_FIELD(TIME, struct live_view_range, start),
	EMIT_FIELD(TIME, struct live_view_range, end),
	EMIT_END,
};

static const struct emit_column ranges_columns[] = {
	EMIT_MEMBER("complete", TRUTH, struct process_row, ranges_complete),
	EMIT_LIST("open", "\n   ", struct process_row, open, range_columns),
	EMIT_LIST("ended", "\n   ", struct process_row, ended, range_columns),
	EMIT_END,
};

static const struct emit_column time_columns[] = {
	EMIT_FIELD(TRUTH, struct look, events_on),
	EMIT_MEMBER("sample_bytes", BYTES, struct look, sample),
	EMIT_MEMBER("uptime_ns", TIME, struct look, uptime),
	EMIT_END,
};

static const struct emit_column figure_columns[] = {
	EMIT_MEMBER("\n  events", COUNT, struct look, events),
	EMIT_MEMBER("events_dropped", COUNT, struct look, dropped),
	EMIT_FIELD(RATE, struct look, events_rate),
	EMIT_MEMBER("allocated_bytes", BYTES, struct look, lines.allocated),
	EMIT_MEMBER("allocated_rate", RATE, struct look, bytes_rate),
	EMIT_FIELD(COUNT, struct look, ooms),
	EMIT_END,
};

#define OF_LOOK(columns)                              \
	{                                             \
		.kind = EMIT_POINTED, .of = (columns) \
	}
#define SCOPES(key, scope, columns) \
	EMIT_LIST("\n  " key, "\n   ", struct process_row, scopes[SCOPE_##scope], columns)

static const struct emit_column process_columns[] = {
	EMIT_FIELD(INTEGER, struct process_row, pid),
	EMIT_FIELD(TEXT, struct process_row, rank),
	EMIT_FIELD(TEXT, struct process_row, command),
	EMIT_FIELD(TEXT, struct process_row, spool),
	EMIT_MEMBER("\n  state", TEXT, struct process_row, state),
	EMIT_FIELD(TEXT, struct process_row, stopped),
	OF_LOOK(time_columns),
	EMIT_FIELD(TRUTH, struct process_row, one_moment),
	OF_LOOK(figure_columns),
	SCOPES("devices", DEVICE, device_columns),
	SCOPES("pools", POOL, pool_columns),
	SCOPES("owners", OWNER, owner_columns),
	SCOPES("spaces", SPACE, space_columns),
	EMIT_LIST("\n  lines", "\n   ", struct process_row, lines, line_columns),
	EMIT_NESTED("\n  lines_left_out", OBJECT, struct process_row, lines, left_out_columns),
	{ .key = "\n  ranges", .kind = EMIT_OBJECT, .of = ranges_columns },
	EMIT_END,
};

static const struct emit_column document_columns[] = {
	EMIT_FIELD(TEXT, struct top_document, schema),
	EMIT_MEMBER("time_ns", TIME, struct top_document, time),
	EMIT_LIST("processes", "\n ", struct top_document, processes, process_columns),
	EMIT_END,
};

static struct emit_rows scopes(const struct look *look, enum scope_kind kind)
{
	const struct live_view_scope *first = live_view_next(look, kind, NULL);
	size_t count = 0;

	for (const struct live_view_scope *scope = first; scope;
	     scope = live_view_next(look, kind, scope))
		count++;
	return EMIT_ROWS_OF(first, count);
}

static void fill_process(struct process_row *row, const struct look *look, size_t most)
{
	const struct look_ranges *ranges = &look->ranges;

	*row = (struct process_row){
		.look = look,
		.pid = look->pid,
		.rank = look->rank,
		.command = look->command,
		.spool = look->follow.spool.path,
		.state = look->running ? "running" : "ended",
		.stopped = document_stop_text(look->stop),
		.one_moment = !look->follow.torn,
		.ranges_complete = !ranges->late,
		.lines = EMIT_SOME_OF(look->lines.sorted, look->lines.sorted_n, most),
		.open = EMIT_ROWS_OF(ranges->open, ranges->open_n),
		.ended = EMIT_ROWS_OF(ranges->ended, ranges->ended_n),
	};
	for (enum scope_kind kind = 0; kind <= SCOPE_SPACE; kind++)
		row->scopes[kind] = scopes(look, kind);
}

void top_json(const struct top *top, struct out *out)
{
	struct arena arena = { 0 };
	struct process_row *list = arena_alloc(&arena, (top->looks_n + 1) * sizeof(*list));
	struct top_document document = { "memtrace-top/1", clock_realtime(),
					 EMIT_ROWS_OF(list, list ? top->looks_n : 0) };

	for (size_t i = 0; i < document.processes.count; i++)
		fill_process(&list[i], top->looks[i], top->lines);
	emit_json(out, document_columns, &document);
	out_char(out, '\n');
	arena_clear(&arena);
}
