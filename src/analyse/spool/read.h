/*
 * Reading a spool's file: at once, or following it as it grows (analyse/live/follow.c).
 */
#ifndef ANALYSE_SPOOL_READ_H
#define ANALYSE_SPOOL_READ_H

#include "facts/trace_model.h"
#include "spool/spool.h"

/*
 * A private, writable copy of a file, rolled back to its last whole transaction (`cut`
 * tells); what waits in its backlog does so still. Of a living process everything is of one moment,
 * between two of its updates; only of one that does not pause for the time it takes to copy its
 * sums (`torn`) they are of moments so far apart as torn_events and torn_ns tell, though each event
 * is right. Fails with -EINVAL and a sentence in `why` (of `size` bytes) when it is no spool that
 * this build can read.
 */
int spool_open(struct spool *spool, const char *path, char *why, size_t size);

/* The same with what waited booked, as the end of a process does. */
int spool_read(struct spool *spool, const char *path, char *why, size_t size);

/*
 * Is the process that writes the spool still there? And can that be asked here at all: not of
 * another machine's, an earlier boot's or another pid namespace's.
 */
bool spool_writer_lives(const struct spool *spool);
bool spool_writer_elsewhere(const struct spool *spool);

/* How the process of an opened spool ended, as far as the spool tells. */
enum trace_exit spool_exit(const struct spool *spool);

/* --- parts of it, for following --- */

/* "path: what" into `why`; -EINVAL. */
int read_refuse(char *why, size_t size, const char *path, const char *what);

/* What is wrong with a file that is shorter than a spool's header; -EINVAL. */
int read_too_short(int fd, const char *path, char *why, size_t size);

/* Is it the header of a spool that this build reads? 0, or -EINVAL and a sentence. */
int read_check_header(const struct spool_header *header, const char *path, char *why, size_t size);

/* Bytes of the file to the same place of the copy. 0 or -errno; -ENODATA when they are not there.
 */
int read_copy(const struct spool *spool, int fd, uint64_t at, uint64_t size);

/* The same of elements [from, to) of a table. */
int read_copy_rows(const struct spool *spool, int fd, enum spool_kind kind, uint64_t from,
		   uint64_t to);

/* What tables that only grow have got beyond `copied` of each, which goes on. */
int read_copy_growing(const struct spool *spool, int fd, uint64_t copied[SPOOL_KINDS]);

/* Has a transaction begun, gone on or ended since the header was read from the file? */
bool read_changed_since(const struct spool_header *header, int fd);

/*
 * consistent_copy.c: a copy that was made while the process wrote on, brought to one moment; if the
 * process never pauses for as long as that takes, `torn` says so after a second. 0, 1 when the file
 * has outgrown the copy's addresses, or -errno.
 */
int read_settle(struct spool *spool, int fd);

/* In the copy of a spool: takes back the transaction that was under way. */
void read_roll_back(struct spool *spool);

/*
 * The lists of blocks from the owners; blocks past a hole in a table are no use and left out. No
 * table then counts more than its blocks hold.
 */
void read_find_blocks(struct spool *spool);
void read_cap_counts(struct spool *spool);

/* Texts are read as C strings: the last byte of each block must not let one run on. */
void read_end_texts(struct spool *spool);

#endif
