/* Processes as they are now, as the document memtrace-top/1 (include/memtrace/top.schema.json). */
#include "base/guest/clock.h"
#include "base/text/out.h"
#include "render/document/document.h"
#include "render/emit/members.h"
#include "render/live/top.h"

static void integer(struct out *out, const char *key, int64_t value)
{
	out_text(out, key);
	out_i64(out, value);
}

static void truth(struct out *out, const char *key, bool value)
{
	out_text(out, key);
	out_text(out, value ? "true" : "false");
}

/* A number a second; null at a first look. */
static void rate(struct out *out, const char *key, const struct look *look, double value)
{
	out_text(out, key);
	if (look->seconds > 0)
		out_format(out, "%.3f", value);
	else
		out_text(out, "null");
}

static void sum(struct out *out, const char *key, const struct look_sum *value)
{
	out_text(out, key);
	member_number(out, "{\"now_bytes\":", value->now);
	member_number(out, ",\"peak_bytes\":", value->peak);
	member_number(out, ",\"peak_t\":", value->peak_t);
	out_char(out, '}');
}

static void used(struct out *out, const struct look_scope *scope)
{
	out_text(out, ",\"used\":");
	if (!scope->samples) {
		out_text(out, "null");
		return;
	}
	member_number(out, "{\"now_bytes\":", scope->used.now);
	member_number(out, ",\"peak_bytes\":", scope->used.peak);
	member_number(out, ",\"peak_t\":", scope->used.peak_t);
	member_text(out, ",\"source\":", scope->source);
	integer(out, ",\"rounding_bytes\":", scope->rounding);
	integer(out, ",\"named_bytes\":", scope->named);
	integer(out, ",\"residual_bytes\":", scope->residual);
	out_char(out, '}');
}

static void counts(struct out *out, const struct look *look, const struct look_scope *scope)
{
	member_number(out, ",\"allocations\":", scope->allocations);
	member_number(out, ",\"frees\":", scope->frees);
	rate(out, ",\"allocations_rate\":", look, scope->rate);
}

static void device(struct out *out, const struct look *look, const struct look_scope *scope)
{
	integer(out, "{\"device\":", scope->device);
	member_text(out, ",\"name\":", scope->name);
	out_text(out, ",\"total_bytes\":");
	if (scope->total)
		out_u64(out, scope->total);
	else
		out_text(out, "null");
	sum(out, ",\n   \"allocated\":", &scope->allocated);
	sum(out, ",\"reserved\":", &scope->reserved);
	member_number(out, ",\"cached_bytes\":", look_cached(scope));
	used(out, scope);
	counts(out, look, scope);
	member_number(out, ",\"ooms\":", scope->ooms);
	member_number(out, ",\"retries\":", scope->retries);
	out_char(out, '}');
}

static void part(struct out *out, const struct look *look, const struct look_scope *scope)
{
	if (scope->device == NO_DEVICE)
		out_text(out, "{\"device\":null");
	else
		integer(out, "{\"device\":", scope->device);
	member_text(out, scope->kind == SCOPE_POOL ? ",\"pool\":" : ",\"owner\":", scope->name);
	sum(out, ",\"allocated\":", &scope->allocated);
	sum(out, ",\"reserved\":", &scope->reserved);
	counts(out, look, scope);
	out_char(out, '}');
}

static void space(struct out *out, const struct look *look, const struct look_scope *scope)
{
	member_text(out, "{\"space\":", scope->name);
	sum(out, ",\"allocated\":", &scope->allocated);
	counts(out, look, scope);
	out_char(out, '}');
}

typedef void write_scope(struct out *out, const struct look *look, const struct look_scope *scope);

static void scopes(struct out *out, const struct look *look, const char *key, enum scope_kind kind,
		   write_scope *write)
{
	const struct look_scope *scope = NULL;
	const char *comma = "\n   ";

	out_text(out, key);
	while ((scope = look_next(look, kind, scope))) {
		out_text(out, comma);
		write(out, look, scope);
		comma = ",\n   ";
	}
	out_char(out, ']');
}

