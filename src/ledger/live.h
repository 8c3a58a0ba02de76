/*
 * Live allocations by address: a hash table (linear hashing) in the spool, where it outlives the
 * process. It grows by one bucket at a time, so that no rehashing stops the program.
 *
 * All functions that change the table run inside a transaction, after live_room().
 */
#pragma once

#include "spool/spool.h"

enum { LIVE_FIRST_BUCKETS = 256 };

/* live_start_anew() makes the table empty without reading its chains, which may be damaged;
 * live_link() then adds existing nodes. The table must have a block of buckets. */
void live_start_anew(struct spool *spool);
void live_link(struct spool *spool, uint32_t id);

/* Makes room for one more allocation: 0, or an error of spool_need(). */
static inline int live_room(struct spool *spool)
{
	struct spool_header *header = spool->header;
	int error = spool_need(spool, SPOOL_NODE, header->count[SPOOL_NODE]);

	if (!error)
		error = spool_need(spool, SPOOL_BUCKET, header->live.buckets + LIVE_FIRST_BUCKETS);
	if (!error && !header->live.buckets)
		header->live.buckets = header->count[SPOOL_BUCKET] = LIVE_FIRST_BUCKETS;
	return error;
}

/* Returns 1 + the node's index, 0 if there is none. `pool` is compared only for a NODE_BLOCK. */
uint32_t live_find(const struct spool *spool, enum node_kind kind, uint32_t pool, uint64_t address);

static inline struct spool_node *live_node(const struct spool *spool, uint32_t id)
{
	return spool_at(spool, SPOOL_NODE, id - 1);
}

/* Adds a copy of the node (its `next` is ignored) and returns 1 + its index. */
uint32_t live_insert(struct spool *spool, const struct spool_node *node);

void live_remove(struct spool *spool, uint32_t id);

/*
 * Adds to the node's counts of references and mappings. A handle without references exists only as
 * long as it is mapped: its kind becomes NODE_HELD and, with a new reference, NODE_HANDLE again.
 * The node moves to the hash chain of its new kind.
 */
void live_recount(struct spool *spool, uint32_t id, int references, int mappings);

/* True for a block of a stream-ordered pool (cudaMallocAsync). */
static inline bool live_is_ordered(const struct spool_node *node)
{
	return node->kind == NODE_ADDRESS && node->pool && !(node->flags & NODE_SEGMENT);
}
