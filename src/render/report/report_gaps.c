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
};

static int by_line(const void *a, const void *b)
{
	const struct pin *x = a;
	const struct pin *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_bytes(const void *a, const void *b)
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
	struct pin *pins = calloc(segment->blocks_n + 1, sizeof(*pins));

	*count = 0;
	for (size_t i = 0; pins && i < segment->blocks_n; i++) {
		const struct gaps_block *block = &gaps->blocks[segment->first + i];

		pins[i] = (struct pin){ trace_line(report->trace, block->stack), block->size, 1,
					block->stack };
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
	qsort(pins, *count, sizeof(*pins), by_bytes);
	return pins;
}

static void pin_row(const struct report *report, const struct pin *pin)
{
	char number[SHOW_NUMBER];
	char count[SHOW_NUMBER];
	char line[300];
	char text[400];
	char safe[500];

	report_line_text(report->trace, pin->stack, line, sizeof(line));
	snprintf(text, sizeof(text), "%11s in %s %s: %s", show_bytes(number, pin->bytes),
		 show_count(count, pin->count), pin->count == 1 ? "block" : "blocks", line);
	show_safe(safe, sizeof(safe), text, SHOW_COLUMNS - 8);
	out_text(report->show.out, "        ");
	show_dim(&report->show, safe);
	out_char(report->show.out, '\n');
}

static int pin_rows(const struct report *report, const struct gaps_segment *segment)
{
	size_t count;
	struct pin *pins = find_pins(report, segment, &count);
	size_t shown = report->options->full || count <= PINS ? count : PINS;
	char text[80];

	if (!pins)
		return err("no memory left");
	for (size_t i = 0; i < shown; i++)
		pin_row(report, &pins[i]);
	if (shown < count) {
		snprintf(text, sizeof(text), "%23s and of %zu more lines", "", count - shown);
		show_dim(&report->show, text);
		out_char(report->show.out, '\n');
	}
	free(pins);
	return 0;
}

static const struct report_column segment_columns[] = {
	{ "segment", 20 },     { "size", 12 },  { "used", 12 }, { "free", 12 },
	{ "largest gap", 13 }, { "blocks", 8 }, { NULL, 0 },
};

static int segment_rows(const struct report *report, const struct gaps_pool *pool)
{
	const struct gaps *gaps = &report->selection->gaps;
	size_t number = (size_t)(pool - gaps->pools);
	size_t most = report->options->full ? gaps->segments_n : SEGMENTS;
	size_t shown = 0;
	char text[SHOW_NUMBER];
	int error = 0;

	for (size_t i = 0; !error && i < gaps->segments_n && shown < most; i++) {
		const struct gaps_segment *segment = &gaps->segments[i];

		if (segment->pool != number || !segment->blocks_n || segment->used == segment->size)
			continue;
		if (!shown++)
			report_header(report, segment_columns);
		text_hex(text, segment->ptr);
		report_first_cell(report, &segment_columns[0], text);
		report_cell(report, &segment_columns[1], show_bytes(text, segment->size));
		report_cell(report, &segment_columns[2], show_bytes(text, segment->used));
		report_cell(report, &segment_columns[3],
			    show_bytes(text, segment->size - segment->used));
		report_cell(report, &segment_columns[4], show_bytes(text, segment->largest));
		report_cell(report, &segment_columns[5], show_count(text, segment->blocks_n));
		out_char(report->show.out, '\n');
		error = pin_rows(report, segment);
	}
	return error;
}

/* `format` holds the count as %s, or is NULL. */
static void fact_row(const struct report *report, const char *name, uint64_t bytes,
		     const char *format, uint64_t count)
{
	static const struct report_column columns[] = { { "", 28 }, { "", 12 }, { NULL, 0 } };
	const char *at = format ? strstr(format, "%s") : NULL;
	char number[SHOW_NUMBER];
	char text[120] = "  ";

	report_first_cell(report, &columns[0], name);
	report_cell(report, &columns[1], show_bytes(number, bytes));
	if (at) {
		text_copy_n(text + 2, sizeof(text) - 2, format, (size_t)(at - format));
		text_append(text, sizeof(text), show_count(number, count));
		text_append(text, sizeof(text), at + 2);
		show_dim(&report->show, text);
	}
	out_char(report->show.out, '\n');
}

static const char *pool_name(const struct report *report, const struct gaps_pool *pool)
{
	const char *name = trace_text(report->trace, pool->pool);

	return name ? name : "?";
}

static int pool_part(const struct report *report, const struct gaps_pool *pool)
{
	char size[SHOW_NUMBER];
	char number[SHOW_NUMBER];
	char text[300];

	if (!pool->segments_n) {
		snprintf(text, sizeof(text), "Pool %.60s on device %d: %s in %llu %s",
			 pool_name(report, pool), pool->device, show_bytes(size, pool->elsewhere),
			 (unsigned long long)pool->elsewhere_n,
			 pool->elsewhere_n == 1 ? "block" : "blocks");
		show_heading(&report->show, text);
		report_say(report,
			   "  The driver does not tell where its segments lie: nor can free "
			   "gaps be told.");
		return 0;
	}
	snprintf(text, sizeof(text), "Pool %.60s on device %d: %s free of %s in %llu %s",
		 pool_name(report, pool), pool->device,
		 show_bytes(number, pool->reserved - pool->used), show_bytes(size, pool->reserved),
		 (unsigned long long)pool->segments_n,
		 pool->segments_n == 1 ? "segment" : "segments");
	show_heading(&report->show, text);
	fact_row(report, "segments without a block", pool->whole, "in %s that can be given back",
		 pool->whole_n);
	fact_row(report, "gaps beside blocks", pool->gaps, "in %s", pool->gaps_n);
	fact_row(report, "  the largest", pool->largest, NULL, 0);
	fact_row(report, "  in gaps below 1 MiB", pool->fragments, "%s% of what is free",
		 pool->reserved > pool->used ? pool->fragments * 100 / (pool->reserved - pool->used)
					     : 0);
	if (pool->elsewhere_n)
		fact_row(report, "blocks in no known segment", pool->elsewhere, "in %s",
			 pool->elsewhere_n);
	return segment_rows(report, pool);
}

int report_text_gaps(const struct report *report)
{
	const struct gaps *gaps = &report->selection->gaps;
	int error = 0;

	for (size_t i = 0; !error && i < gaps->pools_n; i++)
		error = pool_part(report, &gaps->pools[i]);
	return error;
}

/* --- for programs --- */

static int json_segment(const struct report *report, const struct gaps_segment *segment)
{
	size_t count;
	struct pin *pins = find_pins(report, segment, &count);
	size_t shown = report_limit(report, count);
	char text[300];

	if (!pins)
		return err("no memory left");
	text_hex(text, segment->ptr);
	report_json_text(report, "{\"ptr\":", text);
	report_json_number(report, ",\"size\":", segment->size);
	report_json_number(report, ",\"used_bytes\":", segment->used);
	report_json_number(report, ",\"free_bytes\":", segment->size - segment->used);
	report_json_number(report, ",\"largest_gap_bytes\":", segment->largest);
	report_json_number(report, ",\"gaps\":", segment->gaps);
	report_json_number(report, ",\"blocks\":", segment->blocks_n);
	out_text(report->show.out, ",\"pinned_by\":[");
	for (size_t i = 0; i < shown; i++) {
		report_line_text(report->trace, pins[i].stack, text, sizeof(text));
		report_json_text(report, i ? ",{\"line\":" : "{\"line\":", text);
		report_json_number(report, ",\"bytes\":", pins[i].bytes);
		report_json_number(report, ",\"count\":", pins[i].count);
		out_char(report->show.out, '}');
	}
	report_json_number(report, "],\"other_lines\":", count - shown);
	out_char(report->show.out, '}');
	free(pins);
	return 0;
}

static int json_segments(const struct report *report, const struct gaps_pool *pool)
{
	const struct gaps *gaps = &report->selection->gaps;
	size_t limit = report_limit(report, pool->segments_n);
	size_t shown = 0;
	int error = 0;

	out_text(report->show.out, ",\n \"rows\":[");
	for (size_t i = 0; !error && i < gaps->segments_n && shown < limit; i++) {
		if (gaps->segments[i].pool != (uint32_t)(pool - gaps->pools))
			continue;
		out_text(report->show.out, shown++ ? ",\n  " : "\n  ");
		error = json_segment(report, &gaps->segments[i]);
	}
	report_json_number(report, "],\"other_segments\":", pool->segments_n - shown);
	return error;
}

static void json_sizes(const struct report *report, const struct gaps_pool *pool)
{
	const char *comma = "";

	out_text(report->show.out, ",\n \"gaps_by_size\":[");
	for (unsigned i = 0; i < GAPS_SIZES; i++) {
		if (!pool->by_size[i].count)
			continue;
		out_text(report->show.out, comma);
		report_json_number(report, "{\"from_bytes\":", (uint64_t)1 << i);
		report_json_number(report, ",\"bytes\":", pool->by_size[i].bytes);
		report_json_number(report, ",\"count\":", pool->by_size[i].count);
		out_char(report->show.out, '}');
		comma = ",";
	}
	out_char(report->show.out, ']');
}

int report_json_gaps(const struct report *report)
{
	const struct gaps *gaps = &report->selection->gaps;
	int error = 0;

	if (!gaps->pools) { /* events were dropped */
		out_text(report->show.out, ",\n\"gaps\":null");
		return 0;
	}
	out_text(report->show.out, ",\n\"gaps\":[");
	for (size_t i = 0; !error && i < gaps->pools_n; i++) {
		const struct gaps_pool *pool = &gaps->pools[i];

		report_json_number(report, i ? ",\n{\"device\":" : "\n{\"device\":",
				   pool->device < 0 ? TRACE_NONE : (uint64_t)pool->device);
		report_json_text(report, ",\"pool\":", pool_name(report, pool));
		report_json_number(report, ",\"segments\":", pool->segments_n);
		report_json_number(report, ",\"reserved_bytes\":", pool->reserved);
		report_json_number(report, ",\"used_bytes\":", pool->used);
		report_json_number(report, ",\"cached_bytes\":", pool->reserved - pool->used);
		report_json_number(report, ",\"free_segments\":", pool->whole_n);
		report_json_number(report, ",\"free_segments_bytes\":", pool->whole);
		report_json_number(report, ",\"gaps\":", pool->gaps_n);
		report_json_number(report, ",\"gaps_bytes\":", pool->gaps);
		report_json_number(report, ",\"largest_gap_bytes\":", pool->largest);
		report_json_number(report, ",\"fragment_limit_bytes\":", GAPS_FRAGMENT);
		report_json_number(report, ",\"fragments_bytes\":", pool->fragments);
		report_json_number(report, ",\"elsewhere\":", pool->elsewhere_n);
		report_json_number(report, ",\"elsewhere_bytes\":", pool->elsewhere);
		json_sizes(report, pool);
		error = json_segments(report, pool);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
	return error;
}
