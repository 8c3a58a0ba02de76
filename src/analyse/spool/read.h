/*
 * Reading a spool's file: at once, or following it as it grows (analyse/live/follow.c).
 */
#pragma once

#include "facts/trace_model.h"
#include "spool/spool.h"

/*
 * consistent_copy.c: makes a private, writable copy of a file, rolled back to its last whole
 * transaction (`cut` if there was one under way); its backlog stays as it is. The copy of a living
 * process shows one moment, between two of its updates. Only if the process does not pause for the
 * time that a copy of its sums takes (`torn`), they are of moments up to torn_events and torn_ns
 * apart, though each event is right. 0, or -errno with err_text(): -EINVAL when it is no spool that
 * this build can read.
 */
int spool_open(struct spool *spool, const char *path);

/* The same, and applies the backlog, as the end of a process does. */
int spool_read(struct spool *spool, const char *path);

/* True if the process that writes the spool is still there; and true if that cannot be found out,
 * as it runs on another machine, in an earlier boot or in another pid namespace. */
bool spool_writer_lives(const struct spool *spool);
bool spool_writer_elsewhere(const struct spool *spool);

/* The way in which the process of an opened spool ended, as far as the spool shows it. */
enum trace_exit spool_exit(const struct spool *spool);

/* --- parts of it, for following --- */

/* A file, and how much of it is in the copy. */
struct read_progress {
	int fd;
	size_t addresses;             /* bytes of addresses reserved from the copy's base on */
	uint64_t copied[SPOOL_KINDS]; /* elements, of tables whose rows stay as they are */
	uint64_t owned;               /* blocks whose owners have been read */
};

/* Opens a spool that this build can read: 0, or -errno with err_text(). */
int read_open(struct spool *spool, struct read_progress *reading, const char *path);
void read_close(struct spool *spool, struct read_progress *reading);

/* Sets err_text() to the meaning of the error (-errno), and returns the error. */
int read_failed(const char *path, int error);

/* Checks that it is the header of a spool that this build reads: 0, or -EINVAL with err_text(). */
int read_check_header(const struct spool_header *header, const char *path);

/* Reads the header as it is now, and the owners of blocks; the copy gets room for all blocks of the
 * file. 0 or -errno; as for the functions below, -ENODATA when bytes are not there. */
int read_header(struct spool *spool, struct read_progress *reading);

/* Reads elements [from, to) of a table. */
int read_rows(const struct spool *spool, const struct read_progress *reading, enum spool_kind kind,
	      uint64_t from, uint64_t to);

/* Reads the rows that tables have got since the call before, of tables that only grow. */
int read_growing(const struct spool *spool, struct read_progress *reading);

/* True if a transaction has begun, gone on or ended since the header was read. */
bool read_changed(const struct spool *spool, const struct read_progress *reading);

/* Takes back the transaction that was under way in the copy, and makes the result safe to read. */
void read_roll_back(struct spool *spool);
