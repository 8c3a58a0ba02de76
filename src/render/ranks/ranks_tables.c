/* The tables of memtrace merge: their columns, for JSON, text and Markdown, and their rows. */
#include "render/ranks/ranks.h"

#include <math.h>
#include <stdio.h>

#include "analyse/input/grow.h"
#include "render/emit/term.h"

enum {
	CARD_COLUMNS = 24,
	SITE_COLUMNS = 40,
};

struct whose {
	uint64_t bytes, rank;
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
	const char *left, *users, *name;
	struct emit_rows ranks;
};

struct site_row {
	struct merge_site of;
	const char *name;
	struct merge_column told; /* values of the column that text and Markdown show */
	int64_t above;
};

/* --- columns --- */

static const struct emit_column peak_value[] = { { .key = "peak_bytes", .kind = EMIT_BYTES },
						 EMIT_END };

static const struct emit_column gap_columns[] = {
	EMIT_FIELD(NUMBER, struct merge_gap, first),
	EMIT_FIELD(NUMBER, struct merge_gap, last),
	EMIT_END,
};

#define PEAK(name, metric)                                                                \
	EMIT_NESTED(name, OBJECT, struct merge_device_row, of.peaks[metric], peak_value), \
		EMIT_CELL(name, 11, BYTES, struct merge_device_row, of.peaks[metric])

const struct emit_column merge_device_columns[] = {
	EMIT_CELL("rank", 5, TEXT, struct merge_device_row, number),
	EMIT_CELL("host", -10, TEXT, struct merge_device_row, host, .gap = 1),
	EMIT_COLUMN("device", "dev", 4, DEVICE, struct merge_device_row, of.device,
		    .title = "device"),
	EMIT_OF(NUMBER, struct merge_device_row, card),
	PEAK("allocated", TRACE_ALLOCATED),
	PEAK("reserved", TRACE_RESERVED),
	PEAK("used", TRACE_USED),
	EMIT_CELL("free", 11, TEXT, struct merge_device_row, left),
	EMIT_COLUMN("ooms", "ooms", 5, NUMBER, struct merge_device_row, of.ooms),
	EMIT_CELL("exit", 0, TEXT, struct merge_device_row, exit, .gap = 1, .flags = EMIT_WHOLE),
	EMIT_END,
};

static const struct emit_column rank_columns[] = {
	EMIT_OF(NUMBER, struct merge_rank_row, rank),
	EMIT_OF(NUMBER, struct merge_rank_row, local_rank),
	EMIT_MEMBER("trace", TEXT, struct merge_rank_row, of.path),
	EMIT_OF(TEXT, struct merge_rank_row, host),
	EMIT_OF(NUMBER, struct merge_rank_row, pid),
	EMIT_OF(TEXT, struct merge_rank_row, start_time),
	EMIT_MEMBER("duration_ns", TIME, struct merge_rank_row, of.duration),
	EMIT_FIELD(TEXT, struct merge_rank_row, exit),
	EMIT_OF(NUMBER, struct merge_rank_row, ooms),
	EMIT_LIST("devices", "", struct merge_rank_row, devices, merge_device_columns),
	EMIT_END,
};

static const struct emit_column whose_columns[] = {
	EMIT_FIELD(BYTES, struct whose, bytes),
	EMIT_FIELD(NUMBER, struct whose, rank),
	EMIT_END,
};

static const char *show_whose(char *to, const struct whose *whose)
{
	if (whose->rank == TRACE_NONE)
		snprintf(to, EMIT_CELL_MOST, "%s (rank -)", SAY_BYTES(whose->bytes));
	else
		snprintf(to, EMIT_CELL_MOST, "%s (rank %llu)", SAY_BYTES(whose->bytes),
			 (unsigned long long)whose->rank);
	return to;
}

static const char *show_lowest(char *to, const void *row)
{
	return show_whose(to, &((const struct spread_row *)row)->lowest);
}

static const char *show_highest(char *to, const void *row)
{
	return show_whose(to, &((const struct spread_row *)row)->highest);
}

static const char *show_ratio(char *to, const void *row)
{
	snprintf(to, EMIT_CELL_MOST, "%.2fx", ((const struct spread_row *)row)->ratio);
	return isnan(((const struct spread_row *)row)->ratio) ? "-" : to;
}

