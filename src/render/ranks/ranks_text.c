/*
 * The ranks for people: sentences, then a table each of ranks, spreads, cards and sites.
 *
 * Rows that are left out are counted in a line of their own; which are shown are the highest.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "facts/trace_rows.h"
#include "render/emit/term.h"
#include "render/ranks/ranks.h"

enum { RANK = 5, HOST = 10, DEVICE = 3, BYTES = 10, OOMS = 4, EXIT = 10 };

struct text {
	struct merge *merge;
	struct show show;
	const struct merge_options *options;
};

static void right(const struct text *text, const char *cell, unsigned columns)
{
	show_right(&text->show, cell, columns);
	out_char(text->show.out, ' ');
}

static void left(const struct text *text, const char *cell, unsigned columns)
{
	show_left(&text->show, cell, columns);
	out_char(text->show.out, ' ');
}

static void last(const struct text *text, const char *cell, unsigned columns)
{
	char safe[SITE_LONGEST + 64];

	show_safe(safe, sizeof(safe), cell, text->options->full ? sizeof(safe) : columns);
	out_text(text->show.out, safe);
	out_char(text->show.out, '\n');
}

static void amount(const struct text *text, uint64_t bytes)
{
	char number[SHOW_NUMBER];

	right(text, show_bytes(number, bytes), BYTES);
}

static void more(const struct text *text, size_t count, const char *what)
{
	if (count)
		out_format(text->show.out, "... and %zu more %s (--limit 0)\n", count, what);
}

/* --- ranks --- */

static void device_cells(const struct text *text, const struct merge_device *device)
{
	const struct merge_card *card = &text->merge->cards[device->card];
	char word[MERGE_WORD];

	snprintf(word, sizeof(word), "%d", device->device);
	right(text, word, DEVICE);
	for (size_t metric = 0; metric < TRACE_METRICS; metric++)
		amount(text, device->peaks[metric]);
	right(text, merge_headroom_word(word, card), BYTES);
	snprintf(word, sizeof(word), "%llu", (unsigned long long)device->ooms);
	show_right(&text->show, word, OOMS);
}

static void rank_lines(const struct text *text, const struct merge_rank *rank)
{
	static const struct merge_device none = { .peaks = { TRACE_NONE, TRACE_NONE, TRACE_NONE } };
	char word[MERGE_WORD];

	right(text, merge_rank_word(word, rank), RANK);
	left(text, rank->host, HOST);
	if (rank->devices_n) {
		device_cells(text, &rank->devices[0]);
	} else {
		right(text, "-", DEVICE);
		for (size_t i = 0; i < TRACE_METRICS; i++)
			amount(text, none.peaks[i]);
		right(text, "-", BYTES);
		show_right(&text->show, "-", OOMS);
	}
	out_char(text->show.out, ' ');
	last(text, merge_exit_word(word, rank), EXIT);
	for (size_t i = 1; i < rank->devices_n; i++) {
		right(text, "", RANK);
		left(text, "", HOST);
		device_cells(text, &rank->devices[i]);
		out_char(text->show.out, '\n');
	}
	if (text->options->full) {
		out_format(text->show.out, "%*s", RANK + 1, "");
		last(text, rank->path, SHOW_COLUMNS);
	}
}

static int ranks(const struct text *text)
{
	const size_t *list = merge_shown_ranks(text->merge, text->options);
	size_t shown = merge_shown(text->options, text->merge->order_n);

	if (!list)
		return err("no memory left");
	show_heading(&text->show,
		     shown < text->merge->order_n ? "Ranks, the highest peaks first" : "Ranks");
	right(text, "rank", RANK);
	left(text, "host", HOST);
	right(text, "dev", DEVICE);
	for (size_t metric = 0; metric < TRACE_METRICS; metric++)
		right(text, rows_word(WORDS_METRICS, (int)metric), BYTES);
	right(text, "left", BYTES);
	right(text, "ooms", OOMS);
	last(text, "exit", EXIT);
	for (size_t i = 0; i < shown; i++)
		rank_lines(text, &text->merge->ranks[list[i]]);
	more(text, text->merge->order_n - shown, "ranks");
	return 0;
}

/* --- spreads --- */

