#include "ledger/live.h"

#include <stddef.h>
#include <string.h>

#include "base/guest/hot.h"
#include "base/mem/hash.h"
#include "spool/txn.h"

static uint64_t hash(unsigned kind, uint32_t pool, uint64_t address)
{
	return hash_mix(address ^ (uint64_t)kind << 58, kind == NODE_BLOCK ? pool : 0);
}

static uint64_t node_hash(const struct spool_node *node)
{
	return hash(node->kind, node->pool, node->address);
}

/* The largest power of two that is not above the number of buckets. */
static uint64_t level(uint64_t buckets)
{
	return 1ull << (63 - __builtin_clzll(buckets));
}

static uint64_t bucket_of(const struct spool *spool, uint64_t h)
{
	uint64_t buckets = spool->header->live.buckets;
	uint64_t low = level(buckets);
	uint64_t at = h & (2 * low - 1);

	return at < buckets ? at : at - low;
}

static uint32_t *head(const struct spool *spool, uint64_t bucket)
{
	return spool_at(spool, SPOOL_BUCKET, bucket);
}

void live_start_anew(struct spool *spool)
{
	struct spool_header *header = spool->header;

	header->live.buckets = header->count[SPOOL_BUCKET] = LIVE_FIRST_BUCKETS;
	header->live.free = 0;
	memset(head(spool, 0), 0, LIVE_FIRST_BUCKETS * sizeof(uint32_t));
}

HOT_CODE uint32_t live_find(const struct spool *spool, enum node_kind kind, uint32_t pool,
			    uint64_t address)
{
	uint32_t id;

	if (!spool->header->live.buckets)
		return 0;
	id = *head(spool, bucket_of(spool, hash(kind, pool, address)));
	while (id) {
		const struct spool_node *node = live_node(spool, id);

		if (node->address == address && node->kind == kind &&
		    (kind != NODE_BLOCK || node->pool == pool))
			return id;
		id = node->next;
	}
	return 0;
}

/* Adds one bucket; about half of the chain of an older bucket moves into it. */
static void split(struct spool *spool)
{
	struct spool_live *live = &spool->header->live;
	uint64_t low = level(live->buckets);
	uint64_t fresh = live->buckets;
	uint32_t *from = head(spool, fresh - low);
	uint32_t *to = head(spool, fresh);
	uint32_t id = *from;

	txn_set64(spool, &live->buckets, fresh + 1);
	txn_set64(spool, &spool->header->count[SPOOL_BUCKET], fresh + 1);
	txn_set32(spool, to, 0);
	while (id) {
		struct spool_node *node = live_node(spool, id);
		uint32_t next = node->next;

		if ((node_hash(node) & (2 * low - 1)) == fresh) {
			txn_set32(spool, from, next);
			txn_set32(spool, &node->next, *to);
			txn_set32(spool, to, id);
		} else {
			from = &node->next;
		}
		id = next;
	}
}

static uint32_t take_free(struct spool *spool)
{
	struct spool_header *header = spool->header;
	uint32_t id = (uint32_t)header->live.free;

	if (id) {
		txn_set64(spool, &header->live.free, live_node(spool, id)->next);
		return id;
	}
	txn_set64(spool, &header->count[SPOOL_NODE], header->count[SPOOL_NODE] + 1);
	return (uint32_t)header->count[SPOOL_NODE];
}

void live_link(struct spool *spool, uint32_t id)
{
	struct spool_node *node = live_node(spool, id);
	uint32_t *chain = head(spool, bucket_of(spool, node_hash(node)));

	txn_set32(spool, &node->next, *chain);
	txn_set32(spool, chain, id);
}

static HOT_CODE void unlink_node(struct spool *spool, uint32_t id)
{
	const struct spool_node *node = live_node(spool, id);
	uint32_t *chain = head(spool, bucket_of(spool, node_hash(node)));

	while (*chain != id)
		chain = &live_node(spool, *chain)->next;
	txn_set32(spool, chain, node->next);
}

_Static_assert(offsetof(struct spool_node, device) % 8 == 0 &&
		       offsetof(struct spool_node, kind) / 8 ==
			       offsetof(struct spool_node, device) / 8 &&
		       offsetof(struct spool_node, mappings) + 2 ==
			       offsetof(struct spool_node, device) + 8,
	       "a node's device, kind, references and mappings must be in one 64-bit word");

HOT_CODE uint32_t live_insert(struct spool *spool, const struct spool_node *from)
{
	struct spool_live *live = &spool->header->live;
	uint32_t id = take_free(spool);
	struct spool_node *node = live_node(spool, id);

	/* Saves the whole node, which a rollback of this transaction must restore. */
	txn_keep_run(spool, node, sizeof(*node) / 8);
	*node = *from;
	live_link(spool, id);
	txn_add64(spool, &live->count, 1);
	if (live->count > live->buckets)
		split(spool);
	return id;
}

HOT_CODE void live_remove(struct spool *spool, uint32_t id)
{
	struct spool_live *live = &spool->header->live;
	struct spool_node *node = live_node(spool, id);

	unlink_node(spool, id);
	txn_keep_run(spool, &node->device, 1);
	node->kind = NODE_FREE;
	txn_set32(spool, &node->next, (uint32_t)live->free);
	txn_set64(spool, &live->free, id);
	txn_add64(spool, &live->count, (uint64_t)-1);
}

void live_recount(struct spool *spool, uint32_t id, int references, int mappings)
{
	struct spool_node *node = live_node(spool, id);
	uint16_t held = (uint16_t)(node->references + references);
	bool handle = node->kind == NODE_HANDLE || node->kind == NODE_HELD;
	uint8_t kind = !handle ? node->kind : held ? NODE_HANDLE : NODE_HELD;
	bool moves = kind != node->kind;

	if (moves)
		unlink_node(spool, id);
	txn_keep_run(spool, &node->device, 1);
	node->kind = kind;
	node->references = held;
	node->mappings = (uint16_t)(node->mappings + mappings);
	if (moves)
		live_link(spool, id);
}
