/*
 * Live allocations by address: linear hashing in the spool, so that it grows by one bucket at a
 * time (no pause to rehash), survives the process, and changes few words a step.
 *
 * All functions that change it run inside a transaction; live_room() goes before.
 */
#pragma once

#include "spool/spool.h"

enum { LIVE_FIRST_BUCKETS = 256 };

/*
 * The first buckets with nothing in them, and no free nodes, whatever the chains are: live_link()
 * then enters nodes that are there. In a spool that has some buckets.
 */
void live_start_anew(struct spool *spool);
void live_link(struct spool *spool, uint32_t id);

/* Makes room for one more allocation. 0, or an error of spool_need(). */
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

/* 1 + the node, 0 if there is none. Blocks are told apart by pool as well; other kinds ignore it.
 */
uint32_t live_find(const struct spool *spool, enum node_kind kind, uint32_t pool, uint64_t address);

static inline struct spool_node *live_node(const struct spool *spool, uint32_t id)
{
	return spool_at(spool, SPOOL_NODE, id - 1);
}

/* Enters a copy of the node (its `next` is ignored): 1 + its index. */
uint32_t live_insert(struct spool *spool, const struct spool_node *node);

void live_remove(struct spool *spool, uint32_t id);

/*
 * Changes how often the node is referred to and mapped. A handle without references is held by its
 * mappings alone, NODE_HELD, and the reverse: it is filed under its kind.
 */
void live_recount(struct spool *spool, uint32_t id, int references, int mappings);

/* Is it a block of a stream-ordered pool? */
static inline bool live_is_ordered(const struct spool_node *node)
{
	return node->kind == NODE_ADDRESS && node->pool && !(node->flags & NODE_SEGMENT);
}
