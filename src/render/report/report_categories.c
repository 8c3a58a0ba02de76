/* The report on what memory was for: parameters, gradients, activations, workspaces, ... */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

struct category_told {
	const char *name;
	struct emit_part part; /* of the peak */
	uint64_t blocks;       /* of it, TRACE_NONE where not known */
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

/* How many blocks they are is not always known: a baseline keeps bytes alone. */
static uint64_t blocks_of(const struct category_sum *sum)
{
	return sum->bytes && !sum->count ? TRACE_NONE : sum->count;
}

/* Of a program that no rule is about there is nothing to tell. */
static bool tells(const struct report *report, const uint8_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (order[i] != CATEGORY_OTHER && order[i] != CATEGORY_TEMPORARIES)
			return true;
	}
	return report->options->full || report->options->show;
}

static void table(const struct report *report, const struct categories_place *place)
{
	struct category_sum held[CATEGORIES_MOST];
	uint8_t order[CATEGORIES_MOST];
	struct category_told list[CATEGORIES_MOST];
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	char text[200];
	char name[80];
	size_t count;

	/* One that is empty at the peak and not at the end has a row, too. */
	for (size_t i = 0; i < CATEGORIES_MOST; i++) {
		held[i] = place->peak[i];
		held[i].count += place->exit[i].bytes > 0;
	}
	count = categories_order(&report->study->categories, held, order);
	if (!count || !place->peak_bytes || !tells(report, order, count))
		return;
	if (place->device != NO_DEVICE)
		snprintf(name, sizeof(name), "on device %d", place->device);
	else
		snprintf(name, sizeof(name), "of %.40s memory", place->space);
	snprintf(text, sizeof(text), "What the peak %s was for: %s%s", name,
		 SAY_BYTES(place->peak_bytes), place->peak_exact ? "" : ", by stacks alone");
	for (size_t i = 0; i < count; i++)
		list[rows.count++] = (struct category_told){
			.name = categories_name(&report->study->categories, order[i]),
			.part = { place->peak[order[i]].bytes, place->peak_bytes },
			.blocks = blocks_of(&place->peak[order[i]]),
			.peak = place->peak[order[i]],
			.exit = place->exit[order[i]],
		};
	report_table(report, peak_columns, &rows, text);
}

/* --- a composition: a peak's, a selection's, a moment's --- */

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
	/* A peak of the document, of all devices or of the one that is selected: its stacks tell.
	 */
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

/* The categories of a composition in their order; 0 when not known. */
static size_t find_sums(const struct report *report, const struct trace_peak *peak,
			struct category_told *list, uint8_t *order)
{
	struct category_sum sums[CATEGORIES_MOST];
	size_t count;

	if (!report_category_sums(report, peak, sums))
		return 0;
	count = categories_order(&report->study->categories, sums, order);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct category_told){
			.name = categories_name(&report->study->categories, order[i]),
			.part = { sums[order[i]].bytes, peak->bytes },
			.blocks = blocks_of(&sums[order[i]]),
			.peak = sums[order[i]],
		};
	return count;
}

void report_category_table(const struct report *report, const struct trace_peak *peak)
{
	struct category_told list[CATEGORIES_MOST];
	uint8_t order[CATEGORIES_MOST];
	struct emit_rows rows = EMIT_ROWS_OF(list, find_sums(report, peak, list, order));

	if (rows.count && peak->bytes && tells(report, order, rows.count))
		report_table(report, report_category_columns, &rows, "What it was for");
}

struct emit_rows report_category_rows(const struct report *report, const struct trace_peak *peak)
{
	struct category_told *list = report_room(report, CATEGORIES_MOST * sizeof(*list));
	struct category_sum sums[CATEGORIES_MOST];
	uint8_t order[CATEGORIES_MOST];

	if (!list || !report_category_sums(report, peak, sums))
		return (struct emit_rows){ .size = 0 };
	return EMIT_ROWS_OF(list, find_sums(report, peak, list, order));
}

static bool is_shown(const struct report *report, const struct categories_place *place)
{
	if (place->device != NO_DEVICE)
		return report_wants(report, place->device) && !place->pool;
	return report->options->full || strcmp(place->space, "pinned") != 0;
}