const struct emit_column merge_spread_columns[] = {
	EMIT_COLUMN("metric", "", -9, TEXT, struct spread_row, metric,
		    .title = "peaks across ranks"),
	EMIT_MEMBER("ranks", NUMBER, struct spread_row, of.count),
	EMIT_NESTED("lowest", OBJECT, struct spread_row, lowest, whose_columns),
	EMIT_SHOWN("lowest", 23, BYTES, struct spread_row, lowest, show_lowest),
	EMIT_COLUMN("median_bytes", "median", 11, BYTES, struct spread_row, of.median),
	EMIT_NESTED("highest", OBJECT, struct spread_row, highest, whose_columns),
	EMIT_SHOWN("highest", 23, BYTES, struct spread_row, highest, show_highest),
	EMIT_COLUMN("ratio", "ratio", 6, RATIO, struct spread_row, ratio,
		    .title = "highest / median", .show = show_ratio),
	EMIT_END,
};

const struct emit_column merge_card_columns[] = {
	EMIT_FIELD(NUMBER, struct card_row, card),
	EMIT_OF(TEXT, struct card_row, host),
	EMIT_OF(TEXT, struct card_row, uuid),
	EMIT_OF(TEXT, struct card_row, name),
	EMIT_CELL("free", 10, TEXT, struct card_row, left),
	EMIT_CELL("held", 11, BYTES, struct card_row, of.peak),
	EMIT_COLUMN("total_bytes", "total", 11, BYTES, struct card_row, of.total),
	EMIT_MEMBER("peak_bytes", BYTES, struct card_row, of.peak),
	EMIT_MEMBER("headroom_bytes", CHANGE, struct card_row, of.headroom),
	EMIT_OF(NUMBER, struct card_row, ooms),
	EMIT_LIST("ranks", "", struct card_row, ranks, emit_numbers),
	EMIT_CELL("ranks", -11, TEXT, struct card_row, users, .gap = 1),
	EMIT_CELL("host", -10, TEXT, struct card_row, of.host, .gap = 1),
	EMIT_CELL("card", 0, TEXT, struct card_row, name, .gap = 1, .flags = EMIT_WHOLE),
	EMIT_END,
};

static const struct emit_column first_columns[] = {
	EMIT_FIELD(NUMBER, struct merge_first_row, rank),
	EMIT_FIELD(NUMBER, struct merge_first_row, card),
	EMIT_MEMBER("headroom_bytes", CHANGE, struct merge_first_row, headroom),
	EMIT_END,
};

static const struct emit_column in_columns[] = {
	EMIT_MEMBER("median_bytes", CHANGE, struct merge_column, median),
	EMIT_MEMBER("highest_bytes", CHANGE, struct merge_column, highest),
	EMIT_FIELD(NUMBER, struct merge_column, rank),
	EMIT_END,
};

const struct emit_column merge_site_columns[] = {
	EMIT_CELL("above", 10, BYTES, struct site_row, above, .title = "above the median"),
	EMIT_CELL("median", 11, BYTES, struct site_row, told.median),
	EMIT_CELL("highest", 11, BYTES, struct site_row, told.highest),
	EMIT_CELL("rank", 6, NUMBER, struct site_row, told.rank),
	EMIT_CELL("site", 0, CODE, struct site_row, name, .gap = 1, .flags = EMIT_WHOLE),
	EMIT_MEMBER("site", TEXT, struct site_row, of.name),
	EMIT_MEMBER("space", TEXT, struct site_row, of.group),
	EMIT_OF(TEXT, struct site_row, file),
	EMIT_OF(NUMBER, struct site_row, line),
	EMIT_MEMBER("ranks", NUMBER, struct site_row, of.shares_n),
	EMIT_NESTED("allocated", OBJECT, struct site_row, of.columns[0], in_columns),
	EMIT_NESTED("reserved", OBJECT, struct site_row, of.columns[1], in_columns),
	EMIT_NESTED("exit", OBJECT, struct site_row, of.columns[2], in_columns),
	EMIT_END,
};

