/*
 * The report on a moment: where pools had free memory between blocks, and which lines' blocks keep
 * the segments it lies in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

enum {
	SEGMENTS = 5, /* shown, unless all are wanted */
	PINS = 3,     /* of a segment, likewise */
};

/* Blocks of one line that lie in one segment. */
struct pin {
	uint32_t line;
	uint64_t bytes, count;
	uint32_t stack; /* of the largest */
	const char *name;
};

static int by_line(const void *a, const void *b)
{
	const struct pin *x = a;
	const struct pin *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct pin *x = a;
	const struct pin *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return by_line(a, b);
}

/* What keeps a segment, most bytes first. NULL without memory. */
static struct pin *find_pins(const struct report *report, const struct gaps_segment *segment,
			     size_t *count)
{
	const struct gaps *gaps = &report->selection->gaps;
	struct pin *pins = report_room(report, (segment->blocks_n + 1) * sizeof(*pins));

	*count = 0;
	for (size_t i = 0; pins && i < segment->blocks_n; i++) {
		const struct gaps_block *block = &gaps->blocks[segment->first + i];

		pins[i] = (struct pin){ trace_line(report->trace, block->stack), block->size, 1,
					block->stack, NULL };
	}
	if (!pins)
		return NULL;
	qsort(pins, segment->blocks_n, sizeof(*pins), by_line);
	for (size_t i = 0; i < segment->blocks_n; i++) {
		if (*count && pins[*count - 1].line == pins[i].line) {
			pins[*count - 1].bytes += pins[i].bytes;
			pins[*count - 1].count++;
		} else {
			pins[(*count)++] = pins[i];
		}
	}
	qsort(pins, *count, sizeof(*pins), compare_gaps);
	return pins;
}

struct segment_told {
	const struct gaps_segment *of;
	uint64_t ptr, size, used, free, largest, gaps, blocks;
	struct emit_rows pins;
};

static const struct emit_column pin_members[] = {
	EMIT_MEMBER("line", TEXT, struct pin, name),
	EMIT_MEMBER("bytes", BYTES, struct pin, bytes),
	EMIT_MEMBER("count", COUNT, struct pin, count),
	EMIT_END,
};

static const struct emit_column segment_columns[] = {
	EMIT_COLUMN("ptr", "segment", -20, ADDRESS, struct segment_told, ptr),
	EMIT_COLUMN("size", "size", 12, BYTES, struct segment_told, size),
	EMIT_COLUMN("used_bytes", "used", 12, BYTES, struct segment_told, used),
	EMIT_COLUMN("free_bytes", "free", 12, BYTES, struct segment_told, free),
	EMIT_COLUMN("largest_gap_bytes", "largest gap", 13, BYTES, struct segment_told, largest),
	EMIT_MEMBER("gaps", COUNT, struct segment_told, gaps),
	EMIT_COLUMN("blocks", "blocks", 8, COUNT, struct segment_told, blocks),
	EMIT_LIST("pinned_by", "", struct segment_told, pins, pin_members),
	EMIT_MEMBER("other_lines", HIDDEN, struct segment_told, pins),
	EMIT_END,
};

static struct segment_told segment_of(const struct gaps_segment *segment)
{
	return (struct segment_told){
		.of = segment,
		.ptr = segment->ptr,
		.size = segment->size,
		.used = segment->used,
		.free = segment->size - segment->used,
		.largest = segment->largest,
		.gaps = segment->gaps,
		.blocks = segment->blocks_n,
	};
}

static int pins_of(const struct report *report, struct segment_told *segment)
{
	size_t count;
	struct pin *pins = find_pins(report, segment->of, &count);

	if (!pins)
		return err("no memory left");
	segment->pins = report_rows(report, pins, count);
	if (!report->json)
		segment->pins.shown = report->options->full || count <= PINS ? count : PINS;
	for (size_t i = 0; i < segment->pins.shown; i++)
		pins[i].name = report_line(report, pins[i].stack);
	return 0;
}

/* Those that are not shown are counted alone. People are told of those that blocks keep. */
static int segments_of(const struct report *report, const struct gaps_pool *pool,
		       struct emit_rows *rows)
{
	const struct gaps *gaps = &report->selection->gaps;
	bool few = !report->json && !report->options->full && pool->segments_n > SEGMENTS;
	size_t limit = few            ? SEGMENTS
		       : report->json ? report_limit(report, pool->segments_n)
				      : pool->segments_n;
	struct segment_told *list = report_room(report, (limit + 1) * sizeof(*list));
	int error = list ? 0 : err("no memory left");

	*rows = EMIT_SOME_OF(list, pool->segments_n, 0);
	for (size_t i = 0; !error && i < gaps->segments_n && rows->shown < limit; i++) {
		const struct gaps_segment *segment = &gaps->segments[i];
		bool kept = segment->blocks_n && segment->used < segment->size;

		if (segment->pool != (uint32_t)(pool - gaps->pools) || (!report->json && !kept))
			continue;
		list[rows->shown] = segment_of(segment);
		error = pins_of(report, &list[rows->shown++]);
	}
	if (!report->json)
		rows->count = rows->shown;
	return error;
}

static void dim_line(const struct show *show, const char *text)
{
	char safe[500];

	show_safe(safe, sizeof(safe), text, SHOW_COLUMNS - 8);
	out_text(show->out, "        ");
	show_dim(show, safe);
	out_char(show->out, '\n');
}