static void of_rank(const struct text *text, uint64_t bytes, size_t rank)
{
	char cell[MERGE_WORD + SHOW_NUMBER + 16];
	char number[SHOW_NUMBER];
	char word[MERGE_WORD];

	snprintf(cell, sizeof(cell), "%s (rank %s)", show_bytes(number, bytes),
		 merge_rank_word(word, &text->merge->ranks[rank]));
	right(text, cell, 22);
}

static void spreads(const struct text *text)
{
	char word[MERGE_WORD];

	if (text->merge->order_n < 2)
		return;
	show_heading(&text->show, "Peaks over ranks");
	left(text, "", 9);
	right(text, "lowest", 22);
	right(text, "median", BYTES);
	right(text, "highest", 22);
	last(text, "ratio", 8);
	for (size_t metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *spread = &text->merge->spreads[metric];

		if (!spread->count)
			continue;
		left(text, rows_word(WORDS_METRICS, (int)metric), 9);
		of_rank(text, spread->lowest, spread->lowest_rank);
		amount(text, spread->median);
		of_rank(text, spread->highest, spread->highest_rank);
		last(text, merge_ratio_word(word, spread), 8);
	}
}

/* --- cards --- */

/* The first digits of a UUID tell the cards of a machine apart. */
static void card_cell(const struct text *text, const struct merge_card *card)
{
	char cell[SITE_LONGEST];

	snprintf(cell, sizeof(cell), "%.*s %.200s", text->options->full ? 200 : 12,
		 card->uuid ? card->uuid : "-", card->name ? card->name : "");
	last(text, cell, 24);
}

static int cards(const struct text *text)
{
	const struct merge_card **list = merge_by_headroom(text->merge);
	size_t count = text->merge->cards_n;
	size_t shown = merge_shown(text->options, count);

	if (!list)
		return err("no memory left");
	if (!count)
		return 0;
	show_heading(&text->show, "Cards, the least left first");
	right(text, "left", BYTES);
	right(text, "held", BYTES);
	right(text, "of", BYTES);
	left(text, "ranks", 11);
	left(text, "host", HOST);
	last(text, "card", 24);
	for (size_t i = 0; i < shown; i++) {
		const struct merge_card *card = list[i];
		char word[MERGE_WORD];

		right(text, merge_headroom_word(word, card), BYTES);
		amount(text, card->peak);
		amount(text, card->total);
		left(text, merge_users_word(word, text->merge, card), 11);
		left(text, card->host, HOST);
		card_cell(text, card);
	}
	more(text, count - shown, "cards");
	return 0;
}

/* --- sites --- */

static int sites(const struct text *text, size_t column, const char *heading)
{
	size_t count;
	const struct merge_site **list = merge_by_excess(text->merge, column, &count);
	size_t shown = merge_shown(text->options, count);

	if (!list)
		return err("no memory left");
	if (!count)
		return 0;
	show_heading(&text->show, heading);
	right(text, "above", BYTES);
	right(text, "median", BYTES);
	right(text, "highest", BYTES);
	right(text, "rank", RANK);
	last(text, "site", 40);
	for (size_t i = 0; i < shown; i++) {
		const struct merge_site *site = list[i];
		const struct merge_rank *rank = &text->merge->ranks[site->rank[column]];
		char word[MERGE_WORD];

		amount(text, (uint64_t)(site->highest[column] - site->median[column]));
		amount(text, (uint64_t)(site->median[column] < 0 ? 0 : site->median[column]));
		amount(text, (uint64_t)site->highest[column]);
		right(text, merge_rank_word(word, rank), RANK);
		last(text, site->name, 40);
	}
	more(text, count - shown, "sites");
	return 0;
}

int merge_text(struct merge *merge, struct out *out, const struct merge_options *options)
{
	const struct text text = { merge, { out, options->colour }, options };
	char sentence[MERGE_SENTENCE];
	int error;

	for (size_t i = 0; merge_sentence(merge, i, sentence, sizeof(sentence)); i++)
		show_wrapped(&text.show, sentence, 2, i == 0);
	error = ranks(&text);
	if (error)
		return error;
	spreads(&text);
	error = cards(&text);
	if (!error)
		error = sites(&text, 0,
			      "Sites at the peak of allocated memory, the highest rank against "
			      "the median");
	if (!error && options->full)
		error = sites(&text, 1, "Sites at the peak of reserved memory");
	if (!error && options->full)
		error = sites(&text, 2, "Sites live at exit");
	return error;
}
