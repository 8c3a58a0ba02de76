/*
 * The comparison for people: a sentence, the gates, the curves, then tables of changes.
 *
 * The first screen shows the tables that changed, with a few rows each; the rows left out are
 * summed in one row, so that the columns still add up.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

struct diff_text {
	struct diff *diff;
	struct show show;
	const struct diff_options *options;
};

/* The lines below rows: ends of long names or, with --full, the sites' lines of source. */
struct changes_text {
	bool full;
	unsigned indent;
};

static void say_line(const struct diff_text *text, const char *line)
{
	show_wrapped(&text->show, line, 2, false);
}

/* Splits a name of two frames that is too long, so that " from ..." gets a line of its own. */
static void split_name(const struct diff_text *text, struct change_row *row, unsigned columns)
{
	const char *from = strstr(row->name, " from ");

	if (!from || show_columns(row->name) <= columns)
		return;
	row->rest = from + 1;
	row->name = show_kept(&text->diff->arena, "%.*s", (int)(from - row->name), row->name);
}

/* The file and line of a site, and its line in the base if it has moved; NULL if there is none. */
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
	static const struct emit_column cells[] = {
		EMIT_CELL("", 0, TEXT, struct change_row, rest),
		EMIT_END,
	};
	static const struct emit_column source_cells[] = {
		EMIT_CELL("", 0, TEXT, struct change_row, rest, .flags = EMIT_DIM | EMIT_WHOLE),
		EMIT_END,
	};
	const struct changes_text *about = with;

	if (((const struct change_row *)row)->rest)
		emit_row(show, about->full ? source_cells : cells, row, about->indent);
}

