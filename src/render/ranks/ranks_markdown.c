/*
 * The ranks as a comment or a job's summary: the sentences and the ranks, the rest folded.
 *
 * A comment holds 65,536 characters on GitHub; rows stop well before that and are counted.
 */
#include <stdio.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "facts/trace_rows.h"
#include "render/emit/markdown.h"
#include "render/ranks/ranks.h"
#include "render/values/values.h"

enum { MOST = 48000 };

static bool has_room(const struct out *out)
{
	return out->written + out->used < MOST;
}

static void amount(struct out *out, uint64_t bytes)
{
	char number[SHOW_NUMBER];

	out_format(out, "%s | ", show_bytes(number, bytes));
}

static void rank_row(struct out *out, const struct merge *merge, const struct merge_rank *rank,
		     const struct merge_device *device)
{
	char word[MERGE_WORD];

	out_format(out, "| %s | ", merge_rank_word(word, rank));
	markdown_text(out, rank->host);
	if (device) {
		out_format(out, " | %d | ", device->device);
		for (size_t metric = 0; metric < TRACE_METRICS; metric++)
			amount(out, device->peaks[metric]);
		out_format(out, "%s | %llu", merge_headroom_word(word, &merge->cards[device->card]),
			   (unsigned long long)device->ooms);
	} else {
		out_text(out, " | - | - | - | - | - | -");
	}
	out_format(out, " | %s |\n", merge_exit_word(word, rank));
}

static int ranks(struct merge *merge, struct out *out, const struct merge_options *options)
{
	const size_t *list = merge_shown_ranks(merge, options);
	size_t most = merge_shown(options, merge->order_n);
	size_t shown = 0;

	if (!list)
		return err("no memory left");
	out_text(out,
		 "| rank | host | device | allocated | reserved | used | left | ooms | exit |\n"
		 "|--:|---|--:|--:|--:|--:|--:|--:|---|\n");
	for (; shown < most && has_room(out); shown++) {
		const struct merge_rank *rank = &merge->ranks[list[shown]];

		rank_row(out, merge, rank, rank->devices_n ? &rank->devices[0] : NULL);
		for (size_t i = 1; i < rank->devices_n; i++)
			rank_row(out, merge, rank, &rank->devices[i]);
	}
	out_char(out, '\n');
	if (shown < merge->order_n)
		out_format(out, "... and %zu more ranks\n\n", merge->order_n - shown);
	return 0;
}

static void spreads(const struct merge *merge, struct out *out)
{
	char words[3][MERGE_WORD];
	char numbers[3][SHOW_NUMBER];

	out_text(out, "| peaks over ranks | lowest | median | highest | highest / median |\n"
		      "|---|--:|--:|--:|--:|\n");
	for (size_t metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *spread = &merge->spreads[metric];

		if (!spread->count)
			continue;
		out_format(out, "| %s | %s (rank %s) | %s | %s (rank %s) | %s |\n",
			   rows_word(WORDS_METRICS, (int)metric),
			   show_bytes(numbers[0], spread->lowest),
			   merge_rank_word(words[0], &merge->ranks[spread->lowest_rank]),
			   show_bytes(numbers[1], spread->median),
			   show_bytes(numbers[2], spread->highest),
			   merge_rank_word(words[1], &merge->ranks[spread->highest_rank]),
			   merge_ratio_word(words[2], spread));
	}
	out_char(out, '\n');
}

static int sites(struct merge *merge, struct out *out, const struct merge_options *options)
{
	size_t count;
	const struct merge_site **list = merge_by_excess(merge, 0, &count);
	size_t most = merge_shown(options, count);
	size_t shown = 0;

	if (!list)
		return err("no memory left");
	if (!count || !has_room(out))
		return 0;
	out_format(out,
		   "<details><summary>%s: %zu %s</summary>\n\n"
		   "| above the median | median | highest | rank | site |\n"
		   "|--:|--:|--:|--:|---|\n",
		   run_columns[merge_columns[0]].what, count, count == 1 ? "site" : "sites");
	for (; shown < most && has_room(out); shown++) {
		const struct merge_site *site = list[shown];
		char word[MERGE_WORD];

		out_text(out, "| ");
		amount(out, (uint64_t)(site->highest[0] - site->median[0]));
		amount(out, (uint64_t)(site->median[0] < 0 ? 0 : site->median[0]));
		amount(out, (uint64_t)site->highest[0]);
		out_format(out, "%s | <code>", merge_rank_word(word, &merge->ranks[site->rank[0]]));
		markdown_text(out, site->name);
		out_text(out, "</code> |\n");
	}
	if (shown < count)
		out_format(out, "\n... and %zu more sites\n", count - shown);
	out_text(out, "\n</details>\n");
	return 0;
}

int merge_markdown(struct merge *merge, struct out *out, const struct merge_options *options)
{
	char sentence[MERGE_SENTENCE];
	int error;

	out_text(out, "### GPU memory by rank\n\n");
	for (size_t i = 0; merge_sentence(merge, i, sentence, sizeof(sentence)); i++) {
		markdown_text(out, sentence);
		out_text(out, "\n\n");
	}
	error = ranks(merge, out, options);
	if (error)
		return error;
	if (merge->order_n > 1)
		spreads(merge, out);
	return sites(merge, out, options);
}
