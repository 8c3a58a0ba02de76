/*
 * A spool in memory: its tables by index, written by the traced program, read by anybody.
 *
 * Writers serialise themselves (one lock in the traced program). Functions that can fail return 0
 * or -errno. Layout and crash consistency: layout.h.
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
	uint32_t used[SPOOL_KINDS];    /* how many of them */
	size_t reserved;               /* bytes of address space behind base */
	uint64_t file_blocks;          /* blocks that the file has and the mapping shows */
	bool sealed;                   /* of spool_seal() */
	bool cut;                      /* of spool_open(): an update under way was taken back */
	bool torn;                     /* of spool_open(): written while it was copied, */
	uint64_t torn_events, torn_ns; /* which so many events and so much time went into */
	uint32_t caught_n;             /* events that its reader has booked (ledger/pending.h): */
	struct event caught[SPOOL_CAUGHT]; /* the newest, after all that the chunks hold */
	uint64_t device, inode;            /* of the file, to know it again */
	char path[4096];
};

/* Here, so that a table known by name has a known shift. */
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

/* Do the table's rows stay as they are once they are there? */
static inline bool spool_only_grows(enum spool_kind kind)
{
	return kind >= SPOOL_TEXT && kind <= SPOOL_STEP;
}

/* Rows after the last one are whole: from now on they are there. Outside of transactions. */
static inline void spool_add_rows(struct spool *spool, enum spool_kind kind, uint64_t rows)
{
	__atomic_store_n(&spool->header->count[kind], spool_count(spool, kind) + rows,
			 __ATOMIC_RELEASE);
}

/* The text with the id, NULL for 0 or an id that lies outside. Texts never change. */
static inline const char *spool_text(const struct spool *spool, uint32_t id)
{
	return id && id < spool_count(spool, SPOOL_TEXT) ? spool_at(spool, SPOOL_TEXT, id) : NULL;
}

/*
 * write.c: creates the file (0600, never an existing one: -EEXIST).
 * The file's space is claimed before it is touched, so a full disk is an error here and no SIGBUS
 * later.
 */
int spool_create(struct spool *spool, const char *path);

/* The tables' first elements are there: from now on the file is a spool to its readers. */
void spool_publish(struct spool *spool);

/*
 * Makes sure that the table has a block for the element. -ENOSPC, -EDQUOT, -EFBIG, -ESTALE (the
 * file vanished), -ENOMEM when it cannot; spool_stop_reason() translates.
 */
int spool_extend(struct spool *spool, enum spool_kind kind, uint64_t blocks);

static inline int spool_need(struct spool *spool, enum spool_kind kind, uint64_t index)
{
	uint64_t wanted = (index >> (SPOOL_BLOCK_SHIFT - spool_shift[kind])) + 1;

	return __builtin_expect(spool->used[kind] >= wanted, 1) ? 0
								: spool_extend(spool, kind, wanted);
}

/*
 * No table grows from here on, and none gets a row: spool_need() says -ECANCELED. For the writer's
 * own reading of what is there, beside threads that do not know yet.
 */
void spool_seal(struct spool *spool);

enum spool_stop spool_stop_reason(int error);

/*
 * snapshot.c: the tables of the process's own spool in memory of their own, which goes on from the
 * same call before (all zeros at first; pages_free(copy->base, copy->reserved) ends it). 0, 1 when
 * an update came in between: to be called again, perhaps with the writer's lock held; -ENOMEM.
 */
int spool_snapshot(struct spool *copy, const struct spool *of);

/*
 * In a forked child whose maker was in the middle of writing, and goes on there in the child: the
 * tables are there again, as a copy that no file sees, and do not grow. 0 or -errno.
 */
int spool_copy_in_child(struct spool *spool);

/*
 * Lists of blocks, and addresses for `most` blocks, so that it grows without moving: `ulimit -v`
 * may forbid so much, then for fewer. 0 or -ENOMEM; spool_close() gives them back, also after an
 * error.
 */
int spool_reserve(struct spool *spool, uint64_t most);

/* Drops the mapping; the file stays. In a forked child the mapping is already gone: forget. */
void spool_close(struct spool *spool);
void spool_forget(struct spool *spool);
int spool_unlink(struct spool *spool);

/* process.c: when a process started, with the pid a name for it as long as the machine runs: field
 * 22 of /proc/PID/stat, clock ticks after boot; 0 when there is no such process, or it has ended
 * and only its parent has not heard of that. */
uint64_t process_start_ticks(int pid);

/*
 * Where pids and start times mean what they say: a number for this boot of this machine and this
 * pid namespace; 0 when /proc does not tell.
 */
uint64_t process_place(void);
