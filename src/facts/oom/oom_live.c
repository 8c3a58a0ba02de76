/* Finds the memory that was live when an allocation failed: by stack, line, holder and pool. */
#include <errno.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "facts/gaps.h"
#include "facts/oom/oom.h"
#include "facts/sites.h"

static bool is_torch(const struct spool_model *recording, uint32_t pool)
{
	return text_same(spool_text(recording->spool, pool), "torch");
}

/* --- allocated bytes by stack, and the largest block outside PyTorch --- */

enum { HOLDERS = 256 };

struct tally {
	struct trace_share *shares;  /* one for each stack; the last: bytes of unknown stacks */
	const struct block *largest; /* the largest block that is not PyTorch's */
};

static void add_holder(struct trace_oom *told, const char *name, bool pool, uint64_t bytes)
{
	size_t i = 0;

	while (i < told->holders_n &&
	       (told->holders[i].holder != name || told->holders[i].pool != pool))
		i++;
	if (i == HOLDERS)
		return;
	if (i == told->holders_n)
		told->holders[told->holders_n++] = (struct trace_oom_holder){ name, pool, 0 };
	told->holders[i].bytes += bytes;
}

static void add_block(struct tally *tally, const struct oom *oom,
		      const struct spool_model *recording, const struct block *block)
{
	const struct spool_stack *row = spool_model_stack(recording, block->stack);
	struct trace_share *share = &tally->shares[row ? block->stack : recording->stacks];

	if (block->state != BLOCK_LIVE || block->foreign || block->device != oom->row.device ||
	    !space_on_card(block->device, block->space))
		return;
	if (block->kind == BLOCK_SEGMENT)
		add_holder(oom->told, oom_name(recording, block->pool), true, block->size);
	if (block->kind != BLOCK_HANDED)
		return;
	share->bytes += block->size;
	share->count += block->ptr || block->size;
	if (!block->ptr)
		return;
	if (!block->pool)
		add_holder(oom->told, row ? oom_name(recording, row->owner) : NULL, false,
			   block->size);
	if (!is_torch(recording, block->pool) &&
	    (!tally->largest || block->size > tally->largest->size))
		tally->largest = block;
}

static int keep_shares(struct oom *oom, struct spool_model *recording,
		       const struct trace_share *shares)
{
	struct trace_oom *told = oom->told;
	uint64_t sum = 0;
	size_t count = 0;

	for (uint32_t i = 0; i < recording->stacks; i++) {
		count += shares[i].bytes != 0;
		sum += shares[i].bytes;
	}
	/* If frees were not recorded, the sum is too high, and it is not known what was live. */
	if (sum > oom->row.allocated)
		return 0;
	oom->known = true;
	told->unknown_bytes = oom->row.allocated - sum;
	told->stacks = spool_model_room(recording, count, sizeof(*told->stacks));
	for (uint32_t i = 0; told->stacks && i < recording->stacks; i++) {
		if (shares[i].bytes)
			told->stacks[told->stacks_n++] = (struct trace_share){
				.stack = i,
				.bytes = shares[i].bytes,
				.count = shares[i].count,
				.estimated_bytes = TRACE_NONE,
			};
	}
	shares_sort(told->stacks, told->stacks_n);
	return recording->error;
}

static int find_shares(struct oom *oom, struct spool_model *recording, const struct census *census)
{
	size_t bytes = ((size_t)recording->stacks + 1) * sizeof(struct trace_share);
	struct tally tally = { .shares = pages_grow(NULL, 0, bytes) };
	int error;

	oom->told->holders = spool_model_room(recording, HOLDERS, sizeof(*oom->told->holders));
	if (!tally.shares || !oom->told->holders)
		return -ENOMEM;
	for (uint32_t i = 0; i < census->lives.blocks.used; i++)
		add_block(&tally, oom, recording, &census->lives.blocks.list[i]);
	for (unsigned i = 0; i < census->rests_n; i++)
		add_block(&tally, oom, recording, &census->rests[i]);
	error = keep_shares(oom, recording, tally.shares);
	pages_free(tally.shares, bytes);
	if (!oom->known)
		oom->told->holders_n = 0;
	else if (tally.largest)
		spool_model_line(recording, tally.largest->stack, oom->facts.beside_line,
				 OOM_WORDS);
	return error;
}

static void keep_lines(struct oom *oom, struct oom_line *lines, size_t count)
{
	static const struct sort_key by_weight[] = {
		SORT_DOWN(struct oom_line, bytes),
		SORT_TEXT(struct oom_line, text),
		{ 0 },
	};

	sort_rows(lines, count, sizeof(*lines), by_weight);
	for (size_t i = 0; i < count; i++) {
		if (oom->lines_n < OOM_LINES) {
			oom->lines[oom->lines_n++] = lines[i];
		} else {
			oom->more_lines++;
			oom->more_bytes += lines[i].bytes;
		}
	}
	if (!count)
		return;
	oom->facts.top = lines[0].bytes;
	text_copy(oom->facts.top_line, OOM_WORDS, lines[0].text);
}