static int say_categories(const struct report *report)
{
	const struct categories *categories = &report->study->categories;

	if (!report->study->categorised)
		return 0;
	/* Rows by category have said it. */
	if (report->selection->replayed) {
		if (report->trace->by != TRACE_BY_CATEGORY && report->trace->peaks_n)
			report_category_table(report, report->trace->peaks);
		return 0;
	}
	for (size_t i = 0; i < categories->places_n; i++) {
		if (is_shown(report, &categories->places[i]))
			table(report, &categories->places[i]);
	}
	return 0;
}

/* --- for programs --- */

struct place_told {
	struct categories_place of;
	const char *peak_from, *exit_from;
	struct emit_rows categories;
	const struct place_curve *curve; /* NULL: not known */
};

/* `bytes` has a list for each category by its name. */
struct place_curve {
	struct emit_rows t, bytes;
};

static const struct emit_column curve_members[] = {
	EMIT_LIST("t", "", struct place_curve, t, emit_numbers),
	{ EMIT_KEYED("bytes", NAMED, struct place_curve, bytes), .of = emit_numbers,
	  .between = "\n   " },
	EMIT_END,
};

static const struct emit_column place_members[] = {
	EMIT_MEMBER("device", DEVICE, struct place_told, of.device),
	EMIT_MEMBER("pool", TEXT, struct place_told, of.pool),
	EMIT_MEMBER("space", TEXT, struct place_told, of.space),
	EMIT_MEMBER("peak_t", TIME, struct place_told, of.peak_t),
	EMIT_MEMBER("peak_bytes", BYTES, struct place_told, of.peak_bytes),
	EMIT_MEMBER("exit_bytes", BYTES, struct place_told, of.exit_bytes),
	EMIT_MEMBER("peak_from", TEXT, struct place_told, peak_from),
	EMIT_MEMBER("exit_from", TEXT, struct place_told, exit_from),
	EMIT_LIST("categories", "\n  ", struct place_told, categories, peak_columns),
	EMIT_NESTED("\n  timeline", POINTED, struct place_told, curve, curve_members),
	EMIT_END,
};

static struct emit_rows category_rows(const struct report *report,
				      const struct categories_place *place)
{
	struct category_told *list = report_room(report, CATEGORIES_MOST * sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; list && i < report->study->categories.rules->categories; i++) {
		if (place->made[i].count || place->peak[i].bytes || place->exit[i].bytes)
			list[count++] = (struct category_told){
				.name = categories_name(&report->study->categories, i),
				.peak = place->peak[i],
				.exit = place->exit[i],
				.made = place->made[i],
			};
	}
	return EMIT_ROWS_OF(list, count);
}

static bool any_bytes(const uint64_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i])
			return true;
	}
	return false;
}

/* NULL where events are missing. */
static const struct place_curve *curve_of(const struct report *report,
					  const struct categories_place *place)
{
	struct place_curve *curve = place->points ? report_room(report, sizeof(*curve)) : NULL;
	struct emit_named *list = report_room(report, CATEGORIES_MOST * sizeof(*list));
	size_t count = 0;

	if (!curve || !list)
		return NULL;
	for (size_t k = 0; k < report->study->categories.rules->categories; k++) {
		const uint64_t *column = place->bytes + k * place->points;

		if (any_bytes(column, place->points))
			list[count++] = (struct emit_named){
				categories_name(&report->study->categories, k),
				EMIT_ROWS_OF(column, place->points),
			};
	}
	curve->t = EMIT_ROWS_OF(place->t, place->points);
	curve->bytes = EMIT_ROWS_OF(list, count);
	return curve;
}

int report_tell_categories(const struct report *report)
{
	const struct categories *categories = &report->study->categories;
	struct emit_rows rows = { .size = 0 };
	struct place_told *list;

	if (!report->json)
		return say_categories(report);
	if (!report->study->categorised || report->selection->narrow) {
		report_list(report, "\ncategories", "\n ", place_members, &rows);
		return 0;
	}
	list = report_room(report, (categories->places_n + 1) * sizeof(*list));
	if (!list)
		return err("no memory left");
	rows = EMIT_ROWS_OF(list, 0);
	for (size_t i = 0; i < categories->places_n; i++) {
		const struct categories_place *place = &categories->places[i];

		if (place->device != NO_DEVICE && !report_wants(report, place->device))
			continue;
		list[rows.count++] = (struct place_told){
			*place,
			place->peak_exact ? "blocks" : "stacks",
			place->exit_exact ? "blocks" : "stacks",
			category_rows(report, place),
			curve_of(report, place),
		};
	}
	report_list(report, "\ncategories", "\n ", place_members, &rows);
	return 0;
}