const struct emit_column merge_document_columns[] = {
	EMIT_FIELD(TEXT, struct merge_tables, schema),
	EMIT_LIST("\nsentences", "\n", struct merge_tables, sentences, emit_texts),
	EMIT_MEMBER("\nworld_size", NUMBER, struct merge_tables, world_size),
	EMIT_MEMBER("\nnumbered", TRUTH, struct merge_tables, numbered),
	EMIT_LIST("\nmissing", "", struct merge_tables, missing, gap_columns),
	EMIT_LIST("\nranks", "\n", struct merge_tables, ranks, rank_columns),
	EMIT_LIST("\nimbalance", "\n", struct merge_tables, spreads, merge_spread_columns),
	EMIT_LIST("\ncards", "\n", struct merge_tables, cards, merge_card_columns),
	EMIT_NESTED("\nfirst_to_run_out", POINTED, struct merge_tables, first, first_columns),
	EMIT_LIST("\nsites", "\n", struct merge_tables, sites, merge_site_columns),
	EMIT_END,
};

/* --- the order of ranks --- */

const size_t *merge_shown_ranks(struct merge *merge, const struct merge_options *options)
{
	struct weighed {
		uint64_t peak, rank;
		size_t at;
	};
	static const struct sort_key by_peak[] = {
		SORT_DOWN(struct weighed, peak),
		SORT_UP(struct weighed, rank),
		SORT_UP(struct weighed, at),
		{ 0 },
	};
	struct weighed *rows = NEED_ROOM(&merge->arena, rows, merge->order_n);
	size_t *list = NEED_ROOM(&merge->arena, list, merge->order_n);

	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		rows[i] = (struct weighed){ trace_known(rank->peaks[TRACE_ALLOCATED]), rank->rank,
					    merge->order[i] };
	}
	if (emit_limit(merge->order_n, options->limit) < merge->order_n)
		sort_rows(rows, merge->order_n, sizeof(*rows), by_peak);
	for (size_t i = 0; i < merge->order_n; i++)
		list[i] = rows[i].at;
	return list;
}

/* --- rows --- */

static void add_row(struct merge *merge, struct emit_rows *rows, const void *row)
{
	emit_add(&merge->arena, rows, row);
}

/* Adds a row for each of the rank's devices; if it has none, one row, except in JSON. */
static void add_devices(struct merge_tables *tables, struct merge *merge,
			struct merge_rank_row *rank)
{
	static const struct merge_device none = {
		NO_DEVICE, 0, { TRACE_NONE, TRACE_NONE, TRACE_NONE }, TRACE_NONE, false
	};
	const struct merge_rank *of = &rank->of;

	for (size_t i = 0; i < of->devices_n || !i; i++) {
		bool blank = i && !tables->repeated;
		struct merge_device_row row = {
			.of = of->devices_n ? of->devices[i] : none,
			.number = blank ? "" : merge_rank_word(merge, of),
			.host = blank ? "" : of->host,
			.exit = blank ? "" : rank->exit,
			.left = "-",
			.path = tables->paths && i + 1 >= of->devices_n ? of->path : NULL,
		};

		if (of->devices_n) {
			row.left = merge_headroom_word(merge, &merge->cards[row.of.card]);
			add_row(merge, &rank->devices, &row);
		}
		add_row(merge, &tables->devices, &row);
	}
	rank->devices_end = tables->devices.count;
}

static void find_ranks(struct merge_tables *tables, struct merge *merge, const size_t *order)
{
	tables->ranks = EMIT_NONE_OF(struct merge_rank_row, SIZE_MAX);
	tables->devices = EMIT_NONE_OF(struct merge_device_row, SIZE_MAX);
	for (size_t i = 0; i < merge->order_n; i++) {
		struct merge_rank_row row = {
			.of = merge->ranks[order[i]],
			.devices = EMIT_NONE_OF(struct merge_device_row, SIZE_MAX),
		};

		if (row.of.start_time && !row.of.start_time[0])
			row.of.start_time = NULL;
		row.exit = merge_exit_word(merge, &row.of);
		add_devices(tables, merge, &row);
		add_row(merge, &tables->ranks, &row);
	}
}

