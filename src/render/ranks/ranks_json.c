/* The ranks as the document memtrace-merge/1 (include/memtrace/merge.schema.json). */
#include <math.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "facts/trace_rows.h"
#include "render/emit/emit.h"
#include "render/ranks/ranks.h"

enum { SENTENCES = 8 };

/* What a rank has of something. */
struct whose {
	uint64_t bytes, rank;
};

struct rank_row {
	struct merge_rank of;
	const char *exit;
	char exit_word[MERGE_WORD];
	struct emit_rows devices;
};

struct spread_row {
	const char *metric;
	struct merge_spread of;
	struct whose lowest, highest;
	double ratio;
};

struct card_row {
	uint64_t card;
	struct merge_card of;
	const int64_t *headroom; /* NULL: the card's size is not told */
	struct emit_rows ranks;
};

struct site_row {
	struct merge_site of;
	uint64_t line, ranks;
	struct site_column {
		int64_t median, highest;
		uint64_t rank;
	} columns[MERGE_COLUMNS];
};

struct first_row {
	uint64_t rank, card;
	const int64_t *headroom;
};

struct document {
	const char *schema;
	struct emit_rows sentences, missing, ranks, spreads, cards, sites;
	uint64_t world_size;
	bool numbered;
	struct first_row *first; /* NULL: no card tells its size */
};

/* --- columns --- */

static const struct emit_column text_value[] = { { .kind = EMIT_TEXT }, EMIT_END };
static const struct emit_column number_value[] = { { .kind = EMIT_NUMBER }, EMIT_END };
static const struct emit_column signed_value[] = { { .kind = EMIT_CHANGE }, EMIT_END };
static const struct emit_column peak_value[] = {
	{ .key = "peak_bytes", .kind = EMIT_BYTES },
	EMIT_END,
};

static const struct emit_column gap_columns[] = {
	EMIT_MEMBER("first", NUMBER, struct merge_gap, first),
	EMIT_MEMBER("last", NUMBER, struct merge_gap, last),
	EMIT_END,
};

static const struct emit_column device_columns[] = {
	EMIT_MEMBER("device", INTEGER, struct merge_device, device),
	EMIT_MEMBER("card", NUMBER, struct merge_device, card),
	EMIT_NESTED("allocated", OBJECT, struct merge_device, peaks[TRACE_ALLOCATED], peak_value),
	EMIT_NESTED("reserved", OBJECT, struct merge_device, peaks[TRACE_RESERVED], peak_value),
	EMIT_NESTED("used", OBJECT, struct merge_device, peaks[TRACE_USED], peak_value),
	EMIT_MEMBER("ooms", NUMBER, struct merge_device, ooms),
	EMIT_END,
};

static const struct emit_column rank_columns[] = {
	EMIT_MEMBER("rank", NUMBER, struct rank_row, of.rank),
	EMIT_MEMBER("local_rank", NUMBER, struct rank_row, of.local_rank),
	EMIT_MEMBER("trace", TEXT, struct rank_row, of.path),
	EMIT_MEMBER("host", TEXT, struct rank_row, of.host),
	EMIT_MEMBER("pid", NUMBER, struct rank_row, of.pid),
	EMIT_MEMBER("start_time", TEXT, struct rank_row, of.start_time),
	EMIT_MEMBER("duration_ns", TIME, struct rank_row, of.duration),
	EMIT_MEMBER("exit", TEXT, struct rank_row, exit),
	EMIT_MEMBER("ooms", NUMBER, struct rank_row, of.ooms),
	EMIT_LIST("devices", "", struct rank_row, devices, device_columns),
	EMIT_END,
};

static const struct emit_column whose_columns[] = {
	EMIT_MEMBER("bytes", BYTES, struct whose, bytes),
	EMIT_MEMBER("rank", NUMBER, struct whose, rank),
	EMIT_END,
};

static const struct emit_column spread_columns[] = {
	EMIT_MEMBER("metric", TEXT, struct spread_row, metric),
	EMIT_MEMBER("ranks", NUMBER, struct spread_row, of.count),
	EMIT_NESTED("lowest", OBJECT, struct spread_row, lowest, whose_columns),
	EMIT_MEMBER("median_bytes", BYTES, struct spread_row, of.median),
	EMIT_NESTED("highest", OBJECT, struct spread_row, highest, whose_columns),
	EMIT_MEMBER("ratio", RATIO, struct spread_row, ratio),
	EMIT_END,
};