static void pins_below(const struct show *show, const void *row, const void *with)
{
	const struct emit_rows *pins = &((const struct segment_told *)row)->pins;
	char text[400];

	(void)with;
	for (size_t i = 0; i < pins->shown; i++) {
		const struct pin *pin = (const struct pin *)pins->rows + i;

		snprintf(text, sizeof(text), "%11s in %s %s: %.300s", SAY_BYTES(pin->bytes),
			 SAY_COUNT(pin->count), pin->count == 1 ? "block" : "blocks", pin->name);
		dim_line(show, text);
	}
	if (pins->shown < pins->count) {
		snprintf(text, sizeof(text), "%15s and of %zu more lines", "",
			 pins->count - pins->shown);
		dim_line(show, text);
	}
}

struct fact {
	const char *name, *note;
	uint64_t bytes;
};

static const struct emit_column fact_cells[] = {
	EMIT_CELL("", -28, TEXT, struct fact, name),
	EMIT_CELL("", 12, BYTES, struct fact, bytes),
	{ EMIT_KEYED(NULL, TEXT, struct fact, note), .heading = "", .gap = 2, .flags = EMIT_DIM },
	EMIT_END,
};

/* `format` holds the count as %s, or is NULL. */
static void fact_row(const struct report *report, const char *name, uint64_t bytes,
		     const char *format, uint64_t count)
{
	const char *at = format ? strstr(format, "%s") : NULL;
	char note[120] = "";

	if (at) {
		text_copy_n(note, sizeof(note), format, (size_t)(at - format));
		text_append(note, sizeof(note), SAY_COUNT(count));
		text_append(note, sizeof(note), at + 2);
	}
	emit_row(&report->show, fact_cells, &(struct fact){ name, note, bytes }, 2);
}

static const char *pool_name(const struct report *report, const struct gaps_pool *pool)
{
	const char *name = trace_text(report->trace, pool->pool);

	return name ? name : "?";
}

struct gap_size {
	uint64_t from, bytes, count;
};

static const struct emit_column gap_size_members[] = {
	EMIT_MEMBER("from_bytes", BYTES, struct gap_size, from),
	EMIT_MEMBER("bytes", BYTES, struct gap_size, bytes),
	EMIT_MEMBER("count", COUNT, struct gap_size, count),
	EMIT_END,
};

struct pool_told {
	struct gaps_pool of;
	const char *name;
	uint64_t cached, limit;
	struct emit_rows sizes, segments;
};

static const struct emit_column gap_pool_members[] = {
	EMIT_MEMBER("device", DEVICE, struct pool_told, of.device),
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
	struct gap_size *list = report_room(report, GAPS_SIZES * sizeof(*list));
	size_t count = 0;

	for (unsigned i = 0; list && i < GAPS_SIZES; i++) {
		if (pool->by_size[i].count)
			list[count++] = (struct gap_size){ (uint64_t)1 << i, pool->by_size[i].bytes,
							   pool->by_size[i].count };
	}
	return EMIT_ROWS_OF(list, count);
}

static void say_pool(const struct report *report, const struct pool_told *told)
{
	const struct gaps_pool *pool = &told->of;

	if (!pool->segments_n) {
		report_say(report, SAID_HEADING, "Pool %.60s on device %d: %s in %llu %s",
			   told->name, pool->device, SAY_BYTES(pool->elsewhere),
			   (unsigned long long)pool->elsewhere_n,
			   pool->elsewhere_n == 1 ? "block" : "blocks");
		report_say(report, SAID_LINE,
			   "  The driver does not tell where its segments lie: nor can free "
			   "gaps be told.");
		return;
	}
	report_say(report, SAID_HEADING, "Pool %.60s on device %d: %s free of %s in %llu %s",
		   told->name, pool->device, SAY_BYTES(told->cached), SAY_BYTES(pool->reserved),
		   (unsigned long long)pool->segments_n,
		   pool->segments_n == 1 ? "segment" : "segments");
	fact_row(report, "segments without a block", pool->whole, "in %s that can be given back",
		 pool->whole_n);
	fact_row(report, "gaps beside blocks", pool->gaps, "in %s", pool->gaps_n);
	fact_row(report, "  the largest", pool->largest, NULL, 0);
	fact_row(report, "  in gaps below 1 MiB", pool->fragments, "%s% of what is free",
		 pool->reserved > pool->used ? pool->fragments * 100 / (told->cached) : 0);
	if (pool->elsewhere_n)
		fact_row(report, "blocks in no known segment", pool->elsewhere, "in %s",
			 pool->elsewhere_n);
	emit_table(&report->show, &(struct emit_table){ .columns = segment_columns,
							.rows = &told->segments,
							.indent = 2,
							.below = pins_below });
}

int report_tell_gaps(const struct report *report)
{
	const struct gaps *gaps = &report->selection->gaps;
	struct pool_told *list = report_room(report, (gaps->pools_n + 1) * sizeof(*list));
	struct emit_rows rows = EMIT_ROWS_OF(list, gaps->pools_n);
	int error = list ? 0 : err("no memory left");

	for (size_t i = 0; !error && i < gaps->pools_n; i++) {
		const struct gaps_pool *pool = &gaps->pools[i];

		list[i] = (struct pool_told){
			.of = *pool,
			.name = pool_name(report, pool),
			.cached = pool->reserved - pool->used,
			.limit = GAPS_FRAGMENT,
			.sizes = sizes_of(report, pool),
		};
		error = segments_of(report, pool, &list[i].segments);
		if (!error && !report->json)
			say_pool(report, &list[i]);
	}
	if (!gaps->pools) /* events were dropped */
		rows.size = 0;
	if (!error && report->json)
		report_list(report, "\ngaps", "\n", gap_pool_members, &rows);
	return error;
}
