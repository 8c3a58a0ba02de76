/* The sections of --at: the memory that was live at that time, by site; the free memory between
 * blocks in each pool; and the lines whose blocks keep partly free segments reserved. */
#include <stdio.h>

#include "render/report/report_parts.h"

enum {
	SEGMENTS = 5, /* segments shown unless --full is given */
	PINS = 3,     /* source lines shown for each segment unless --full is given */
};

/* --- holders --- */

/* The totals at the time of --at, summed up from the events, of the selected device or of all. No
 * rows if the trace itself has the live memory of that time. */
static struct emit_rows find_devices(const struct report *report)
{
	const struct report_selection *selection = report->selection;
	const struct replay *replay = &selection->replay;
	int wanted = selection->wish.device;
	struct emit_rows rows = EMIT_NONE_OF(struct replay_device, SIZE_MAX);

	for (size_t i = 0; !selection->told && i < replay->devices_n; i++) {
		if (wanted == NO_DEVICE || wanted == replay->devices[i].device)
			report_add(report, &rows, &replay->devices[i]);
	}
	return rows;
}

/* Writes "Device 0: 68.00 MiB allocated of 72.00 MiB reserved." and the sites of these bytes. */
static void say_moment(const struct report *report)
{
	const struct trace_peak *peak = report->trace->peaks;
	const struct emit_rows rows = find_devices(report);

	foreach (row, ROWS_IN(const struct replay_device, rows))
		report_say(report, SAID_LINE, "Device %d: %s allocated of %s reserved.",
			   row->device, SAY_BYTES(row->at_allocated), SAY_BYTES(row->at_reserved));
	if (!peak->bytes)
		return;
	report_say(report, SAID_HEADING, "Live %s, by %s", report->selection->what,
		   trace_by_title((enum trace_by)report->trace->by));
	report_composition(report, peak, "[not known: allocated before or in missing events]");
	if (report->trace->by != TRACE_BY_CATEGORY)
		report_category_table(report, peak);
}

struct moment_told {
	const char *what;
	uint64_t t, seq;
	struct emit_rows devices;
	struct report_composed live;
};

static const struct emit_column moment_device_members[] = {
	EMIT_FIELD(INTEGER, struct replay_device, device),
	EMIT_MEMBER("allocated_bytes", BYTES, struct replay_device, at_allocated),
	EMIT_MEMBER("reserved_bytes", BYTES, struct replay_device, at_reserved),
	EMIT_END,
};

static const struct emit_column moment_members[] = {
	EMIT_FIELD(TEXT, struct moment_told, what),
	EMIT_FIELD(TIME, struct moment_told, t),
	EMIT_FIELD(NUMBER, struct moment_told, seq),
	EMIT_LIST("devices", "", struct moment_told, devices, moment_device_members),
	EMIT_NESTED("\nlive", OBJECT, struct moment_told, live, report_composed_members),
	EMIT_END,
};

void report_tell_moment(const struct report *report)
{
	const struct replay *replay = &report->selection->replay;
	struct moment_told told = {
		.what = report->selection->what,
		.t = replay->any ? replay->t : TRACE_NONE,
		.seq = replay->any && !report->selection->told ? replay->seq : TRACE_NONE,
	};

	say_moment(report);
	told.live = report_compose(report, report->trace->peaks);
	told.devices = find_devices(report);
	report_member(report, "\nmoment", moment_members, &told);
}

/* --- segments --- */

struct segment_told {
	struct gaps_segment of;
	uint64_t free;
	struct emit_rows pins;
};

static const struct emit_column pin_members[] = {
	EMIT_MEMBER("line", TEXT, struct report_group, name),
	EMIT_FIELD(BYTES, struct report_group, bytes),
	EMIT_FIELD(COUNT, struct report_group, count),
	EMIT_END,
};

static const struct emit_column segment_columns[] = {
	EMIT_COLUMN("ptr", "segment", -20, ADDRESS, struct segment_told, of.ptr),
	EMIT_COLUMN("size", "size", 12, BYTES, struct segment_told, of.size),
	EMIT_COLUMN("used_bytes", "used", 12, BYTES, struct segment_told, of.used),
	EMIT_COLUMN("free_bytes", "free", 12, BYTES, struct segment_told, free),
	EMIT_COLUMN("largest_gap_bytes", "largest gap", 13, BYTES, struct segment_told, of.largest),
	EMIT_OF(POSITION, struct segment_told, gaps),
	EMIT_COLUMN("blocks", "blocks", 8, COUNT, struct segment_told, of.blocks_n),
	EMIT_LIST("held_open_by", "", struct segment_told, pins, pin_members),
	EMIT_MEMBER("other_lines", HIDDEN, struct segment_told, pins),
	EMIT_END,
};

