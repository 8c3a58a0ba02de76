/* The section of categories: memory by its purpose (parameters, gradients, activations, ...). */
#include <string.h>

#include "render/report/report_parts.h"

struct category_told {
	size_t category;
	const char *name;
	struct emit_part part; /* bytes at the peak */
	uint64_t blocks;       /* number of blocks at the peak, TRACE_NONE if not known */
	struct category_sum peak, exit, made;
};

static const struct emit_column peak_columns[] = {
	EMIT_COLUMN("category", "category", -22, TEXT, struct category_told, name),
	EMIT_COLUMN("peak_bytes", "at the peak", 13, BYTES, struct category_told, peak.bytes),
	EMIT_CELL("share", 9, SHARE, struct category_told, part),
	EMIT_MEMBER("peak_count", COUNT, struct category_told, peak.count),
	EMIT_CELL("blocks", 12, COUNT, struct category_told, blocks),
	EMIT_COLUMN("exit_bytes", "at exit", 14, BYTES, struct category_told, exit.bytes),
	EMIT_MEMBER("exit_count", COUNT, struct category_told, exit.count),
	EMIT_MEMBER("allocations", COUNT, struct category_told, made.count),
	EMIT_MEMBER("bytes", BYTES, struct category_told, made.bytes),
	EMIT_END,
};

const struct emit_column report_category_columns[] = {
	EMIT_COLUMN("category", "category", -22, TEXT, struct category_told, name),
	EMIT_COLUMN("bytes", "bytes", 13, BYTES, struct category_told, peak.bytes),
	EMIT_CELL("share", 9, SHARE, struct category_told, part),
	EMIT_CELL("blocks", 12, COUNT, struct category_told, blocks),
	EMIT_MEMBER("count", COUNT, struct category_told, peak.count),
	EMIT_END,
};

/* The number of blocks; TRACE_NONE in a baseline, which has blocks' bytes but not their number. */
static uint64_t blocks_of(const struct category_sum *sum)
{
	return sum->bytes && !sum->count ? TRACE_NONE : sum->count;
}

static void add_category(const struct report *report, struct emit_rows *rows,
			 const struct categories_place *place, size_t category)
{
	report_add(report, rows,
		   &(struct category_told){
			   category,
			   categories_name(&report->study->categories, category),
			   { place->peak[category].bytes, place->peak_bytes },
			   blocks_of(&place->peak[category]),
			   place->peak[category],
			   place->exit[category],
			   place->made[category],
		   });
}

static struct emit_rows ordered_rows(const struct report *report,
				     const struct categories_place *place)
{
	struct emit_rows rows = EMIT_NONE_OF(struct category_told, SIZE_MAX);
	struct category_sum held[CATEGORIES_MOST];
	uint8_t order[CATEGORIES_MOST];
	size_t count;

	/* A category has a row if it has bytes at the peak or at the end. */
	for (size_t i = 0; i < CATEGORIES_MOST; i++) {
		held[i] = place->peak[i];
		held[i].count += place->exit[i].bytes > 0;
	}
	count = categories_order(&report->study->categories, held, order);
	foreach (row, order, count)
		add_category(report, &rows, place, *row);
	return rows;
}

/* True if the table is shown: with --full or --show, or if any row is neither "temporaries" nor
 * "other". */
static bool tells(const struct report *report, const struct emit_rows *rows)
{
	foreach (row, ROWS_IN(const struct category_told, *rows)) {
		if (row->category != CATEGORY_OTHER && row->category != CATEGORY_TEMPORARIES)
			return true;
	}
	return rows->count && (report->options->full || report->options->show);
}

static void table(const struct report *report, const struct emit_column *columns,
		  const struct categories_place *place, const char *heading)
{
	const struct emit_rows rows = ordered_rows(report, place);

	if (place->peak_bytes && tells(report, &rows))
		report_table(report, columns, &rows, heading);
}

/* --- bytes by category, for a peak, a selection or the time given by --at --- */

bool report_category_sums(const struct report *report, const struct trace_peak *peak,
			  struct category_sum *sums)
{
	const struct categories *categories = &report->study->categories;
	const struct report_selection *selection = report->selection;
	const struct categories_place *place;
	uint64_t known;

	if (!report->study->categorised || peak->metric != TRACE_ALLOCATED)
		return false;
	place = categories_place(categories, peak->device, peak->pool, "device");
	if (place && place->peak_exact && place->peak_t == peak->t &&
	    place->peak_bytes == peak->bytes && !selection->narrow &&
	    (!selection->moment || selection->told)) {
		memcpy(sums, place->peak, CATEGORIES_MOST * sizeof(*sums));
		return true;
	}
	/* The trace has the stacks of this peak: sums the bytes by the category of each stack. */
	if (!selection->replayed || selection->told || (!selection->narrow && !selection->moment)) {
		categories_of_shares(categories, peak->stacks, peak->stacks_n, peak->bytes, sums);
		return true;
	}
	if (!selection->wish.of_alloc)
		return false;
	replay_categories(&selection->replay, sums);
	known = sums[0].bytes;
	for (size_t i = 1; i < CATEGORIES_MOST; i++)
		known += sums[i].bytes;
	sums[CATEGORY_OTHER].bytes += peak->bytes - known;
	return true;
}