static const struct emit_column card_columns[] = {
	EMIT_MEMBER("card", NUMBER, struct card_row, card),
	EMIT_MEMBER("host", TEXT, struct card_row, of.host),
	EMIT_MEMBER("uuid", TEXT, struct card_row, of.uuid),
	EMIT_MEMBER("name", TEXT, struct card_row, of.name),
	EMIT_MEMBER("total_bytes", BYTES, struct card_row, of.total),
	EMIT_MEMBER("peak_bytes", BYTES, struct card_row, of.peak),
	EMIT_NESTED("headroom_bytes", POINTED, struct card_row, headroom, signed_value),
	EMIT_MEMBER("ooms", NUMBER, struct card_row, of.ooms),
	EMIT_LIST("ranks", "", struct card_row, ranks, number_value),
	EMIT_END,
};

static const struct emit_column first_columns[] = {
	EMIT_MEMBER("rank", NUMBER, struct first_row, rank),
	EMIT_MEMBER("card", NUMBER, struct first_row, card),
	EMIT_NESTED("headroom_bytes", POINTED, struct first_row, headroom, signed_value),
	EMIT_END,
};

static const struct emit_column in_columns[] = {
	EMIT_MEMBER("median_bytes", CHANGE, struct site_column, median),
	EMIT_MEMBER("highest_bytes", CHANGE, struct site_column, highest),
	EMIT_MEMBER("rank", NUMBER, struct site_column, rank),
	EMIT_END,
};

static const struct emit_column site_columns[] = {
	EMIT_MEMBER("site", TEXT, struct site_row, of.name),
	EMIT_MEMBER("space", TEXT, struct site_row, of.group),
	EMIT_MEMBER("file", TEXT, struct site_row, of.file),
	EMIT_MEMBER("line", NUMBER, struct site_row, line),
	EMIT_MEMBER("ranks", NUMBER, struct site_row, ranks),
	EMIT_NESTED("allocated", OBJECT, struct site_row, columns[0], in_columns),
	EMIT_NESTED("reserved", OBJECT, struct site_row, columns[1], in_columns),
	EMIT_NESTED("exit", OBJECT, struct site_row, columns[2], in_columns),
	EMIT_END,
};

static const struct emit_column document_columns[] = {
	EMIT_MEMBER("schema", TEXT, struct document, schema),
	EMIT_LIST("\nsentences", "\n", struct document, sentences, text_value),
	EMIT_MEMBER("\nworld_size", NUMBER, struct document, world_size),
	EMIT_MEMBER("\nnumbered", TRUTH, struct document, numbered),
	EMIT_LIST("\nmissing", "", struct document, missing, gap_columns),
	EMIT_LIST("\nranks", "\n", struct document, ranks, rank_columns),
	EMIT_LIST("\nimbalance", "\n", struct document, spreads, spread_columns),
	EMIT_LIST("\ncards", "\n", struct document, cards, card_columns),
	EMIT_NESTED("\nfirst_to_die", POINTED, struct document, first, first_columns),
	EMIT_LIST("\nsites", "\n", struct document, sites, site_columns),
	EMIT_END,
};

/* --- rows --- */

/* A list without rows, with room for so many: false without memory. */
static bool make_rows(struct emit_rows *rows, struct merge *merge, size_t size, size_t most)
{
	*rows = (struct emit_rows){ arena_alloc(&merge->arena, (most + 1) * size), 0, SIZE_MAX,
				    size };
	return rows->rows;
}

static void *add_row(struct emit_rows *rows)
{
	return (char *)rows->rows + rows->count++ * rows->size;
}

static bool find_sentences(struct document *document, struct merge *merge)
{
	char sentence[MERGE_SENTENCE];

	if (!make_rows(&document->sentences, merge, sizeof(char *), SENTENCES))
		return false;
	while (merge_sentence(merge, document->sentences.count, sentence, sizeof(sentence))) {
		const char **text = add_row(&document->sentences);

		*text = arena_text(&merge->arena, sentence, strlen(sentence));
	}
	return true;
}

