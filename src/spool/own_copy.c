/*
 * Copies a process's own spool, in the state that it has between two transactions.
 *
 * Rows of tables that only grow never change once they are written, and chunks of events seldom do.
 * So only the first copy takes everything: a later one takes only what may have changed since.
 */
#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "base/mem/arena.h"
#include "spool/spool.h"

static int make_room(struct spool *copy, uint64_t blocks)
{
	size_t size = (size_t)blocks << SPOOL_BLOCK_SHIFT;
	char *base;

	if (size <= copy->reserved)
		return 0;
	base = pages_grow(copy->base, copy->reserved, size);
	if (!base)
		return -ENOMEM;
	copy->base = base;
	copy->header = (struct spool_header *)base;
	copy->reserved = size;
	return 0;
}

static void copy_rows(const struct spool *copy, const struct spool *of, enum spool_kind kind,
		      uint64_t from)
{
	uint64_t count = spool_count(copy, kind);
	uint64_t per_block = spool_per_block(kind);

	for (uint64_t end; from < count; from = end) {
		end = MIN(count, (from / per_block + 1) * per_block);
		memcpy(spool_at(copy, kind, from), spool_at(of, kind, from),
		       (end - from) << spool_shift[kind]);
	}
}

/*
 * Copies the chunks that may have changed since the last copy, when there were `seq` events. A
 * chunk with the same number of events may have changed too: journal_rewind() may have replaced its
 * last events.
 */
static void copy_chunks(const struct spool *copy, const struct spool *of, uint64_t seq)
{
	for (uint64_t i = 0; i < spool_count(copy, SPOOL_CHUNK); i++) {
		struct spool_chunk *had = spool_at(copy, SPOOL_CHUNK, i);
		const struct spool_chunk *now = spool_at(of, SPOOL_CHUNK, i);

		if (had->first_seq != now->first_seq || had->used != now->used ||
		    had->first_seq + had->events + SPOOL_UNDO >= seq)
			memcpy(had, now, SPOOL_BLOCK);
	}
}

int spool_snapshot(struct spool *copy, const struct spool *of)
{
	const uint64_t generation = atomic_load(&of->header->generation);
	uint64_t had[SPOOL_KINDS];
	uint64_t seq;
	int error = make_room(copy, SPOOL_FIRST_BLOCK);

	if (error)
		return error;
	seq = copy->header->seq;
	memcpy(had, copy->header->count, sizeof(had));
	memcpy(copy->blocks, of->blocks, sizeof(copy->blocks));
	memcpy(copy->used, of->used, sizeof(copy->used));
	/* The header is copied first, so that blocks copied later hold all rows that it counts. */
	memcpy(copy->header, of->header, sizeof(*copy->header));
	error = make_room(copy, __atomic_load_n(&of->header->blocks, __ATOMIC_ACQUIRE));
	if (error)
		return error;
	copy_chunks(copy, of, seq);
	for (enum spool_kind kind = SPOOL_CHUNK + 1; kind < SPOOL_KINDS; kind++)
		copy_rows(copy, of, kind, spool_only_grows(kind) ? had[kind] : 0);
	atomic_thread_fence(memory_order_acquire);
	return generation & 1 || atomic_load(&of->header->generation) != generation;
}