void report_category_table(const struct report *report, const struct trace_peak *peak)
{
	struct categories_place place = { .peak_bytes = peak->bytes };

	if (report_category_sums(report, peak, place.peak))
		table(report, report_category_columns, &place, "By category");
}

struct emit_rows report_category_rows(const struct report *report, const struct trace_peak *peak)
{
	struct categories_place place = { .peak_bytes = peak->bytes };

	if (!report_category_sums(report, peak, place.peak))
		return (struct emit_rows){ .size = 0 };
	return ordered_rows(report, &place);
}

/* --- for people --- */

static bool is_shown(const struct report *report, const struct categories_place *place)
{
	if (place->device != NO_DEVICE)
		return report_wants(report, place->device) && !place->pool;
	return report->options->full || strcmp(place->space, "pinned") != 0;
}

static void place_table(const struct report *report, const struct categories_place *place)
{
	const char *name = place->device == NO_DEVICE
				   ? report_format(report, "%.40s memory", place->space)
				   : report_format(report, "device %d", place->device);

	table(report, peak_columns, place,
	      report_format(report, "Peak by category, %s: %s%s", name,
			    SAY_BYTES(place->peak_bytes),
			    place->peak_exact ? "" : "; inferred from call stacks alone"));
}

static void say_categories(const struct report *report)
{
	const struct categories *categories = &report->study->categories;

	/* With --by category, the table of the peak already has these rows. */
	if (report->selection->replayed) {
		if (report->trace->by != TRACE_BY_CATEGORY && report->trace->peaks_n)
			report_category_table(report, report->trace->peaks);
		return;
	}
	foreach (place, categories->places) {
		if (is_shown(report, place))
			place_table(report, place);
	}
}

/* --- for programs --- */

/* `t`: times in ns. `bytes`: for each category, a list of its bytes at these times. */
struct place_curve {
	struct emit_rows t, bytes;
};

struct place_told {
	struct categories_place of;
	const char *peak_from, *exit_from;
	struct emit_rows categories;
	struct place_curve curve;
};

static const struct emit_column curve_members[] = {
	EMIT_LIST("t", "", struct place_curve, t, emit_numbers),
	EMIT_MEMBER("bytes", NAMED, struct place_curve, bytes, .of = emit_numbers,
		    .between = "\n   "),
	EMIT_END,
};

static const struct emit_column place_members[] = {
	EMIT_OF(DEVICE, struct place_told, device),
	EMIT_OF(TEXT, struct place_told, pool),
	EMIT_OF(TEXT, struct place_told, space),
	EMIT_OF(TIME, struct place_told, peak_t),
	EMIT_OF(BYTES, struct place_told, peak_bytes),
	EMIT_OF(BYTES, struct place_told, exit_bytes),
	EMIT_FIELD(TEXT, struct place_told, peak_from),
	EMIT_FIELD(TEXT, struct place_told, exit_from),
	EMIT_LIST("categories", "\n  ", struct place_told, categories, peak_columns),
	EMIT_NESTED("\n  timeline", KNOWN, struct place_told, curve, curve_members),
	EMIT_END,
};

static const struct emit_column places_members[] = {
	{ .key = "\ncategories", .kind = EMIT_ROWS, .of = place_members, .between = "\n " },
	EMIT_END,
};

/* Returns the category's bytes at each of the place->points times; NULL if all are 0. */
static const uint64_t *bytes_of(const struct categories_place *place, size_t category)
{
	for (size_t i = 0; i < place->points; i++) {
		if (place->bytes[category * place->points + i])
			return place->bytes + category * place->points;
	}
	return NULL;
}

static struct place_told told_of(const struct report *report, const struct categories_place *place)
{
	const struct categories *categories = &report->study->categories;
	struct place_told told = {
		.of = *place,
		.peak_from = place->peak_exact ? "blocks" : "stacks",
		.exit_from = place->exit_exact ? "blocks" : "stacks",
		.categories = EMIT_NONE_OF(struct category_told, SIZE_MAX),
		.curve.bytes = EMIT_NONE_OF(struct emit_named, SIZE_MAX),
	};

	if (place->points) /* the curve is unknown if an event is missing */
		told.curve.t = EMIT_ROWS_OF(place->t, place->points);
	for (size_t i = 0; i < categories->rules->categories; i++) {
		const uint64_t *column = bytes_of(place, i);

		if (place->made[i].count || place->peak[i].bytes || place->exit[i].bytes)
			add_category(report, &told.categories, place, i);
		if (column)
			report_add(report, &told.curve.bytes,
				   &(struct emit_named){ categories_name(categories, i),
							 EMIT_ROWS_OF(column, place->points) });
	}
	return told;
}

void report_tell_categories(const struct report *report)
{
	const struct categories *categories = &report->study->categories;
	bool known = report->study->categorised;
	struct emit_rows rows = { .size = 0 };

	if (known)
		say_categories(report);
	if (known && !report->selection->narrow)
		rows = EMIT_NONE_OF(struct place_told, SIZE_MAX);
	for (size_t i = 0; rows.size && i < categories->places_n; i++) {
		const struct categories_place *place = &categories->places[i];

		if (place->device == NO_DEVICE || report_wants(report, place->device)) {
			const struct place_told told = told_of(report, place);

			report_add(report, &rows, &told);
		}
	}
	report_members(report, places_members, &rows);
}
