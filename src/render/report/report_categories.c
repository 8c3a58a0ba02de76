/* The report on what memory was for: parameters, gradients, activations, workspaces, ... */
#include <stdio.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

static const struct report_column columns[] = {
	{ "category", 22 }, { "at the peak", 13 }, { "share", 9 },
	{ "blocks", 12 },   { "at exit", 14 },     { NULL, 0 },
};

/* How many blocks they are is not always known: a baseline keeps bytes alone. */
static uint64_t blocks_of(const struct category_sum *sum)
{
	return sum->bytes && !sum->count ? TRACE_NONE : sum->count;
}

static void row(const struct report *report, const struct categories_place *place, size_t category)
{
	const struct category_sum *peak = &place->peak[category];
	char number[SHOW_NUMBER];

	report_first_cell(report, &columns[0],
			  categories_name(&report->study->categories, category));
	report_cell(report, &columns[1], show_bytes(number, peak->bytes));
	report_cell(report, &columns[2], show_share(number, peak->bytes, place->peak_bytes));
	report_cell(report, &columns[3], show_count(number, blocks_of(peak)));
	report_cell(report, &columns[4], show_bytes(number, place->exit[category].bytes));
	out_char(report->show.out, '\n');
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
	char bytes[SHOW_NUMBER];
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
		 show_bytes(bytes, place->peak_bytes),
		 place->peak_exact ? "" : ", by stacks alone");
	show_heading(&report->show, text);
	report_header(report, columns);
	for (size_t i = 0; i < count; i++)
		row(report, place, order[i]);
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

void report_category_table(const struct report *report, const struct trace_peak *peak)
{
	static const struct report_column short_columns[] = {
		{ "category", 22 }, { "bytes", 13 }, { "share", 9 }, { "blocks", 12 }, { NULL, 0 },
	};
	struct category_sum sums[CATEGORIES_MOST];
	uint8_t order[CATEGORIES_MOST];
	char number[SHOW_NUMBER];
	char text[400];
	size_t count;

	if (!report_category_sums(report, peak, sums) || !peak->bytes)
		return;
	count = categories_order(&report->study->categories, sums, order);
	if (!tells(report, order, count))
		return;
	snprintf(text, sizeof(text), "What it was for");
	show_heading(&report->show, text);
	report_header(report, short_columns);
	for (size_t i = 0; i < count; i++) {
		const struct category_sum *sum = &sums[order[i]];

		report_first_cell(report, &short_columns[0],
				  categories_name(&report->study->categories, order[i]));
		report_cell(report, &short_columns[1], show_bytes(number, sum->bytes));
		report_cell(report, &short_columns[2], show_share(number, sum->bytes, peak->bytes));
		report_cell(report, &short_columns[3], show_count(number, blocks_of(sum)));
		out_char(report->show.out, '\n');
	}
}

void report_json_category_sums(const struct report *report, const struct trace_peak *peak)
{
	struct category_sum sums[CATEGORIES_MOST];
	uint8_t order[CATEGORIES_MOST];
	size_t count;

	if (!report_category_sums(report, peak, sums)) {
		out_text(report->show.out, ",\"categories\":null");
		return;
	}
	count = categories_order(&report->study->categories, sums, order);
	out_text(report->show.out, ",\"categories\":[");
	for (size_t i = 0; i < count; i++) {
		report_json_text(report, i ? ",{\"category\":" : "{\"category\":",
				 categories_name(&report->study->categories, order[i]));
		report_json_number(report, ",\"bytes\":", sums[order[i]].bytes);
		report_json_number(report, ",\"count\":", sums[order[i]].count);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
}

static bool is_shown(const struct report *report, const struct categories_place *place)
{
	if (place->device != NO_DEVICE)
		return report_wants(report, place->device) && !place->pool;
	return report->options->full || strcmp(place->space, "pinned") != 0;
}

int report_text_categories(const struct report *report)
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

static void json_curve(const struct report *report, const struct categories_place *place)
{
	size_t count = place->points;

	out_text(report->show.out, ",\n  \"timeline\":");
	if (!count) {
		out_text(report->show.out, "null");
		return;
	}
	out_text(report->show.out, "{\"t\":[");
	for (size_t i = 0; i < count; i++)
		report_json_number(report, i ? "," : "", place->t[i]);
	out_text(report->show.out, "],\"bytes\":{");
	for (size_t k = 0, shown = 0; k < report->study->categories.rules->categories; k++) {
		const uint64_t *column = place->bytes + k * count;
		bool any = false;

		for (size_t i = 0; i < count && !any; i++)
			any = column[i] > 0;
		if (!any)
			continue;
		out_text(report->show.out, shown++ ? ",\n   " : "\n   ");
		report_json_text(report, "", categories_name(&report->study->categories, k));
		for (size_t i = 0; i < count; i++)
			report_json_number(report, i ? "," : ":[", column[i]);
		out_char(report->show.out, ']');
	}
	out_text(report->show.out, "}}");
}

static void json_rows(const struct report *report, const struct categories_place *place)
{
	const char *comma = "\n  ";

	for (size_t i = 0; i < report->study->categories.rules->categories; i++) {
		if (!place->made[i].count && !place->peak[i].bytes && !place->exit[i].bytes)
			continue;
		out_text(report->show.out, comma);
		report_json_text(report,
				 "{\"category\":", categories_name(&report->study->categories, i));
		report_json_number(report, ",\"peak_bytes\":", place->peak[i].bytes);
		report_json_number(report, ",\"peak_count\":", place->peak[i].count);
		report_json_number(report, ",\"exit_bytes\":", place->exit[i].bytes);
		report_json_number(report, ",\"exit_count\":", place->exit[i].count);
		report_json_number(report, ",\"allocations\":", place->made[i].count);
		report_json_number(report, ",\"bytes\":", place->made[i].bytes);
		out_char(report->show.out, '}');
		comma = ",\n  ";
	}
}

static void json_place(const struct report *report, const struct categories_place *place)
{
	report_json_number(report, "{\"device\":",
			   place->device == NO_DEVICE ? TRACE_NONE : (uint64_t)place->device);
	report_json_text(report, ",\"pool\":", place->pool);
	report_json_text(report, ",\"space\":", place->space);
	report_json_number(report, ",\"peak_t\":", place->peak_t);
	report_json_number(report, ",\"peak_bytes\":", place->peak_bytes);
	report_json_number(report, ",\"exit_bytes\":", place->exit_bytes);
	report_json_text(report, ",\"peak_from\":", place->peak_exact ? "blocks" : "stacks");
	report_json_text(report, ",\"exit_from\":", place->exit_exact ? "blocks" : "stacks");
	out_text(report->show.out, ",\"categories\":[");
	json_rows(report, place);
	out_char(report->show.out, ']');
	json_curve(report, place);
	out_char(report->show.out, '}');
}

int report_json_categories(const struct report *report)
{
	const struct categories *categories = &report->study->categories;
	const char *comma = "\n ";

	if (!report->study->categorised || report->selection->narrow) {
		out_text(report->show.out, ",\n\"categories\":null");
		return 0;
	}
	out_text(report->show.out, ",\n\"categories\":[");
	for (size_t i = 0; i < categories->places_n; i++) {
		const struct categories_place *place = &categories->places[i];

		if (place->device != NO_DEVICE && !report_wants(report, place->device))
			continue;
		out_text(report->show.out, comma);
		comma = ",\n ";
		json_place(report, place);
	}
	out_char(report->show.out, ']');
	return 0;
}