static void find_spreads(struct merge_tables *tables, struct merge *merge)
{
	tables->spreads = EMIT_NONE_OF(struct spread_row, SIZE_MAX);
	for (size_t metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *of = &merge->spreads[metric];

		if (of->count)
			add_row(merge, &tables->spreads,
				&(struct spread_row){
					.metric = rows_word(WORDS_METRICS, (int)metric),
					.of = *of,
					.lowest = { of->lowest,
						    merge->ranks[of->lowest_rank].rank },
					.highest = { of->highest,
						     merge->ranks[of->highest_rank].rank },
					.ratio = of->median
							 ? (double)of->highest / (double)of->median
							 : NAN,
				});
	}
}

static struct emit_rows users_of(struct merge *merge, uint64_t card)
{
	struct emit_rows users = EMIT_NONE_OF(uint64_t, SIZE_MAX);

	foreach (at, merge->order) {
		const struct merge_rank *rank = &merge->ranks[*at];

		foreach (device, rank->devices) {
			if (device->card == card)
				add_row(merge, &users, &rank->rank);
		}
	}
	return users;
}

/* Returns a card's UUID, cut to 12 characters unless `whole` is true, and its name. */
static const char *card_name(struct merge *merge, const struct merge_card *card, bool whole)
{
	char safe[4 * SITE_LONGEST];

	show_safe(safe, sizeof(safe),
		  show_kept(&merge->arena, "%.*s %.200s", whole ? 200 : 12,
			    card->uuid ? card->uuid : "-", card->name ? card->name : ""),
		  whole ? SITE_LONGEST : CARD_COLUMNS);
	return show_kept(&merge->arena, "%s", safe);
}

static void find_cards(struct merge_tables *tables, struct merge *merge, bool sorted)
{
	const struct merge_card **list = sorted ? merge_by_headroom(merge) : NULL;

	tables->cards = EMIT_NONE_OF(struct card_row, SIZE_MAX);
	for (size_t i = 0; i < merge->cards_n; i++) {
		const struct merge_card *card = list ? list[i] : &merge->cards[i];
		uint64_t number = (uint64_t)(card - merge->cards);
		struct card_row row = {
			.card = number,
			.of = *card,
			.left = merge_headroom_word(merge, card),
			.users = merge_users_word(merge, card),
			.name = card_name(merge, card, tables->whole),
			.ranks = users_of(merge, number),
		};

		if (card->total == TRACE_NONE)
			row.of.headroom = INT64_MIN;
		add_row(merge, &tables->cards, &row);
	}
}

void merge_find_sites(struct merge_tables *tables, struct merge *merge,
		      const struct merge_site **list, size_t count, size_t column)
{
	tables->sites = EMIT_NONE_OF(struct site_row, SIZE_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct merge_site *site = list ? list[i] : &merge->sites[i];
		struct merge_column told = site->columns[column];
		int64_t above = told.highest - told.median;
		char name[4 * SITE_LONGEST];

		show_cut(name, sizeof(name), site->name,
			 tables->whole ? SITE_LONGEST : SITE_COLUMNS, SHOW_MIDDLE);
		told.median = told.median < 0 ? 0 : told.median;
		add_row(merge, &tables->sites,
			&(struct site_row){ *site, show_kept(&merge->arena, "%s", name), told,
					    above });
	}
}

void merge_find_tables(struct merge_tables *tables, struct merge *merge, const size_t *order)
{
	const char **sentences = merge_sentences(merge, &tables->sentences.count);

	tables->sentences = EMIT_ROWS_OF(sentences, tables->sentences.count);
	tables->schema = "memtrace-merge/1";
	tables->world_size = merge->world_size ? merge->world_size : TRACE_NONE;
	tables->numbered = merge->numbered;
	tables->missing = EMIT_ROWS_OF(merge->gaps, merge->gaps_n);
	if (merge->tightest != SIZE_MAX) {
		const struct merge_card *card = &merge->cards[merge->tightest];

		tables->tightest = (struct merge_first_row){ merge->ranks[card->fullest].rank,
							     merge->tightest, card->headroom };
		tables->first = &tables->tightest;
	}
	find_ranks(tables, merge, order);
	find_spreads(tables, merge);
	find_cards(tables, merge, order != merge->order);
}
