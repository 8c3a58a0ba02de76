/* The ranks as the document memtrace-merge/1 (include/memtrace/merge.schema.json). */
#include <stdlib.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "facts/trace_rows.h"
#include "render/emit/members.h"
#include "render/ranks/ranks.h"

static void sentences(struct out *out, const struct merge *merge)
{
	char sentence[MERGE_SENTENCE];

	out_text(out, ",\n\"sentences\":[");
	for (size_t i = 0; merge_sentence(merge, i, sentence, sizeof(sentence)); i++)
		member_text(out, i ? ",\n" : "\n", sentence);
	out_char(out, ']');
}

static void missing(struct out *out, const struct merge *merge)
{
	member_number(out,
		      ",\n\"world_size\":", merge->world_size ? merge->world_size : TRACE_NONE);
	out_text(out, merge->numbered ? ",\n\"numbered\":true" : ",\n\"numbered\":false");
	out_text(out, ",\n\"missing\":[");
	for (size_t i = 0; i < merge->gaps_n; i++) {
		member_number(out, i ? ",{\"first\":" : "{\"first\":", merge->gaps[i].first);
		member_number(out, ",\"last\":", merge->gaps[i].last);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void devices(struct out *out, const struct merge_rank *rank)
{
	out_text(out, ",\"devices\":[");
	for (size_t i = 0; i < rank->devices_n; i++) {
		const struct merge_device *device = &rank->devices[i];

		out_text(out, i ? ",{\"device\":" : "{\"device\":");
		out_i64(out, device->device);
		member_number(out, ",\"card\":", device->card);
		for (size_t metric = 0; metric < TRACE_METRICS; metric++) {
			out_format(out, ",\"%s\":", rows_word(WORDS_METRICS, (int)metric));
			member_number(out, "{\"peak_bytes\":", device->peaks[metric]);
			out_char(out, '}');
		}
		member_number(out, ",\"ooms\":", device->ooms);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void ranks(struct out *out, const struct merge *merge)
{
	char word[MERGE_WORD];

	out_text(out, ",\n\"ranks\":[");
	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		member_number(out, i ? ",\n{\"rank\":" : "\n{\"rank\":", rank->rank);
		member_number(out, ",\"local_rank\":", rank->local_rank);
		member_text(out, ",\"trace\":", rank->path);
		member_text(out, ",\"host\":", rank->host);
		member_number(out, ",\"pid\":", rank->pid);
		member_text(out, ",\"start_time\":", rank->start_time[0] ? rank->start_time : NULL);
		member_number(out, ",\"duration_ns\":", rank->duration);
		member_text(out, ",\"exit\":", merge_exit_word(word, rank));
		member_number(out, ",\"ooms\":", rank->ooms);
		devices(out, rank);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void ranked(struct out *out, const struct merge *merge, const char *key, uint64_t bytes,
		   size_t rank)
{
	out_text(out, key);
	member_number(out, "{\"bytes\":", bytes);
	member_number(out, ",\"rank\":", merge->ranks[rank].rank);
	out_char(out, '}');
}

static void spreads(struct out *out, const struct merge *merge)
{
	const char *comma = "\n";

	out_text(out, ",\n\"imbalance\":[");
	for (size_t metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *spread = &merge->spreads[metric];

		if (!spread->count)
			continue;
		out_text(out, comma);
		member_text(out, "{\"metric\":", rows_word(WORDS_METRICS, (int)metric));
		member_number(out, ",\"ranks\":", spread->count);
		ranked(out, merge, ",\"lowest\":", spread->lowest, spread->lowest_rank);
		member_number(out, ",\"median_bytes\":", spread->median);
		ranked(out, merge, ",\"highest\":", spread->highest, spread->highest_rank);
		if (spread->median)
			out_format(out, ",\"ratio\":%.6f",
				   (double)spread->highest / (double)spread->median);
		else
			out_text(out, ",\"ratio\":null");
		out_char(out, '}');
		comma = ",\n";
	}
	out_char(out, ']');
}

static void headroom(struct out *out, const struct merge_card *card)
{
	out_text(out, ",\"headroom_bytes\":");
	if (card->total == TRACE_NONE)
		out_text(out, "null");
	else
		out_i64(out, card->headroom);
}

static void users(struct out *out, const struct merge *merge, size_t card)
{
	const char *comma = "";

	out_text(out, ",\"ranks\":[");
	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		for (size_t k = 0; k < rank->devices_n; k++) {
			if (rank->devices[k].card != card)
				continue;
			member_number(out, comma, rank->rank);
			comma = ",";
		}
	}
	out_char(out, ']');
}

static void cards(struct out *out, const struct merge *merge)
{
	out_text(out, ",\n\"cards\":[");
	for (size_t i = 0; i < merge->cards_n; i++) {
		const struct merge_card *card = &merge->cards[i];

		member_number(out, i ? ",\n{\"card\":" : "\n{\"card\":", i);
		member_text(out, ",\"host\":", card->host);
		member_text(out, ",\"uuid\":", card->uuid);
		member_text(out, ",\"name\":", card->name);
		member_number(out, ",\"total_bytes\":", card->total);
		member_number(out, ",\"peak_bytes\":", card->peak);
		headroom(out, card);
		member_number(out, ",\"ooms\":", card->ooms);
		users(out, merge, i);
		out_char(out, '}');
	}
	out_text(out, "],\n\"first_to_die\":");
	if (merge->tightest == SIZE_MAX) {
		out_text(out, "null");
		return;
	}
	member_number(out, "{\"rank\":", merge->ranks[merge->cards[merge->tightest].fullest].rank);
	member_number(out, ",\"card\":", merge->tightest);
	headroom(out, &merge->cards[merge->tightest]);
	out_char(out, '}');
}

static void site_row(struct out *out, const struct merge *merge, const struct merge_site *site)
{
	member_text(out, "{\"site\":", site->name);
	member_text(out, ",\"space\":", site->group);
	member_text(out, ",\"file\":", site->file);
	member_number(out, ",\"line\":", site->line);
	member_number(out, ",\"ranks\":", site->shares_n);
	for (size_t k = 0; k < MERGE_COLUMNS; k++) {
		out_format(out, ",\"%s\":{\"median_bytes\":", run_columns[merge_columns[k]].key);
		out_i64(out, site->median[k]);
		out_text(out, ",\"highest_bytes\":");
		out_i64(out, site->highest[k]);
		member_number(out, ",\"rank\":", merge->ranks[site->rank[k]].rank);
		out_char(out, '}');
	}
	out_char(out, '}');
}

static void all_sites(struct out *out, const struct merge *merge)
{
	for (size_t i = 0; i < merge->sites_n; i++) {
		out_text(out, i ? ",\n" : "\n");
		site_row(out, merge, &merge->sites[i]);
	}
}

static int some_sites(struct out *out, struct merge *merge, size_t most)
{
	size_t count;
	const struct merge_site **list = merge_by_excess(merge, 0, &count);

	if (!list)
		return err("no memory left for so many sites");
	for (size_t i = 0; i < count && i < most; i++) {
		out_text(out, i ? ",\n" : "\n");
		site_row(out, merge, list[i]);
	}
	return 0;
}

int merge_json(struct merge *merge, struct out *out, const struct merge_options *options)
{
	int error = 0;

	out_text(out, "{\"schema\":\"memtrace-merge/1\"");
	sentences(out, merge);
	missing(out, merge);
	ranks(out, merge);
	spreads(out, merge);
	cards(out, merge);
	out_text(out, ",\n\"sites\":[");
	if (options->sites)
		error = some_sites(out, merge, options->sites);
	else
		all_sites(out, merge);
	out_text(out, "]}\n");
	return error;
}