static int find_lines(struct oom *oom, struct spool_model *recording)
{
	static const struct sort_key by_text[] = { SORT_TEXT(struct oom_line, text), { 0 } };
	const struct trace_oom *told = oom->told;
	struct oom_line *lines = spool_model_room(recording, told->stacks_n, sizeof(*lines));
	size_t count = 0;

	for (size_t i = 0; lines && i < told->stacks_n; i++) {
		char text[SITE_LONGEST];

		spool_model_line(recording, told->stacks[i].stack, text, sizeof(text));
		lines[i] = (struct oom_line){ spool_model_text(recording, text),
					      told->stacks[i].bytes };
	}
	if (!lines || recording->error)
		return -ENOMEM;
	sort_rows(lines, told->stacks_n, sizeof(*lines), by_text);
	for (size_t i = 0; i < told->stacks_n; i++) {
		if (count && !strcmp(lines[count - 1].text, lines[i].text))
			lines[count - 1].bytes += lines[i].bytes;
		else
			lines[count++] = lines[i];
	}
	keep_lines(oom, lines, count);
	return 0;
}

/* --- the libraries and pools that hold the driver's memory --- */

/* Sorts the holders. The fact beside_owner becomes the name of the largest except PyTorch's
 * pool. */
static void sort_holders(struct oom *oom)
{
	/* Holders of equal size are sorted by where the spool has their names: a fixed order. */
	static const struct sort_key by_size[] = {
		SORT_DOWN(struct trace_oom_holder, bytes),
		SORT_UP(struct trace_oom_holder, holder),
		{ 0 },
	};
	struct trace_oom *told = oom->told;

	sort_rows(told->holders, told->holders_n, sizeof(*told->holders), by_size);
	for (size_t i = 0; i < told->holders_n; i++) {
		const struct trace_oom_holder *holder = &told->holders[i];

		if (holder->pool && text_same(holder->holder, "torch"))
			continue;
		text_copy(oom->facts.beside_owner, OOM_WORDS,
			  holder->holder ? holder->holder : "an unknown library");
		return;
	}
}

/* --- free memory in the segments of pools --- */

static void add_pool(struct trace_oom *told, const struct spool_model *recording,
		     const struct census *census, const struct gaps *gaps, size_t number)
{
	const struct gaps_pool *from = &gaps->pools[number];
	const char *name = oom_name(recording, from->pool);
	struct trace_oom_pool *pool = &told->pools[told->pools_n++];

	*pool = (struct trace_oom_pool){
		.pool = name ? name : "?",
		.reserved_bytes = from->reserved,
		.allocated_bytes = from->used + from->elsewhere,
		.largest_free_bytes = from->largest,
		.free_segments_bytes = from->whole,
		.gaps_bytes = from->gaps,
		.gaps = from->gaps_n,
	};
	/* A stream-ordered pool has no segments, only a number of bytes that it reserved. */
	for (unsigned i = 0; i < census->rests_n; i++) {
		const struct block *rest = &census->rests[i];

		if (rest->pool == from->pool && rest->device == from->device &&
		    rest->kind == BLOCK_SEGMENT)
			pool->reserved_bytes += rest->size;
	}
	for (size_t i = 0; i < gaps->segments_n; i++) {
		const struct gaps_segment *segment = &gaps->segments[i];

		if (segment->pool == number && segment->largest > pool->largest_free_bytes)
			pool->largest_free_bytes = segment->largest;
	}
}

/* Sets the facts about PyTorch's pool. Sums that PyTorch itself reported are not changed. */
static void tell_torch(struct oom_facts *facts, const struct trace_oom_pool *pool)
{
	facts->whole = pool->free_segments_bytes;
	facts->gaps = pool->gaps_bytes;
	facts->largest = pool->largest_free_bytes;
	if (facts->torch)
		return;
	facts->pooled = pool->reserved_bytes;
	facts->cached = pool->reserved_bytes > pool->allocated_bytes
				? pool->reserved_bytes - pool->allocated_bytes
				: 0;
}

static int find_pools(struct oom *oom, struct spool_model *recording, const struct census *census)
{
	struct trace_oom *told = oom->told;
	struct gaps gaps;
	int error = gaps_find(&gaps, &census->lives.blocks);

	if (error)
		return error;
	told->pools = spool_model_room(recording, gaps.pools_n, sizeof(*told->pools));
	for (size_t i = 0; told->pools && i < gaps.pools_n; i++) {
		if (gaps.pools[i].device != oom->row.device)
			continue;
		add_pool(told, recording, census, &gaps, i);
		if (is_torch(recording, gaps.pools[i].pool))
			tell_torch(&oom->facts, &told->pools[told->pools_n - 1]);
	}
	/* Mapped segments show that expandable_segments is on, even if no variable set it. */
	for (size_t i = 0; told->pools && i < gaps.segments_n; i++) {
		const struct gaps_pool *pool = &gaps.pools[gaps.segments[i].pool];

		oom->facts.expandable |= gaps.segments[i].mapped && is_torch(recording, pool->pool);
	}
	gaps_clear(&gaps);
	return told->pools ? 0 : -ENOMEM;
}

int oom_then(struct oom *oom, struct spool_model *recording, const struct census *census)
{
	int error = find_shares(oom, recording, census);

	if (!error && oom->known)
		error = find_lines(oom, recording);
	if (!error && oom->known)
		error = find_pools(oom, recording, census);
	if (!error && oom->known)
		sort_holders(oom);
	return error;
}