/* Only rows of sites are summed: rows of other dimensions peak at different times. */
static void change_table(const struct diff_text *text, enum dimension dimension, enum column column,
			 const char *group, const char *heading)
{
	bool sites = dimension == DIMENSION_SITE;
	bool full = text->options->full;
	struct changes changes;
	struct change_row *list;

	if (!diff_changes(text->diff, dimension, group, column, text->options->limit, &changes))
		return;
	for (struct emit_column *name = changes.columns; full && name->kind; name++)
		name->flags = name->width ? 0 : EMIT_WHOLE;
	list = (struct change_row *)changes.rows.rows;
	for (size_t i = 0; i < changes.rows.count; i++) {
		if (full)
			list[i].rest = source_of(text, list[i].of);
		else
			split_name(text, &list[i], SHOW_COLUMNS - changes.before_names);
	}
	emit_table(&text->show,
		   &(struct emit_table){
			   .columns = changes.columns,
			   .rows = &changes.rows,
			   .after = &changes.after,
			   .heading = heading,
			   .headless = !sites,
			   .summed = sites,
			   .more = "more (--limit 0)",
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
	for (size_t i = diff->first[DIMENSION_CATEGORY]; i < diff->first[DIMENSION_CATEGORY + 1];
	     i++) {
		const char *name = diff->rows[i].name;

		if (strcmp(name, category_names[CATEGORY_OTHER]) != 0 &&
		    strcmp(name, category_names[CATEGORY_TEMPORARIES]) != 0 &&
		    diff_change(&diff->rows[i], COLUMN_ALLOCATED))
			return true;
	}
	return false;
}

static void dimension_tables(const struct diff_text *text)
{
	static const enum dimension shown[] = { DIMENSION_POOL, DIMENSION_OWNER, DIMENSION_SPACE,
						DIMENSION_PHASE };

	/* With one device, the totals in the tables of sites are the device's values already. */
	if (text->options->full || diff_head(text->diff)->trace.summary.devices_n > 1)
		dimension_table(text, DIMENSION_DEVICE, UINT_MAX);
	if (text->options->full || tells_more(text->diff))
		dimension_table(text, DIMENSION_CATEGORY,
				text->options->full ? UINT_MAX : 1u << COLUMN_ALLOCATED);
	for (size_t i = 0; text->options->full && i < sizeof(shown) / sizeof(shown[0]); i++)
		dimension_table(text, shown[i], UINT_MAX);
}

/* True if the sites have a table for the column. With --full, each column that changed has a table.
 * The first screen has the tables for allocated and live at exit, or else for the first column that
 * changed. */
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

/* Appends the name of a column whose sum changed but that has no table, ", allocations (+4)". */
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

/* Writes a line that names the columns and dimensions that changed but are not shown. */
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
	say_line(text, show_kept(&text->diff->arena, "Changed as well: %s; see --full.", words));
}

/* Writes tables of memory outside of devices: with --full, or if nothing changed on devices. */
static void space_tables(const struct diff_text *text)
{
	static const char *const spaces[] = { "managed", "pinned", "cpu" };
	static const enum column columns[] = { COLUMN_ALLOCATED, COLUMN_EXIT };

	if (!text->options->full && diff_head(text->diff)->trace.summary.devices_n &&
	    dimension_changed(text, DIMENSION_DEVICE))
		return;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		for (size_t k = 0; k < 2; k++)
			change_table(text, DIMENSION_SITE, columns[k], spaces[i],
				     show_kept(&text->diff->arena, "%s memory: %s", spaces[i],
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
	for (size_t i = 0; i < text->diff->gates_n; i++) {
		const struct gate_result *result = &text->diff->gates[i];
		const char *words = diff_gate_words(text->diff, result);

		show_wrapped(&text->show,
			     show_kept(&text->diff->arena, "%s%s",
				       result->broken ? "FAIL    " : "PASS    ", words),
			     8, result->broken);
	}
}

/*
 * --- the two runs' curves of allocated memory, one above the other on one scale ---
 *
 * A column shows the highest value in its stretch of time, so no peak is lost.
 */

enum { HEIGHT = 3, NAME = 18, WIDTH = SHOW_COLUMNS - NAME };

struct picture {
	uint64_t columns[WIDTH];
	uint64_t peak;
	bool known;
};

/* Finds the highest value of the run's curve in each column; a value lasts until the next point. */
static void draw_curve(struct picture *picture, const struct run *run, int device)
{
	const struct trace_curve *curve = trace_curve(&run->trace, device, NULL);
	uint64_t end = run->trace.process.duration_ns;
	uint64_t start;
	uint64_t value = 0;
	size_t i = 0;

	memset(picture, 0, sizeof(*picture));
	if (!curve || !curve->t_n)
		return;
	picture->known = true;
	if (end <= curve->t[curve->t_n - 1])
		end = curve->t[curve->t_n - 1] + 1;
	/* The flat beginning, while a program loads its libraries, is left out. */
	while (i + 1 < curve->t_n && !curve->allocated[i + 1])
		i++;
	start = curve->t[i];
	for (unsigned column = 0; column < WIDTH; column++) {
		uint64_t until = start + (uint64_t)((double)(end - start) * (column + 1) / WIDTH);
		uint64_t most = value;

		for (; i < curve->t_n && (curve->t[i] < until || column + 1 == WIDTH); i++) {
			value = curve->allocated[i] == TRACE_NONE ? value : curve->allocated[i];
			most = value > most ? value : most;
		}
		picture->columns[column] = most;
		picture->peak = most > picture->peak ? most : picture->peak;
	}
}

/* Writes line `row` of a picture: each column is filled to eighths of a line's height. */
static void draw_line(const struct picture *picture, const struct show *show, unsigned row,
		      uint64_t scale, bool ascii)
{
	static const char *const blocks[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
					      "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const letters[] = { " ", ".", ".", ":", ":", "+", "+", "#", "#" };
	unsigned last = WIDTH;
	unsigned eighths[WIDTH];

	for (unsigned i = 0; i < WIDTH; i++) {
		double full = (double)picture->columns[i] * HEIGHT * 8 / (double)scale;
		unsigned height = picture->columns[i] ? (unsigned)(full + 0.999) : 0;
		unsigned below = (HEIGHT - 1 - row) * 8;

		eighths[i] = height <= below ? 0 : height - below > 8 ? 8 : height - below;
	}
	while (last && !eighths[last - 1])
		last--;
	for (unsigned i = 0; i < last; i++)
		out_text(show->out, (ascii ? letters : blocks)[eighths[i]]);
}

static void show_picture(const struct picture *picture, const struct show *show, const char *name,
			 uint64_t scale, bool ascii)
{
	for (unsigned row = 0; row < HEIGHT; row++) {
		char label[NAME + 1];
		bool first = row == 0;

		snprintf(label, sizeof(label), first ? "%-5s%11s" : "%16s", first ? name : "",
			 first ? SAY_BYTES(picture->peak) : "");
		out_format(show->out, "%-16s %s", label, ascii ? "|" : "\u2502");
		draw_line(picture, show, row, scale, ascii);
		out_char(show->out, '\n');
	}
}

static void show_curves(const struct diff *diff, const struct show *show, bool ascii)
{
	const struct run *const runs[] = { diff_base(diff), diff_head(diff) };
	const struct trace_summary *summary = &runs[1]->trace.summary;
	struct picture pictures[2];
	uint64_t scale = 0;

	for (size_t i = 0; i < 2 && summary->devices_n; i++) {
		draw_curve(&pictures[i], runs[i], summary->devices[0].device);
		scale = pictures[i].peak > scale ? pictures[i].peak : scale;
	}
	if (!scale)
		return;
	show_heading(show, "Allocated over time");
	for (size_t i = 0; i < 2; i++) {
		if (pictures[i].known)
			show_picture(&pictures[i], show, i ? "head" : "base", scale, ascii);
	}
	if (!pictures[0].known || !pictures[1].known)
		show_dim(show, "(a baseline has no curve)\n");
}

int diff_text(struct diff *diff, struct out *out, const struct diff_options *options)
{
	struct diff_text text = { diff, { .out = out, .colour = options->colour }, options };
	struct emit_rows remarks;

	show_wrapped(&text.show, diff_sentence(diff), 0, true);
	gates_part(&text);
	if (!diff->base.count)
		return 0;
	remarks = diff_remarks(diff);
	for (size_t i = 0; i < remarks.count; i++)
		say_line(&text, ((const char *const *)remarks.rows)[i]);
	if (options->full && diff->moved)
		say_line(&text,
			 "The same peak was reached at another moment, by other sites; that is no "
			 "change.");
	if (options->full || diff_any(diff, DIMENSION_DEVICE, NULL, COLUMN_ALLOCATED) ||
	    diff_any(diff, DIMENSION_DEVICE, NULL, COLUMN_EXIT))
		show_curves(diff, &text.show, options->ascii);
	site_tables(&text);
	dimension_tables(&text);
	more_line(&text);
	return 0;
}