/* Returns the lines whose live blocks keep the segment reserved, those with most bytes first. */
static struct emit_rows find_pins(const struct report *report, const struct gaps_segment *segment)
{
	const struct gaps *gaps = &report->selection->gaps;
	struct emit_rows shares = EMIT_NONE_OF(struct report_share, SIZE_MAX);
	struct emit_rows pins;
	struct report_group *list;

	for (size_t i = 0; i < segment->blocks_n; i++) {
		const struct block *block = &gaps->blocks[segment->first + i];

		report_add(report, &shares,
			   &(struct report_share){ trace_line(report->trace, block->stack),
						   block->size, 1, block->stack });
	}
	pins = report_group(report, &shares);
	if (!report->json)
		pins.shown = report->options->full || pins.count <= PINS ? pins.count : PINS;
	list = (struct report_group *)pins.rows;
	for (size_t i = 0; i < pins.count && i < pins.shown; i++)
		list[i].name = report_line(report, list[i].shares->stack);
	return pins;
}

/* Returns the segments of a pool: in text only those with both blocks and free memory; in JSON
 * those up to the limit, and the number of all. */
static struct emit_rows find_segments(const struct report *report, const struct gaps_pool *pool)
{
	const struct gaps *gaps = &report->selection->gaps;
	bool few = !report->json && !report->options->full && pool->segments_n > SEGMENTS;
	size_t limit = few ? SEGMENTS : report->json ? report_limit(report) : pool->segments_n;
	struct emit_rows rows = EMIT_NONE_OF(struct segment_told, limit);

	for (size_t i = 0; i < gaps->segments_n && rows.count < limit; i++) {
		const struct gaps_segment *segment = &gaps->segments[i];
		bool kept = segment->blocks_n && segment->used < segment->size;

		if (segment->pool == (uint32_t)(pool - gaps->pools) && (report->json || kept))
			report_add(report, &rows,
				   &(struct segment_told){ *segment, segment->size - segment->used,
							   find_pins(report, segment) });
	}
	if (report->json) {
		rows.shown = rows.count;
		rows.count = pool->segments_n;
	}
	return rows;
}

static const char *show_pin(char *to, const void *row)
{
	const struct report_group *pin = row;

	snprintf(to, EMIT_CELL_MOST, "in %s: %s", SAY_MANY(pin->count, "block"), pin->name);
	return to;
}

static const struct emit_column pin_cells[] = {
	EMIT_CELL("", 11, BYTES, struct report_group, bytes, .flags = EMIT_DIM),
	EMIT_CELL("", 0, TEXT, struct report_group, name, .gap = 1, .flags = EMIT_DIM,
		  .show = show_pin),
	EMIT_END,
};

static void pins_below(const struct show *show, const void *row, const void *with)
{
	(void)with;
	emit_table(show, &(struct emit_table){ .columns = pin_cells,
					       .rows = &((const struct segment_told *)row)->pins,
					       .headless = true,
					       .indent = 8,
					       .more = "more lines" });
}

struct fact {
	const char *name, *note;
	uint64_t bytes;
};

static const struct emit_column fact_cells[] = {
	EMIT_CELL("", -28, TEXT, struct fact, name),
	EMIT_CELL("", 12, BYTES, struct fact, bytes),
	EMIT_CELL("", 0, TEXT, struct fact, note, .gap = 2, .flags = EMIT_DIM),
	EMIT_END,
};

/* --- pools --- */

struct gap_size {
	uint64_t from, bytes, count;
};

static const struct emit_column gap_size_members[] = {
	EMIT_MEMBER("from_bytes", BYTES, struct gap_size, from),
	EMIT_FIELD(BYTES, struct gap_size, bytes),
	EMIT_FIELD(COUNT, struct gap_size, count),
	EMIT_END,
};

struct pool_told {
	struct gaps_pool of;
	const char *name;
	uint64_t cached, limit;
	struct emit_rows sizes, segments;
};

