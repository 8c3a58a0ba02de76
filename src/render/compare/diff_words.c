/* Texts and tables that several formats of a comparison use. */
#include "render/compare/diff.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/text/text.h"
#include "render/emit/term.h"

enum { SITE_COLUMNS = 64 }; /* maximum columns of a site's name in the result of a gate */

const struct diff_format diff_formats[] = {
#define DIFF_FORMAT(name, help) { #name, help, diff_##name },
#include "render/compare/diff_formats.def"
	{ NULL, NULL, NULL },
};

const char *const diff_why_words[WHYS] = {
#define WHY(id, way, word, verb) word,
#include "analyse/compare/diff_why.def"
};

const char *diff_percent(char *to, int64_t base, int64_t head)
{
	double percent;

	if (base <= 0) {
		text_copy(to, DIFF_PERCENT, head > 0 ? "new" : "0%");
		return to;
	}
	percent = ((double)head - (double)base) * 100 / (double)base;
	snprintf(to, DIFF_PERCENT,
		 percent > -0.05 && percent < 0.05 && head != base ? "%.2g%%" : "%.1f%%",
		 percent < 0 ? -percent : percent);
	return to;
}

/* Returns the row's name: for a pool or library with the device, for a category of memory outside
 * devices with the memory kind. */
static const char *row_name(struct diff *diff, const struct diff_row *row)
{
	const char *before = row->dimension == DIMENSION_DEVICE ? "device " : "";

	if (!row->group[0] || row->dimension == DIMENSION_SITE ||
	    (row->dimension == DIMENSION_CATEGORY && !strcmp(row->group, "device")))
		return show_kept(&diff->arena, "%s%s", before, row->name);
	return show_kept(&diff->arena,
			 row->dimension == DIMENSION_CATEGORY ? "%s%s [%s]" : "%s%s on device %s",
			 before, row->name, row->group);
}

const char *diff_file(const struct diff *diff, const char *file)
{
	const char *cwd = diff_head(diff)->trace.process.cwd;
	size_t length = cwd ? strlen(cwd) : 0;

	if (!file || !file[0] || file[0] == '<')
		return NULL;
	if (file[0] != '/')
		return strncmp(file, "./", 2) ? file : file + 2;
	while (length && cwd[length - 1] == '/')
		length--;
	if (!length || strncmp(file, cwd, length) != 0 || file[length] != '/')
		return NULL;
	return file + length + 1;
}

size_t diff_growers(struct diff *diff, const struct diff_row ***list, enum column *column)
{
	size_t kept = 0;
	size_t count;

	if (!diff->base.count)
		return 0;
	*column = diff_any(diff, DIMENSION_SITE, "device", COLUMN_ALLOCATED) ? COLUMN_ALLOCATED
									     : COLUMN_EXIT;
	if (!diff_any(diff, DIMENSION_SITE, "device", *column))
		return 0;
	count = diff_changed(diff, DIMENSION_SITE, "device", *column, list);
	for (size_t i = 0; i < count; i++) {
		const struct diff_row *row = (*list)[i];

		if (diff_change(row, *column) > 0 && row->why != WHY_MOMENT)
			(*list)[kept++] = row;
	}
	return kept;
}

/* --- remarks: each function returns a sentence, or "" --- */

static const char *runs_words(struct diff *diff)
{
	size_t left_out = diff->pairs_n ? diff_unpaired(diff) : 0;
	const char *others = "";

	if (diff->base.count < 2 && diff->head.count < 2)
		return "";
	if (!diff->pairs_n)
		return show_kept(
			&diff->arena,
			"Of %zu base and %zu head runs, the median runs are shown; changes "
			"within the spread of the runs are ignored.",
			diff->base.count, diff->head.count);
	if (left_out)
		others = show_kept(&diff->arena,
				   " %zu trace%s left out (the other side has no such rank).",
				   left_out, left_out == 1 ? " is" : "s are");
	return show_kept(&diff->arena,
			 "Compared rank by rank (%zu ranks): rank %llu is shown, which grew most; "
			 "gates apply to the worst rank.%s",
			 diff->pairs_n, (unsigned long long)diff_rank(diff), others);
}