static void lines(struct out *out, const struct look *look, unsigned most)
{
	const struct look_lines *all = &look->lines;
	uint64_t bytes = 0;

	out_text(out, ",\n  \"lines\":[");
	for (uint32_t i = 0; i < all->sorted_n; i++) {
		const struct look_line *line = all->sorted[i];

		if (i >= most) {
			bytes += line->holds;
			continue;
		}
		member_text(out, i ? ",\n   {\"line\":" : "\n   {\"line\":", line->name);
		if (line->device == NO_DEVICE)
			out_text(out, ",\"device\":null");
		else
			integer(out, ",\"device\":", line->device);
		member_text(out, ",\"space\":", line->space);
		member_number(out, ",\"bytes\":", line->bytes);
		member_number(out, ",\"count\":", line->count);
		out_text(out, ",\"estimated_bytes\":");
		if (all->sampled)
			out_u64(out, line->holds);
		else
			out_text(out, "null");
		member_number(out, ",\"allocated_bytes\":", line->allocated);
		rate(out, ",\"allocated_rate\":", look, line->rate);
		out_char(out, '}');
	}
	member_number(out, "],\n  \"lines_left_out\":{\"count\":",
		      all->sorted_n > most ? all->sorted_n - most : 0);
	member_number(out, ",\"bytes\":", bytes);
	out_char(out, '}');
}

static void range(struct out *out, const struct look *look, const struct look_range *range)
{
	const struct spool *spool = &look->follow.spool;

	member_text(out, "{\"name\":", range->name ? spool_text(spool, range->name) : NULL);
	member_text(out, ",\"domain\":", range->domain ? spool_text(spool, range->domain) : NULL);
	member_number(out, ",\"thread\":", range->thread);
	member_number(out, ",\"start\":", range->start);
	if (range->end)
		member_number(out, ",\"end\":", range->end);
	else
		out_text(out, ",\"end\":null");
	out_char(out, '}');
}

static void ranges(struct out *out, const struct look *look)
{
	const struct look_ranges *all = &look->ranges;

	truth(out, ",\n  \"ranges\":{\"complete\":", !all->late);
	out_text(out, ",\"open\":[");
	for (uint32_t i = 0; i < all->open_n; i++) {
		out_text(out, i ? ",\n   " : "\n   ");
		range(out, look, &all->open[i]);
	}
	out_text(out, "],\"ended\":[");
	for (uint32_t i = 0; i < all->ended_n; i++) {
		out_text(out, i ? ",\n   " : "\n   ");
		range(out, look, &all->ended[i]);
	}
	out_text(out, "]}");
}

static void process(struct out *out, const struct look *look, unsigned most)
{
	integer(out, "{\"pid\":", look->pid);
	member_text(out, ",\"rank\":", look->rank);
	member_text(out, ",\"command\":", look->command);
	member_text(out, ",\"spool\":", look->follow.spool.path);
	member_text(out, ",\n  \"state\":", look->ended ? "ended" : "running");
	member_text(out, ",\"stopped\":", document_stop_text(look->stop));
	truth(out, ",\"events_on\":", look->events_on);
	out_text(out, ",\"sample_bytes\":");
	if (look->sample)
		out_u64(out, look->sample);
	else
		out_text(out, "null");
	member_number(out, ",\"uptime_ns\":", look->uptime);
	truth(out, ",\"one_moment\":", !look->follow.torn);
	member_number(out, ",\n  \"events\":", look->events);
	member_number(out, ",\"events_dropped\":", look->dropped);
	rate(out, ",\"events_rate\":", look, look->events_rate);
	member_number(out, ",\"allocated_bytes\":", look->lines.allocated);
	rate(out, ",\"allocated_rate\":", look, look->bytes_rate);
	member_number(out, ",\"ooms\":", look->ooms);
	scopes(out, look, ",\n  \"devices\":[", SCOPE_DEVICE, device);
	scopes(out, look, ",\n  \"pools\":[", SCOPE_POOL, part);
	scopes(out, look, ",\n  \"owners\":[", SCOPE_OWNER, part);
	scopes(out, look, ",\n  \"spaces\":[", SCOPE_SPACE, space);
	lines(out, look, most);
	ranges(out, look);
	out_char(out, '}');
}

void top_json(const struct top *top, struct out *out)
{
	member_number(out, "{\"schema\":\"memtrace-top/1\",\"time_ns\":", clock_realtime());
	out_text(out, ",\"processes\":[");
	for (size_t i = 0; i < top->looks_n; i++) {
		out_text(out, i ? ",\n " : "\n ");
		process(out, top->looks[i], top->lines);
	}
	out_text(out, "]}\n");
}
