/*
 * Transactions: words of the spool that change together, or not at all if the process is killed.
 *
 * Between txn_begin() and txn_commit(), every change of an existing word is made by txn_set64() or
 * txn_set32(), or follows txn_keep_run(): they save the old value first, in about 2 ns per word.
 */
#pragma once

#include <string.h>

#include "base/guest/debug_checks.h"
#include "base/guest/hot.h"
#include "spool/spool.h"

/* may_alias: a 64-bit word that is saved may hold several fields of other types. */
typedef uint64_t __attribute__((may_alias)) txn_word;
typedef uint32_t __attribute__((may_alias)) txn_half;

/* A number that each txn_begin() and txn_commit() raises by one: odd inside a transaction. */
static inline uint64_t txn_generation(const struct spool *spool)
{
	return atomic_load_explicit(&spool->header->generation, memory_order_relaxed);
}

static inline void txn_begin(struct spool *spool)
{
	struct spool_header *header = spool->header;
	uint64_t generation = txn_generation(spool);

	header->undo_count = 0;
	atomic_store_explicit(&header->generation, generation | 1, memory_order_release);
	atomic_thread_fence(memory_order_release);
}

static inline void txn_commit(struct spool *spool)
{
	atomic_store_explicit(&spool->header->generation, (txn_generation(spool) | 1) + 1,
			      memory_order_release);
}

/* Called if `undo` has no room for words to save: an undo will not restore their old values. */
static __attribute__((noinline, cold, unused)) void txn_full(struct spool *spool, size_t words)
{
	spool->header->unkept += words;
	watch_same(false, "the number of words that a transaction changes");
}

static INLINED void txn_save(const struct spool *spool, struct spool_undo_word *undo,
			     const txn_word *from, size_t words)
{
	uint64_t where = (uint64_t)((const char *)from - spool->base);

#pragma GCC unroll 4
	for (size_t i = 0; i < words; i++)
		undo[i] = (struct spool_undo_word){ .where = where + 8 * i, .old = from[i] };
}

/*
 * Saves two runs of neighbouring words, which the caller may then change. Saving many at once is
 * cheaper, because each call loads and stores the count of saved words. A kill stops the process
 * between two instructions, so the fences only need to order the compiler's stores.
 */
static INLINED void txn_keep_runs(struct spool *spool, const void *first, size_t first_n,
				  const void *second, size_t second_n)
{
	struct spool_header *header = spool->header;
	uint64_t at = header->undo_count;
	size_t words = first_n + second_n;

	if (__builtin_expect(at + words > SPOOL_UNDO, 0)) {
		txn_full(spool, words);
		return;
	}
	txn_save(spool, header->undo + at, first, first_n);
	txn_save(spool, header->undo + at + first_n, second, second_n);
	atomic_signal_fence(memory_order_seq_cst);
	header->undo_count = at + words;
	atomic_signal_fence(memory_order_seq_cst);
}

static INLINED void txn_keep_run(struct spool *spool, const void *from, size_t words)
{
	txn_keep_runs(spool, from, words, NULL, 0);
}

static inline void txn_set64(struct spool *spool, txn_word *word, uint64_t value)
{
	txn_keep_run(spool, word, 1);
	*word = value;
}

/* Sets a 32-bit word; the 64-bit word around it is saved. */
static inline void txn_set32(struct spool *spool, txn_half *word, uint32_t value)
{
	txn_keep_run(spool, (const void *)((uintptr_t)word & ~(uintptr_t)7), 1);
	*word = value;
}

static inline void txn_add64(struct spool *spool, txn_word *word, uint64_t value)
{
	txn_set64(spool, word, *word + value);
}

/*
 * Begins a transaction that first undoes the last one, which must have been committed with nothing
 * changed since. If the process is killed before the commit, the last transaction stays valid.
 * Returns false, and begins nothing, if there is no room to save the words of both.
 */
static inline bool txn_begin_over(struct spool *spool)
{
	struct spool_header *header = spool->header;
	uint64_t count = header->undo_count;
	struct spool_undo_word *old = header->undo + (SPOOL_UNDO - count);

	if (count > SPOOL_UNDO / 4)
		return false;
	memcpy(old, header->undo, count * sizeof(*old));
	txn_begin(spool);
	while (count--)
		txn_set64(spool, (txn_word *)(spool->base + old[count].where), old[count].old);
	return true;
}

/* Undoes an unfinished transaction whose thread or process has ended. In a copy of a damaged file
 * the saved positions may have any value; positions outside of the spool are ignored. */
static inline void txn_cancel(struct spool *spool)
{
	struct spool_header *header = spool->header;

	if (!(atomic_load(&header->generation) & 1))
		return;
	for (uint64_t i = header->undo_count; i--;) {
		const struct spool_undo_word *word = &header->undo[i];

		if (word->where <= spool->reserved - 8)
			memcpy(spool->base + word->where, &word->old, 8);
	}
	txn_commit(spool);
}