static const char *programs_words(struct diff *diff)
{
	const char *base[2];
	const char *head[2];
	size_t of_base = trace_program(&diff_base(diff)->trace, base);
	size_t of_head = trace_program(&diff_head(diff)->trace, head);

	if (!of_base || !of_head || !strcmp(base[of_base - 1], head[of_head - 1]))
		return "";
	return show_kept(&diff->arena,
			 "The runs are of different programs: %.100s in the base, %.100s in the "
			 "head.",
			 base[of_base - 1], head[of_head - 1]);
}

static const char *ooms_words(struct diff *diff)
{
	if (!diff->base.ooms && !diff->head.ooms)
		return "";
	return show_kept(&diff->arena, "Out of memory: %s failed in the base, %s in the head.",
			 SAY_MANY(diff->base.ooms, "allocation"), SAY_COUNT(diff->head.ooms));
}

struct emit_rows diff_remarks(struct diff *diff)
{
	struct emit_rows rows = EMIT_NONE_OF(const char *, SIZE_MAX);
	const char *others[3];

	if (!diff->base.count)
		return rows;
	foreach (key, diff->unlike) {
		const char *words = show_kept(&diff->arena,
					      "Compared only because of --force: %.100s is %.200s "
					      "in the base and %.200s in the head.",
					      key->key, key->base, key->head);

		emit_add(&diff->arena, &rows, &words);
	}
	others[0] = programs_words(diff);
	others[1] = runs_words(diff);
	others[2] = ooms_words(diff);
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		if (others[i][0])
			emit_add(&diff->arena, &rows, &others[i]);
	}
	return rows;
}

/* --- words on a row or a gate --- */

/* Lists the sites that hold most of the memory that broke a gate, with bytes, name and line:
 * ": 36.00 MiB in Net.forward (train.py), train.py:12; ...". */
static const char *gate_sites_words(struct diff *diff, const struct gate_result *result)
{
	bool bytes = metric_rows[result->gate->query.metric].bytes;
	struct gate_site sites[GATE_SITES];
	size_t count = diff_gate_sites(diff, result, sites);
	const char *words = "";

	for (size_t i = 0; i < count; i++) {
		const struct gate_site *site = &sites[i];
		char name[4 * SITE_COLUMNS];
		char line[SITE_COLUMNS] = "";

		show_safe(name, sizeof(name), site->name, SITE_COLUMNS);
		if (site->file)
			snprintf(line, sizeof(line), ", %.50s:%u", text_base(site->file),
				 site->line);
		words = show_kept(&diff->arena, "%s%s%s in %s%s", words, i ? "; " : ": ",
				  result->gate->kind == GATE_MOST ? SAY_AMOUNT(site->amount, bytes)
								  : SAY_SIGNED(site->amount, bytes),
				  name, line);
	}
	return words;
}

const char *diff_gate_words(struct diff *diff, const struct gate_result *result)
{
	const struct gate *gate = result->gate;
	bool bytes = metric_rows[gate->query.metric].bytes;
	int64_t change = result->head - result->base;
	const char *sites = gate_sites_words(diff, result);

	if (gate->kind == GATE_MOST)
		return show_kept(&diff->arena, "%s: %s has %s%s%s%s%s", gate->text, result->place,
				 SAY_AMOUNT(result->head, bytes), result->broken ? ", " : "",
				 result->broken
					 ? SAY_AMOUNT(result->head - (int64_t)gate->amount, bytes)
					 : "",
				 result->broken ? " over the limit" : "", sites);
	if (!change)
		return show_kept(&diff->arena, "%s: %s stayed at %s", gate->text, result->place,
				 SAY_AMOUNT(result->head, bytes));
	return show_kept(
		&diff->arena, "%s: %s went from %s to %s (%s, %s%s)%s", gate->text, result->place,
		SAY_AMOUNT(result->base, bytes), SAY_AMOUNT(result->head, bytes),
		SAY_SIGNED(change, bytes), SAY_PERCENT(result->base, result->head),
		!result->broken && result->noise >= change && result->noise ? ", within the noise"
									    : "",
		sites);
}

