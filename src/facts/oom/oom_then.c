/* Who held what when an allocation failed, and what was free inside of pools. */
#include <errno.h>
#include <string.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/pages.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "facts/gaps.h"
#include "facts/oom/oom_parts.h"
#include "facts/sites.h"

static bool on_card(const struct oom *oom, int device, unsigned space)
{
	return device == oom->row->device && space_on_card(device, space);
}

static bool is_torch(const struct recording *recording, uint32_t pool)
{
	const char *name = spool_text(recording->spool, pool);

	return name && !strcmp(name, "torch");
}

/* --- what was allocated, by stack --- */

/* One more than there are stacks: the last is for what has none that is known. */
static struct trace_share *share_of(struct trace_share *shares, const struct recording *recording,
				    uint32_t stack)
{
	return &shares[stack < recording->stacks ? stack : recording->stacks];
}

static void add_blocks(struct trace_share *shares, const struct oom *oom,
		       const struct recording *recording, const struct census *census)
{
	for (uint32_t i = 0; i < census->blocks.used; i++) {
		const struct block *block = &census->blocks.list[i];
		struct trace_share *share = share_of(shares, recording, block->stack);

		if (block->state != BLOCK_LIVE || block->kind != BLOCK_HANDED || block->foreign ||
		    !on_card(oom, block->device, block->space))
			continue;
		share->bytes += block->size;
		share->count++;
	}
	for (unsigned i = 0; i < census->rests_n; i++) {
		const struct census_rest *rest = &census->rests[i];
		struct trace_share *share = share_of(shares, recording, rest->stack);

		if (rest->kind != BLOCK_HANDED || !on_card(oom, rest->device, rest->space))
			continue;
		share->bytes += rest->bytes;
		share->count += rest->count;
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct trace_share *x = a;
	const struct trace_share *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Keeps those that held something, largest first. */
static int keep_shares(struct oom *oom, struct recording *recording,
		       const struct trace_share *shares)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < recording->stacks; i++)
		oom->shares_n += shares[i].bytes != 0;
	oom->shares = arena_alloc(&recording->arena, (oom->shares_n + 1) * sizeof(*oom->shares));
	if (!oom->shares)
		return -ENOMEM;
	oom->shares_n = 0;
	for (uint32_t i = 0; i < recording->stacks; i++) {
		if (!shares[i].bytes)
			continue;
		oom->shares[oom->shares_n++] = (struct trace_share){
			.stack = i,
			.bytes = shares[i].bytes,
			.count = shares[i].count,
			.estimated_bytes = TRACE_NONE,
		};
		sum += shares[i].bytes;
	}
	/* Ends that were not recorded, events being off, are still live here: then nobody knows. */
	if (sum > oom->row->allocated) {
		oom->shares_n = 0;
		return 0;
	}
	oom->known = true;
	sort_rows(oom->shares, oom->shares_n, sizeof(*oom->shares), by_bytes);
	oom->unknown = oom->row->allocated > sum ? oom->row->allocated - sum : 0;
	return 0;
}

static int find_shares(struct oom *oom, struct recording *recording, const struct census *census)
{
	size_t bytes = ((size_t)recording->stacks + 1) * sizeof(struct trace_share);
	struct trace_share *shares = pages_grow(NULL, 0, bytes);
	int error;

	if (!shares)
		return -ENOMEM;
	add_blocks(shares, oom, recording, census);
	error = keep_shares(oom, recording, shares);
	pages_free(shares, bytes);
	return error;
}

/* --- by line --- */