static const struct emit_column gap_pool_members[] = {
	EMIT_OF(DEVICE, struct pool_told, device),
	EMIT_MEMBER("pool", TEXT, struct pool_told, name),
	EMIT_MEMBER("segments", COUNT, struct pool_told, of.segments_n),
	EMIT_MEMBER("reserved_bytes", BYTES, struct pool_told, of.reserved),
	EMIT_MEMBER("used_bytes", BYTES, struct pool_told, of.used),
	EMIT_MEMBER("cached_bytes", BYTES, struct pool_told, cached),
	EMIT_MEMBER("free_segments", COUNT, struct pool_told, of.whole_n),
	EMIT_MEMBER("free_segments_bytes", BYTES, struct pool_told, of.whole),
	EMIT_MEMBER("gaps", COUNT, struct pool_told, of.gaps_n),
	EMIT_MEMBER("gaps_bytes", BYTES, struct pool_told, of.gaps),
	EMIT_MEMBER("largest_gap_bytes", BYTES, struct pool_told, of.largest),
	EMIT_MEMBER("fragment_limit_bytes", BYTES, struct pool_told, limit),
	EMIT_MEMBER("fragments_bytes", BYTES, struct pool_told, of.fragments),
	EMIT_MEMBER("elsewhere", COUNT, struct pool_told, of.elsewhere_n),
	EMIT_MEMBER("elsewhere_bytes", BYTES, struct pool_told, of.elsewhere),
	EMIT_LIST("\n gaps_by_size", "", struct pool_told, sizes, gap_size_members),
	EMIT_LIST("\n rows", "\n  ", struct pool_told, segments, segment_columns),
	EMIT_MEMBER("other_segments", HIDDEN, struct pool_told, segments),
	EMIT_END,
};

static struct emit_rows sizes_of(const struct report *report, const struct gaps_pool *pool)
{
	struct emit_rows rows = EMIT_NONE_OF(struct gap_size, SIZE_MAX);

	for (unsigned i = 0; i < GAPS_SIZES; i++) {
		if (pool->by_size[i].count)
			report_add(report, &rows,
				   &(struct gap_size){ (uint64_t)1 << i, pool->by_size[i].bytes,
						       pool->by_size[i].count });
	}
	return rows;
}

static void say_facts(const struct report *report, const struct pool_told *told)
{
	const struct gaps_pool *pool = &told->of;
	const struct fact facts[] = {
		{ "empty segments",
		  report_format(report, "in %s that could be released",
				SAY_MANY(pool->whole_n, "segment")),
		  pool->whole },
		{ "gaps between blocks", SAY_MANY(pool->gaps_n, "gap"), pool->gaps },
		{ "  the largest gap", "", pool->largest },
		{ "  gaps smaller than 1 MiB",
		  report_format(report, "%s%% of free memory",
				SAY_COUNT(told->cached ? pool->fragments * 100 / told->cached : 0)),
		  pool->fragments },
		{ "blocks in no known segment", SAY_MANY(pool->elsewhere_n, "block"),
		  pool->elsewhere },
	};
	const struct emit_rows rows = EMIT_ROWS_OF(facts, pool->elsewhere_n ? 5 : 4);

	report_put(report,
		   (struct emit_table){ .columns = fact_cells, .rows = &rows, .headless = true });
}

static void say_pool(const struct report *report, const struct pool_told *told)
{
	const struct gaps_pool *pool = &told->of;
	uint64_t count = pool->segments_n ? pool->segments_n : pool->elsewhere_n;
	const char *what = pool->segments_n ? "segment" : "block";
	const char *of = pool->segments_n
				 ? report_format(report, "%s free of %s", SAY_BYTES(told->cached),
						 SAY_BYTES(pool->reserved))
				 : SAY_BYTES(pool->elsewhere);

	report_say(report, SAID_HEADING, "Pool %.60s on device %d: %s in %llu %s%s", told->name,
		   pool->device, of, (unsigned long long)count, what, count == 1 ? "" : "s");
	if (!pool->segments_n) {
		report_say(report, SAID_LINE,
			   "  The driver does not reveal where the pool's segments are, so the "
			   "gaps between its blocks are not known.");
		return;
	}
	say_facts(report, told);
	report_put(report, (struct emit_table){ .columns = segment_columns,
						.rows = &told->segments,
						.below = pins_below });
}

void report_tell_gaps(const struct report *report)
{
	const struct gaps *gaps = &report->selection->gaps;
	struct emit_rows rows = EMIT_NONE_OF(struct pool_told, SIZE_MAX);

	foreach (pool, gaps->pools) {
		const char *name = trace_text(report->trace, pool->pool);
		const struct pool_told told = {
			.of = *pool,
			.name = name ? name : "?",
			.cached = pool->reserved - pool->used,
			.limit = GAPS_FRAGMENT,
			.sizes = sizes_of(report, pool),
			.segments = find_segments(report, pool),
		};

		report_add(report, &rows, &told);
		say_pool(report, &told);
	}
	if (!gaps->pools) /* unknown, because events are missing: null in JSON */
		rows.size = 0;
	report_list(report, "\ngaps", gap_pool_members, &rows);
}