const char *diff_holds_words(struct diff *diff, const struct diff_row *row, enum column column)
{
	enum diff_why why = diff_why_of(row, column);

	return show_kept(&diff->arena, "%s holds %s %s%s%s%s", row->name,
			 SAY_SIGNED(diff_change(row, column), true),
			 column == COLUMN_EXIT ? "at exit" : "at the peak of allocated memory",
			 why ? " (" : "", diff_why_words[why], why ? ")" : "");
}

/* --- tables --- */

enum { CHANGE = 12, NOW = 12, WHY = 13 }; /* widths of table cells */

/* True if the column counts memory that sites hold; only tables of such columns show reasons. */
static bool tells_why(enum column column)
{
	return column == COLUMN_ALLOCATED || column == COLUMN_EXIT || column == COLUMN_LIVE;
}

static const char *show_why(char *to, const void *row)
{
	text_copy(to, EMIT_CELL_MOST, diff_why_words[((const struct change_row *)row)->why]);
	return to;
}

static void set_columns(struct emit_column *to, bool bytes, bool reasons)
{
	enum emit_kind kind = bytes ? EMIT_AMOUNT : EMIT_COUNT;

	*to++ = (struct emit_column){ .heading = "change",
				      .width = CHANGE,
				      .kind = bytes ? EMIT_CHANGE : EMIT_DELTA,
				      .at = offsetof(struct change_row, change) };
	*to++ = (struct emit_column){ .title = "base",
				      .width = NOW,
				      .kind = (unsigned char)kind,
				      .at = offsetof(struct change_row, base) };
	*to++ = (struct emit_column){ .heading = "now",
				      .title = "head",
				      .width = NOW,
				      .kind = (unsigned char)kind,
				      .at = offsetof(struct change_row, head) };
	if (reasons)
		*to++ = (struct emit_column)EMIT_CELL("why", -WHY, INTEGER, struct change_row, why,
						      .gap = 2, .show = show_why);
	*to++ = (struct emit_column)EMIT_CELL("site", 0, CODE, struct change_row, name,
					      .gap = reasons ? 0 : 2);
	*to = (struct emit_column)EMIT_END;
}

bool diff_changes(struct diff *diff, enum dimension dimension, const char *group,
		  enum column column, size_t limit, struct changes *to)
{
	bool sites = dimension == DIMENSION_SITE;
	bool reasons = sites && tells_why(column);
	const struct diff_row **rows;
	size_t count = diff_changed(diff, dimension, group, column, &rows);
	struct change_row noise = { .name = "within the noise between the runs" };
	struct change_row all = { .name = "total" };

	set_columns(to->columns, run_columns[column].bytes, reasons);
	to->before_names = CHANGE + NOW + 2 + (reasons ? WHY : 0);
	to->rows = EMIT_NONE_OF(struct change_row, emit_limit(count, limit));
	to->after = EMIT_NONE_OF(struct change_row, SIZE_MAX);
	diff_totals(diff, group, column, &all.base, &all.head);
	noise.change = all.change = all.head - all.base;
	for (size_t i = 0; i < count; i++) {
		const struct change_row row = {
			.of = rows[i],
			.change = diff_change(rows[i], column),
			.base = rows[i]->base[column],
			.head = rows[i]->head[column],
			.name = row_name(diff, rows[i]),
			.why = diff_why_of(rows[i], column),
		};

		emit_add(&diff->arena, &to->rows, &row);
		noise.change -= row.change;
	}
	if (sites && noise.change)
		emit_add(&diff->arena, &to->after, &noise);
	if (sites)
		emit_add(&diff->arena, &to->after, &all);
	return count;
}
