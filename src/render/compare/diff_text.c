/*
 * Writes a comparison for people: a sentence, the gates, remarks, curves, and tables of changes.
 *
 * Without --full, only the most important tables are shown. The rows that a table of sites leaves
 * out are summed in one row, so that the table's columns still add up to the totals.
 */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/timeline/timeline.h"

struct diff_text {
	struct diff *diff;
	struct show show;
	const struct diff_options *options;
};

/* For rest_below(), which writes the end of a row's long name or, with `full`, its source line. */
struct changes_text {
	bool full;
	unsigned indent;
};

static void say_line(const struct diff_text *text, const char *line)
{
	show_wrapped(&text->show, line, 2, false);
}

/* If a name "A from B" is wider than `columns`, moves "from B" to the line below the row. */
static void split_name(const struct diff_text *text, struct change_row *row, unsigned columns)
{
	const char *from = strstr(row->name, " from ");

	if (!from || show_columns(row->name) <= columns)
		return;
	row->rest = from + 1;
	row->name = show_kept(&text->diff->arena, "%.*s", (int)(from - row->name), row->name);
}

/* Returns a site's file and line, and its line in the base if that differs; NULL if not known. */
static const char *source_of(const struct diff_text *text, const struct diff_row *row)
{
	const char *was = "";

	if (!row || !row->file || !row->line || row->dimension != DIMENSION_SITE)
		return NULL;
	if (row->base_line && row->base_line != row->line)
		was = show_kept(&text->diff->arena, " (was line %u)", row->base_line);
	return show_kept(&text->diff->arena, "%.400s:%u%s", row->file, row->line, was);
}

static void rest_below(const struct show *show, const void *row, const void *with)
{
	const struct changes_text *about = with;
	const struct emit_column cells[] = {
		EMIT_CELL("", 0, TEXT, struct change_row, rest,
			  .flags = about->full ? EMIT_DIM | EMIT_WHOLE : 0),
		EMIT_END,
	};

	if (((const struct change_row *)row)->rest)
		emit_row(show, cells, row, about->indent);
}

/* Writes a table of changes. Only sites get a total: pools, phases ... peak at different times. */
static void change_table(const struct diff_text *text, enum dimension dimension, enum column column,
			 const char *group, const char *heading)
{
	bool sites = dimension == DIMENSION_SITE;
	bool full = text->options->full;
	struct changes changes;

	if (!diff_changes(text->diff, dimension, group, column, text->options->limit, &changes))
		return;
	for (struct emit_column *name = changes.columns; full && name->kind; name++)
		name->flags = name->width ? 0 : EMIT_WHOLE;
	foreach (row, ROWS_IN(struct change_row, changes.rows)) {
		if (full)
			row->rest = source_of(text, row->of);
		else
			split_name(text, row, SHOW_COLUMNS - changes.before_names);
	}
	emit_table(&text->show,
		   &(struct emit_table){
			   .columns = changes.columns,
			   .rows = &changes.rows,
			   .after = &changes.after,
			   .heading = heading,
			   .headless = !sites,
			   .summed = sites,
			   .more = "more (all with --limit 0)",
			   .below = rest_below,
			   .with = &(struct changes_text){ full, changes.before_names + 2 },
		   });
}

static void dimension_table(const struct diff_text *text, enum dimension dimension,
			    unsigned columns)
{
	const struct dimension_row *about = &run_dimensions[dimension];

	for (enum column column = 0; column < COLUMNS; column++) {
		if (about->columns & columns & 1u << column)
			change_table(text, dimension, column, NULL,
				     show_kept(&text->diff->arena, "%s: %s", about->heading,
					       run_columns[column].what));
	}
}

/* True if a category other than "temporaries" and "other" changed. */
static bool tells_more(const struct diff *diff)
{
	foreach (row, DIFF_ROWS(diff, DIMENSION_CATEGORY)) {
		if (strcmp(row->name, category_names[CATEGORY_OTHER]) != 0 &&
		    strcmp(row->name, category_names[CATEGORY_TEMPORARIES]) != 0 &&
		    diff_change(row, COLUMN_ALLOCATED))
			return true;
	}
	return false;
}

static void dimension_tables(const struct diff_text *text)
{
	static const enum dimension shown[] = { DIMENSION_POOL, DIMENSION_OWNER, DIMENSION_SPACE,
						DIMENSION_PHASE };

	/* With one device, a table of devices would repeat the totals of the tables of sites. */
	if (text->options->full || diff_head(text->diff)->trace.summary.devices_n > 1)
		dimension_table(text, DIMENSION_DEVICE, UINT_MAX);
	if (text->options->full || tells_more(text->diff))
		dimension_table(text, DIMENSION_CATEGORY,
				text->options->full ? UINT_MAX : 1u << COLUMN_ALLOCATED);
	for (size_t i = 0; text->options->full && i < COUNT_OF(shown); i++)
		dimension_table(text, shown[i], UINT_MAX);
}

/* True if the column gets a table of sites: with --full every column, else the allocated peak, live
 * at exit, and the first column that changed. */
static bool has_table(const struct diff_text *text, enum column column)
{
	enum column first = 0;

	if (!(diff_columns(text->diff, DIMENSION_SITE) & 1u << column))
		return false;
	if (text->options->full || column == COLUMN_ALLOCATED || column == COLUMN_EXIT)
		return true;
	while (first < column && !diff_any(text->diff, DIMENSION_SITE, "device", first))
		first++;
	return first == column;
}

