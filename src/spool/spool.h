/*
 * A spool in memory: its tables by index. The traced program writes it, and any process may read
 * it.
 *
 * Writers are serialised by the caller (by one lock in the traced program). Functions that can fail
 * return 0 or -errno. Layout and crash consistency: layout.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "codec/event.h"
#include "spool/layout.h"

enum { SPOOL_CAUGHT = 2 * SPOOL_WAITING };

struct spool {
	char *base; /* NULL when there is none */
	struct spool_header *header;
	uint32_t *blocks[SPOOL_KINDS]; /* table -> block numbers; SPOOL_BLOCKS entries reserved each
					*/
	uint32_t used[SPOOL_KINDS];    /* the number of blocks in each list */
	size_t reserved;               /* bytes of address space from base on */
	uint64_t file_blocks;          /* blocks that the file has and that are mapped */
	bool sealed;                   /* by spool_seal() */
	bool cut;                      /* by spool_open(): an update under way was taken back */
	bool torn;                     /* by spool_open(): it was written while it was copied, */
	uint64_t torn_events, torn_ns; /* with this many events, over this long */
	uint32_t caught_n;             /* events that the reader has booked (ledger/pending.h): */
	struct event caught[SPOOL_CAUGHT]; /* the newest, after all that the chunks hold */
	uint64_t device, inode;            /* of the file, to know it again */
	char path[4096];
};

/* In the header, so that the compiler knows the shift of each table. */
static const uint8_t spool_shift[SPOOL_KINDS] = {
#define TABLE(kind, type, shift, what) shift,
#include "spool/tables.def"
#undef TABLE
};

/* Elements of a table in one block. */
static inline uint64_t spool_per_block(enum spool_kind kind)
{
	return (uint64_t)SPOOL_BLOCK >> spool_shift[kind];
}

/* The element, which must lie in a block that the table has (see spool_need). */
static inline void *spool_at(const struct spool *spool, enum spool_kind kind, uint64_t index)
{
	unsigned per_block = SPOOL_BLOCK_SHIFT - spool_shift[kind];
	uint64_t block = spool->blocks[kind][index >> per_block];
	uint64_t inside = (index & ((1u << per_block) - 1)) << spool_shift[kind];

	return spool->base + (block << SPOOL_BLOCK_SHIFT) + inside;
}

static inline uint64_t spool_count(const struct spool *spool, enum spool_kind kind)
{
	return spool->header->count[kind];
}

/* True for tables whose rows never change once they are written. */
static inline bool spool_only_grows(enum spool_kind kind)
{
	return kind >= SPOOL_TEXT && kind <= SPOOL_STEP;
}

/* Counts rows written after the last one: they exist from now on. Outside of transactions. */
static inline void spool_add_rows(struct spool *spool, enum spool_kind kind, uint64_t rows)
{
	__atomic_store_n(&spool->header->count[kind], spool_count(spool, kind) + rows,
			 __ATOMIC_RELEASE);
}

/* The text with the id, NULL for 0 or an id outside of the table. Texts never change. */
static inline const char *spool_text(const struct spool *spool, uint32_t id)
{
	return id && id < spool_count(spool, SPOOL_TEXT) ? spool_at(spool, SPOOL_TEXT, id) : NULL;
}

/* Creates the file, with mode 0600 and never over an existing one (-EEXIST). Its space is claimed
 * before it is touched, so a full disk is an error here and no SIGBUS later. */
int spool_create(struct spool *spool, const char *path);

/* Marks the file as a spool for its readers, once the tables' first elements are there. */
void spool_publish(struct spool *spool);

/* Makes sure that the table has a block for the element: 0, or -ENOSPC, -EDQUOT, -EFBIG, -ESTALE
 * (the file has vanished), -ENOMEM. spool_stop_reason() translates the error. */
int spool_extend(struct spool *spool, enum spool_kind kind, uint64_t blocks);

static inline int spool_need(struct spool *spool, enum spool_kind kind, uint64_t index)
{
	uint64_t wanted = (index >> (SPOOL_BLOCK_SHIFT - spool_shift[kind])) + 1;

	return __builtin_expect(spool->used[kind] >= wanted, 1) ? 0
								: spool_extend(spool, kind, wanted);
}

/* From here on no table grows or gets a row: spool_need() returns -ECANCELED. For the writer's own
 * reading, beside threads that have not noticed the end yet. */
void spool_seal(struct spool *spool);

enum spool_stop spool_stop_reason(int error);

/*
 * Copies the tables of the process's own spool into memory of their own, which each call brings up
 * to date (all zeros at first; pages_free(copy->base, copy->reserved) ends it). 0; 1 if an update
 * came in between, so that it must be called again, perhaps with the writer's lock held; or
 * -ENOMEM.
 */
int spool_snapshot(struct spool *copy, const struct spool *of);

/* For a forked child whose parent was in the middle of writing, so that the child goes on there:
 * maps the tables as a copy that reaches no file and does not grow. 0 or -errno. */
int spool_copy_in_child(struct spool *spool);

/*
 * Reserves lists of blocks, and addresses for `most` blocks, so that the spool grows without
 * moving; for fewer where `ulimit -v` forbids as many. 0 or -ENOMEM. spool_close() gives them back,
 * also after an error.
 */
int spool_reserve(struct spool *spool, uint64_t most);

/* spool_close() drops the mapping; the file stays. In a forked child the mapping is already gone,
 * and spool_forget() does the rest. */
void spool_close(struct spool *spool);
void spool_forget(struct spool *spool);
int spool_unlink(struct spool *spool);

/* The start time of a process, which together with its pid is unique as long as the machine runs:
 * field 22 of /proc/PID/stat, in clock ticks since boot. 0 when there is no such process, or it is
 * a zombie. */
uint64_t process_start_ticks(int pid);

/* A number for this boot of this machine and this pid namespace, within which pids and start times
 * are unique; 0 where /proc does not give it. */
uint64_t process_place(void);
