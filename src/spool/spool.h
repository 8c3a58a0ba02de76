/*
 * A spool: the mapped file into which a process's recording is written, as tables.
 *
 * The caller serialises writers (the traced program by one lock). Functions that can fail return 0
 * or -errno. Layout, and how the file stays consistent when the process is killed: layout.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "codec/event.h"
#include "spool/layout.h"

enum { SPOOL_CAUGHT = 2 * SPOOL_WAITING };

struct spool {
	char *base; /* where the file or its copy is mapped, NULL if neither is */
	struct spool_header *header;
	uint32_t *blocks[SPOOL_KINDS]; /* by table: its blocks' numbers, at most SPOOL_BLOCKS */
	uint32_t used[SPOOL_KINDS];    /* by table: how many blocks it has */
	size_t reserved;               /* bytes of address space reserved from base on */
	uint64_t file_blocks;          /* blocks of the file that are mapped */
	bool sealed;                   /* set by spool_seal() */
	bool cut;                      /* set by spool_open(): an unfinished update was undone */
	bool torn; /* set by spool_open(): the file changed while it was copied */
	uint64_t torn_events, torn_ns;     /* events written and ns passed during the copying */
	uint32_t caught_n;                 /* number of events in `caught` */
	struct event caught[SPOOL_CAUGHT]; /* events from the backlog, after those in the chunks */
	uint64_t device, inode;            /* of the file, to recognise it */
	char path[4096];
};

/* Defined here, not in a .c file, so that a table's shift is a constant for the compiler. */
static const uint8_t spool_shift[SPOOL_KINDS] = {
#define TABLE(kind, type, shift, what) shift,
#include "spool/tables.def"
};

static inline uint64_t spool_per_block(enum spool_kind kind)
{
	return (uint64_t)SPOOL_BLOCK >> spool_shift[kind];
}

/* The table's element `index`, whose block must exist (spool_need()). */
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

/* True for tables whose rows, once written, never change. */
static inline bool spool_only_grows(enum spool_kind kind)
{
	return kind >= SPOOL_TEXT && kind <= SPOOL_STEP;
}

/* Adds to the table the `rows` rows that were written past its end. Not for use in transactions. */
static inline void spool_add_rows(struct spool *spool, enum spool_kind kind, uint64_t rows)
{
	__atomic_store_n(&spool->header->count[kind], spool_count(spool, kind) + rows,
			 __ATOMIC_RELEASE);
}

/* The text with this id; NULL for 0 and for an id beyond the table. Texts never change. */
static inline const char *spool_text(const struct spool *spool, uint32_t id)
{
	return id && id < spool_count(spool, SPOOL_TEXT) ? spool_at(spool, SPOOL_TEXT, id) : NULL;
}

/* Creates the file, with mode 0600; -EEXIST if the path exists. The file's space is reserved before
 * it is touched, so a full disk is an error here, not a SIGBUS later. */
int spool_create(struct spool *spool, const char *path);

/* Marks the file as valid for readers, once the tables' first elements are written. */
void spool_publish(struct spool *spool);

/* spool_extend() makes sure that the table has at least `blocks` blocks, spool_need() that it has
 * the block for row `index`. They return 0 or -errno (-ENOSPC, -EDQUOT, -EFBIG, -ENOMEM, -ESTALE if
 * the file has vanished, ...); spool_stop_reason() turns an error into an enum spool_stop. */
int spool_extend(struct spool *spool, enum spool_kind kind, uint64_t blocks);

static inline int spool_need(struct spool *spool, enum spool_kind kind, uint64_t index)
{
	uint64_t wanted = (index >> (SPOOL_BLOCK_SHIFT - spool_shift[kind])) + 1;

	return __builtin_expect(spool->used[kind] >= wanted, 1) ? 0
								: spool_extend(spool, kind, wanted);
}

/* The table's next row, which the caller fills, then counts by spool_add_rows(); NULL if the spool
 * cannot grow. spool_append() adds a copy of a row; false if the spool cannot grow. */
static inline void *spool_next_row(struct spool *spool, enum spool_kind kind)
{
	uint64_t index = spool_count(spool, kind);

	return spool_need(spool, kind, index) ? NULL : spool_at(spool, kind, index);
}

bool spool_append(struct spool *spool, enum spool_kind kind, const void *row);

/* From now on no table grows or gets a row: spool_need() returns -ECANCELED. So the process can
 * read its own spool at its end, while other threads may still try to record. */
void spool_seal(struct spool *spool);

enum spool_stop spool_stop_reason(int error);

/*
 * Copies the process's own spool into `copy`, which must be all zeros at first; each further call
 * brings it up to date, and pages_free(copy->base, copy->reserved) frees it. Returns 0, -ENOMEM, or
 * 1 if the spool changed meanwhile: the caller tries again, at last with the writer's lock held.
 */
int spool_snapshot(struct spool *copy, const struct spool *of);

/* For the child of a fork in a signal handler that interrupted an update, which the child finishes:
 * replaces the mapping by a private copy, which is not written to the file and does not grow. */
int spool_copy_in_child(struct spool *spool);

/*
 * Reserves the lists of blocks, and a range of addresses for `most` blocks (fewer if `ulimit -v`
 * forbids that many), so that the spool can grow without moving. Returns 0 or -ENOMEM.
 * spool_close() frees both, even after an error.
 */
int spool_reserve(struct spool *spool, uint64_t most);

/* spool_close() unmaps the file and leaves it on disk. In a forked child the file is not mapped,
 * and spool_forget() frees only the lists of blocks. */
void spool_close(struct spool *spool);
void spool_forget(struct spool *spool);
int spool_unlink(struct spool *spool);

/* The start time of a process, unique together with its pid until the machine is restarted: field
 * 22 of /proc/PID/stat, in clock ticks since boot. 0 if there is no such process, or it is a
 * zombie. */
uint64_t process_start_ticks(int pid);

/* A number for this boot of this machine and this pid namespace, in which a pid and a start time
 * identify a process; 0 if /proc cannot be read. */
uint64_t process_place(void);