/* If a column has no table but its sum changed, appends that to `words`: ", allocations (+4)". */
static const char *column_words(const struct diff_text *text, enum column column, const char *words)
{
	int64_t base;
	int64_t head;

	diff_totals(text->diff, "device", column, &base, &head);
	if (head == base || has_table(text, column) ||
	    !diff_any(text->diff, DIMENSION_SITE, "device", column))
		return words;
	return show_kept(&text->diff->arena, "%s%s%s (%s)", words, words[0] ? ", " : "",
			 run_columns[column].brief,
			 SAY_SIGNED(head - base, run_columns[column].bytes));
}

static bool dimension_changed(const struct diff_text *text, enum dimension dimension)
{
	enum column column = 0;

	while (column < COLUMNS && !diff_any(text->diff, dimension, NULL, column))
		column++;
	return column < COLUMNS;
}

/* Writes a line with the names of columns and dimensions that changed but are not fully shown. */
static void more_line(const struct diff_text *text)
{
	const char *words = "";
	const char *heading;

	for (enum column column = 0; column < COLUMNS; column++)
		words = column_words(text, column, words);
	for (enum dimension dimension = DIMENSION_POOL; dimension < DIMENSIONS; dimension++) {
		if (text->options->full || !dimension_changed(text, dimension))
			continue;
		heading = run_dimensions[dimension].heading;
		words = show_kept(&text->diff->arena, "%s%s%c%s", words, words[0] ? ", " : "",
				  tolower(heading[0]), heading + 1);
	}
	if (!words[0])
		return;
	out_char(text->show.out, '\n');
	say_line(text, show_kept(&text->diff->arena, "Also changed: %s; see --full.", words));
}

/* Writes tables of memory outside of devices: with --full, or if nothing changed on devices. */
static void space_tables(const struct diff_text *text)
{
	static const char *const spaces[] = { "managed", "pinned", "cpu" };
	static const enum column columns[] = { COLUMN_ALLOCATED, COLUMN_EXIT };

	if (!text->options->full && diff_head(text->diff)->trace.summary.devices_n &&
	    dimension_changed(text, DIMENSION_DEVICE))
		return;
	foreach (space, spaces, COUNT_OF(spaces)) {
		for (size_t k = 0; k < 2; k++)
			change_table(text, DIMENSION_SITE, columns[k], *space,
				     show_kept(&text->diff->arena, "%s memory: %s", *space,
					       run_columns[columns[k]].what));
	}
}

static void site_tables(const struct diff_text *text)
{
	for (enum column column = 0; column < COLUMNS; column++) {
		if (has_table(text, column))
			change_table(text, DIMENSION_SITE, column, "device",
				     run_columns[column].what);
	}
	space_tables(text);
}

static void gates_part(const struct diff_text *text)
{
	foreach (result, text->diff->gates) {
		const char *words = diff_gate_words(text->diff, result);

		show_wrapped(&text->show,
			     show_kept(&text->diff->arena, "%s%s",
				       result->broken ? "FAIL    " : "PASS    ", words),
			     8, result->broken);
	}
}

static void show_curves(const struct diff *diff, const struct show *show, bool ascii)
{
	struct trace *const traces[] = { &diff->base.runs[diff->base.middle].trace,
					 &diff->head.runs[diff->head.middle].trace };
	const struct trace_summary *summary = &traces[1]->summary;
	struct timeline_options options = {
		.width = SHOW_COLUMNS, .height = 3, .ascii = ascii, .colour = show->colour
	};
	uint64_t top = 0;
	bool drawn = true;

	if (!summary->devices_n || (!traces[0]->timeline_n && !traces[1]->timeline_n))
		return;
	options.device = summary->devices[0].device;
	foreach (trace, traces, 2) {
		const struct trace_device *device = trace_device(*trace, options.device);

		if (device && trace_known(device->allocated.peak_bytes) > top)
			top = device->allocated.peak_bytes;
		if (device && trace_known(device->reserved.peak_bytes) > top)
			top = device->reserved.peak_bytes;
	}
	show_heading(show, "Allocated over time (shaded: cached)");
	for (size_t i = 0; i < 2; i++)
		drawn &= timeline_sketch(traces[i], show->out, &options, i ? "head" : "base", top);
	if (!drawn)
		show_dim(show, "(a baseline has no curve)\n");
}

void diff_text(struct diff *diff, struct out *out, const struct diff_options *options)
{
	struct diff_text text = { diff, { .out = out, .colour = options->colour }, options };
	struct emit_rows remarks;

	show_wrapped(&text.show, diff_sentence(diff), 0, true);
	gates_part(&text);
	if (!diff->base.count)
		return;
	remarks = diff_remarks(diff);
	foreach (remark, ROWS_IN(const char *const, remarks))
		say_line(&text, *remark);
	if (options->full && diff->moved)
		say_line(&text,
			 "The same peak was reached at another moment, by other sites; this does "
			 "not count as a change.");
	if (options->full || diff_any(diff, DIMENSION_DEVICE, NULL, COLUMN_ALLOCATED) ||
	    diff_any(diff, DIMENSION_DEVICE, NULL, COLUMN_EXIT))
		show_curves(diff, &text.show, options->ascii);
	site_tables(&text);
	dimension_tables(&text);
	more_line(&text);
}
