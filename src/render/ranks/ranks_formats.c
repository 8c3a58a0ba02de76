/* Writes the ranks of a job (memtrace merge) as JSON, as text, and as Markdown. */
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/ranks/ranks.h"

const struct merge_format merge_formats[] = {
#define MERGE_FORMAT(name, help) { #name, help, merge_##name },
#include "render/ranks/ranks_formats.def"
	{ NULL, NULL, NULL },
};

static struct emit_rows devices_of(const struct merge_tables *tables, size_t ranks)
{
	const struct merge_rank_row *rows = tables->ranks.rows;
	const struct merge_device_row *list = tables->devices.rows;

	return EMIT_ROWS_OF(list, ranks ? rows[ranks - 1].devices_end : 0);
}

/* --- JSON --- */

void merge_json(struct merge *merge, struct out *out, const struct merge_options *options)
{
	struct merge_tables tables = { .whole = true };
	size_t count = merge->sites_n;
	const struct merge_site **list = options->sites ? merge_by_excess(merge, 0, &count) : NULL;

	if (list && count > options->sites)
		count = options->sites;
	merge_find_tables(&tables, merge, merge->order);
	merge_find_sites(&tables, merge, list, count, 0);
	emit_json(out, merge_document_columns, &tables);
	out_char(out, '\n');
}

/* --- text --- */

static void path_below(const struct show *show, const void *row, const void *with)
{
	static const struct emit_column path[] = {
		EMIT_CELL("", 0, TEXT, struct merge_device_row, path, .flags = EMIT_WHOLE),
		EMIT_END,
	};

	(void)with;
	if (((const struct merge_device_row *)row)->path)
		emit_row(show, path, row, 6);
}

/* Returns the table of the first `shown` ranks; a rank has a row for each of its devices. */
static struct emit_table ranks_table(const struct merge_tables *tables, struct emit_rows *rows,
				     size_t shown)
{
	size_t ranks = tables->ranks.count;

	*rows = devices_of(tables, shown);
	return (struct emit_table){
		.columns = merge_device_columns,
		.rows = rows,
		.heading = shown == ranks ? "Ranks" : "Ranks, highest peak first",
		.below = path_below,
		.more = "more ranks (--limit 0)",
		.unlisted = ranks - shown,
	};
}

static void text_table(const struct show *show, size_t limit, struct emit_table table)
{
	struct emit_rows rows = *table.rows;

	rows.shown = emit_limit(rows.count, limit);
	table.rows = &rows;
	if (rows.count)
		emit_table(show, &table);
}

static void text_sites(const struct show *show, struct merge_tables *tables, struct merge *merge,
		       const struct merge_options *options)
{
	static const char *const headings[MERGE_COLUMNS] = {
		"Sites at the peak of allocated memory, highest rank compared with median",
		"Sites at the peak of reserved memory",
		"Sites with memory live at exit",
	};

	for (size_t i = 0; i < (options->full ? MERGE_COLUMNS : 1); i++) {
		size_t count;
		const struct merge_site **list = merge_by_excess(merge, i, &count);

		merge_find_sites(tables, merge, list, count, i);
		text_table(show, options->limit,
			   (struct emit_table){ .columns = merge_site_columns,
						.rows = &tables->sites,
						.heading = headings[i],
						.more = "more sites (--limit 0)" });
	}
}

void merge_text(struct merge *merge, struct out *out, const struct merge_options *options)
{
	const struct show show = { .out = out, .colour = options->colour };
	struct merge_tables tables = { .whole = options->full, .paths = options->full };
	const char *const *sentences;
	struct emit_table ranks;
	struct emit_rows rows;

	merge_find_tables(&tables, merge, merge_shown_ranks(merge, options));
	sentences = tables.sentences.rows;
	for (size_t i = 0; i < tables.sentences.count; i++)
		show_wrapped(&show, sentences[i], 2, i == 0);
	ranks = ranks_table(&tables, &rows, emit_limit(tables.ranks.count, options->limit));
	emit_table(&show, &ranks);
	if (merge->order_n > 1)
		text_table(&show, 0,
			   (struct emit_table){ .columns = merge_spread_columns,
						.rows = &tables.spreads,
						.heading = "Peaks across ranks" });
	text_table(&show, options->limit,
		   (struct emit_table){ .columns = merge_card_columns,
					.rows = &tables.cards,
					.heading = "Cards, least free memory first",
					.more = "more cards (--limit 0)" });
	text_sites(&show, &tables, merge, options);
}

/* --- Markdown --- */

static void markdown_sites(struct out *out, struct merge_tables *tables, struct merge *merge,
			   const struct merge_options *options)
{
	size_t count;
	const struct merge_site **list = merge_by_excess(merge, 0, &count);

	merge_find_sites(tables, merge, list, count, 0);
	tables->sites.shown = emit_limit(count, options->limit);
	emit_markdown_folded(out,
			     &(struct emit_table){ .heading = run_columns[merge_columns[0]].what,
						   .columns = merge_site_columns,
						   .rows = &tables->sites,
						   .more = "more sites" });
}

void merge_markdown(struct merge *merge, struct out *out, const struct merge_options *options)
{
	struct merge_tables tables = { .whole = true, .repeated = true };
	struct emit_table ranks;
	struct emit_rows rows;
	size_t shown;

	merge_find_tables(&tables, merge, merge_shown_ranks(merge, options));
	out_text(out, "### GPU memory by rank\n\n");
	foreach (sentence, ROWS_IN(const char *const, tables.sentences)) {
		markdown_text(out, *sentence);
		out_text(out, "\n\n");
	}
	shown = devices_of(&tables, emit_limit(tables.ranks.count, options->limit)).count;
	ranks = ranks_table(&tables, &rows, tables.ranks.count);
	ranks.more = rows.count == tables.ranks.count ? "more ranks" : "more rows";
	rows.shown = shown;
	emit_markdown(out, &ranks);
	if (merge->order_n > 1)
		emit_markdown(out, &(struct emit_table){ .columns = merge_spread_columns,
							 .rows = &tables.spreads });
	markdown_sites(out, &tables, merge, options);
}