static int by_weight(const void *a, const void *b)
{
	const struct oom_line *x = a;
	const struct oom_line *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void keep_lines(struct oom *oom, struct oom_line *lines, size_t count)
{
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

static int find_lines(struct oom *oom, struct recording *recording)
{
	struct oom_line *lines =
		arena_alloc(&recording->arena, (oom->shares_n + 1) * sizeof(*lines));
	struct map known = { NULL, 0 };
	size_t count = 0;
	bool room = lines != NULL;

	for (size_t i = 0; i < oom->shares_n && room; i++) {
		char text[SITE_LONGEST];
		uint64_t key;
		uint32_t at;

		recording_line(recording, oom->shares[i].stack, text, sizeof(text));
		key = hash_bytes(text, strlen(text));
		at = map_get(&known, key);
		if (!at) {
			lines[count].text = arena_text(&recording->arena, text, strlen(text));
			at = (uint32_t)++count;
			room = lines[at - 1].text && map_put(&known, key, at);
		}
		lines[at - 1].bytes += oom->shares[i].bytes;
		lines[at - 1].count += oom->shares[i].count;
	}
	map_clear(&known);
	if (room)
		keep_lines(oom, lines, count);
	return room ? 0 : -ENOMEM;
}

/* --- who held memory of the driver --- */

static int by_size(const void *a, const void *b)
{
	const struct oom_holder *x = a;
	const struct oom_holder *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

enum { HOLDERS = 256 };

static void add_holder(struct oom *oom, uint32_t name, bool pool, uint64_t bytes)
{
	size_t i = 0;

	while (i < oom->holders_n && (oom->holders[i].name != name || oom->holders[i].pool != pool))
		i++;
	if (i == HOLDERS)
		return;
	if (i == oom->holders_n)
		oom->holders[oom->holders_n++] = (struct oom_holder){ name, pool, 0 };
	oom->holders[i].bytes += bytes;
}

static uint32_t owner_of(const struct recording *recording, uint32_t stack)
{
	const struct spool_stack *row = recording_stack(recording, stack);

	return row ? row->owner : 0;
}

static int find_holders(struct oom *oom, struct recording *recording, const struct census *census)
{
	oom->holders = arena_alloc(&recording->arena, HOLDERS * sizeof(*oom->holders));
	if (!oom->holders)
		return -ENOMEM;
	for (uint32_t i = 0; i < census->blocks.used; i++) {
		const struct block *block = &census->blocks.list[i];

		if (block->state != BLOCK_LIVE || block->foreign ||
		    !on_card(oom, block->device, block->space))
			continue;
		if (block->kind == BLOCK_SEGMENT)
			add_holder(oom, block->pool, true, block->size);
		else if (block->kind == BLOCK_HANDED && !block->pool)
			add_holder(oom, owner_of(recording, block->stack), false, block->size);
	}
	for (unsigned i = 0; i < census->rests_n; i++) {
		const struct census_rest *rest = &census->rests[i];

		if (rest->kind == BLOCK_SEGMENT && on_card(oom, rest->device, rest->space))
			add_holder(oom, rest->pool, true, rest->bytes);
	}
	sort_rows(oom->holders, oom->holders_n, sizeof(*oom->holders), by_size);
	return 0;
}

/* The largest that is not PyTorch's pool, and who took the largest piece of all these. */
static void name_beside(struct oom *oom, struct recording *recording, const struct census *census)
{
	const struct block *largest = NULL;

	for (uint32_t i = 0; i < census->blocks.used; i++) {
		const struct block *block = &census->blocks.list[i];

		if (block->state == BLOCK_LIVE && block->kind == BLOCK_HANDED && !block->foreign &&
		    on_card(oom, block->device, block->space) &&
		    !is_torch(recording, block->pool) && (!largest || block->size > largest->size))
			largest = block;
	}
	if (largest)
		recording_line(recording, largest->stack, oom->facts.beside_line, OOM_WORDS);
	for (size_t i = 0; i < oom->holders_n; i++) {
		const struct oom_holder *holder = &oom->holders[i];
		const char *name = spool_text(recording->spool, holder->name);

		if (holder->pool && is_torch(recording, holder->name))
			continue;
		text_copy(oom->facts.beside_owner, OOM_WORDS, name ? name : "an unknown library");
		return;
	}
}

/* --- what was free --- */

static void add_pool(struct oom *oom, const struct recording *recording, const struct gaps *gaps,
		     size_t number)
{
	const struct gaps_pool *from = &gaps->pools[number];
	const char *name = spool_text(recording->spool, from->pool);
	struct trace_oom_pool *pool = &oom->pools[oom->pools_n++];

	*pool = (struct trace_oom_pool){
		.pool = name && name[0] ? name : "?",
		.reserved_bytes = from->reserved,
		.allocated_bytes = from->used + from->elsewhere,
		.largest_free_bytes = from->largest,
		.free_segments_bytes = from->whole,
		.gaps_bytes = from->gaps,
		.gaps = from->gaps_n,
	};
	for (size_t i = 0; i < gaps->segments_n; i++) {
		const struct gaps_segment *segment = &gaps->segments[i];

		if (segment->pool == number && segment->largest > pool->largest_free_bytes)
			pool->largest_free_bytes = segment->largest;
	}
}

/* What the segments say; the sums are PyTorch's own where it has told them. */
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

static int find_pools(struct oom *oom, struct recording *recording, const struct census *census)
{
	struct gaps gaps;
	int error = gaps_find(&gaps, &census->blocks);

	if (error)
		return error;
	oom->pools = arena_alloc(&recording->arena, (gaps.pools_n + 1) * sizeof(*oom->pools));
	for (size_t i = 0; oom->pools && i < gaps.pools_n; i++) {
		if (gaps.pools[i].device != oom->row->device)
			continue;
		add_pool(oom, recording, &gaps, i);
		if (is_torch(recording, gaps.pools[i].pool))
			tell_torch(&oom->facts, &oom->pools[oom->pools_n - 1]);
	}
	/* Set by a program, not by the environment: its segments are mapped. */
	for (size_t i = 0; oom->pools && i < gaps.segments_n; i++) {
		const struct gaps_pool *pool = &gaps.pools[gaps.segments[i].pool];

		oom->facts.expandable |= gaps.segments[i].mapped && is_torch(recording, pool->pool);
	}
	gaps_clear(&gaps);
	return oom->pools ? 0 : -ENOMEM;
}

int oom_then(struct oom *oom, struct recording *recording, const struct census *census)
{
	int error = find_shares(oom, recording, census);

	if (error || !oom->known)
		return error;
	oom->known = false; /* until all of it is */
	error = find_lines(oom, recording);
	if (!error)
		error = find_holders(oom, recording, census);
	if (!error)
		error = find_pools(oom, recording, census);
	if (error)
		return error;
	name_beside(oom, recording, census);
	oom->known = true;
	return 0;
}