static bool find_ranks(struct document *document, struct merge *merge)
{
	if (!make_rows(&document->ranks, merge, sizeof(struct rank_row), merge->order_n))
		return false;
	for (size_t i = 0; i < merge->order_n; i++) {
		struct rank_row *row = add_row(&document->ranks);

		row->of = merge->ranks[merge->order[i]];
		if (row->of.start_time && !row->of.start_time[0])
			row->of.start_time = NULL;
		row->exit = merge_exit_word(row->exit_word, &row->of);
		row->devices = EMIT_ROWS_OF(row->of.devices, row->of.devices_n);
	}
	return true;
}

static bool find_spreads(struct document *document, struct merge *merge)
{
	if (!make_rows(&document->spreads, merge, sizeof(struct spread_row), TRACE_METRICS))
		return false;
	for (size_t metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *of = &merge->spreads[metric];

		if (!of->count)
			continue;
		*(struct spread_row *)add_row(&document->spreads) = (struct spread_row){
			.metric = rows_word(WORDS_METRICS, (int)metric),
			.of = *of,
			.lowest = { of->lowest, merge->ranks[of->lowest_rank].rank },
			.highest = { of->highest, merge->ranks[of->highest_rank].rank },
			.ratio = of->median ? (double)of->highest / (double)of->median : NAN,
		};
	}
	return true;
}

static const int64_t *headroom(const struct merge_card *card)
{
	return card->total == TRACE_NONE ? NULL : &card->headroom;
}

static bool find_users(struct emit_rows *users, struct merge *merge, size_t card)
{
	size_t devices = 0;

	for (size_t i = 0; i < merge->order_n; i++)
		devices += merge->ranks[merge->order[i]].devices_n;
	if (!make_rows(users, merge, sizeof(uint64_t), devices))
		return false;
	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		for (size_t k = 0; k < rank->devices_n; k++) {
			if (rank->devices[k].card == card)
				*(uint64_t *)add_row(users) = rank->rank;
		}
	}
	return true;
}

static bool find_cards(struct document *document, struct merge *merge)
{
	if (!make_rows(&document->cards, merge, sizeof(struct card_row), merge->cards_n))
		return false;
	for (size_t i = 0; i < merge->cards_n; i++) {
		struct card_row *row = add_row(&document->cards);

		row->card = i;
		row->of = merge->cards[i];
		row->headroom = headroom(&merge->cards[i]);
		if (!find_users(&row->ranks, merge, i))
			return false;
	}
	return true;
}

static bool find_sites(struct document *document, struct merge *merge, size_t most)
{
	size_t count = merge->sites_n;
	const struct merge_site **list = most ? merge_by_excess(merge, 0, &count) : NULL;

	if (most && count > most)
		count = most;
	if ((most && !list) || !make_rows(&document->sites, merge, sizeof(struct site_row), count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct merge_site *site = list ? list[i] : &merge->sites[i];
		struct site_row *row = add_row(&document->sites);

		row->of = *site;
		row->line = site->line;
		row->ranks = site->shares_n;
		for (size_t k = 0; k < MERGE_COLUMNS; k++)
			row->columns[k] = (struct site_column){ site->median[k], site->highest[k],
								merge->ranks[site->rank[k]].rank };
	}
	return true;
}

int merge_json(struct merge *merge, struct out *out, const struct merge_options *options)
{
	struct document document = {
		.schema = "memtrace-merge/1",
		.world_size = merge->world_size ? merge->world_size : TRACE_NONE,
		.numbered = merge->numbered,
		.missing = EMIT_ROWS_OF(merge->gaps, merge->gaps_n),
	};
	struct first_row first;

	if (merge->tightest != SIZE_MAX) {
		const struct merge_card *card = &merge->cards[merge->tightest];

		first = (struct first_row){ merge->ranks[card->fullest].rank, merge->tightest,
					    headroom(card) };
		document.first = &first;
	}
	if (!find_sentences(&document, merge) || !find_ranks(&document, merge) ||
	    !find_spreads(&document, merge) || !find_cards(&document, merge) ||
	    !find_sites(&document, merge, options->sites))
		return err("no memory left for so many ranks");
	emit_json(out, document_columns, &document);
	out_char(out, '\n');
	return 0;
}
