/*
 * Reads a spool, the file into which a traced program writes its recording: all at once, or step
 * by step while it grows (analyse/live/follow.c).
 */
#pragma once

#include "facts/trace_model.h"
#include "spool/spool.h"

/*
 * Makes a private, writable copy of a spool (consistent_copy.c). If an update is unfinished, it is
 * undone in the copy and spool->cut is set. The backlog (ledger/pending.h) is not in the sums yet.
 * The copy of a running process's spool shows one point in time, between two updates. Only if the
 * process changed the file during all attempts of a second, spool->torn is set: the sums are then
 * from times up to torn_events and torn_ns apart, but each event is right. Returns 0, or -errno
 * with err_text(): -EINVAL for a file that is no spool, or not of this build's version.
 */
int spool_open(struct spool *spool, const char *path);

/* Like spool_open(), but also adds the events in the backlog (ledger/pending.h) to the sums. */
int spool_read(struct spool *spool, const char *path);

/* spool_writer_lives(): true if the process that writes the spool still runs; false if it does not,
 * or if spool_writer_elsewhere(): it is of another machine, boot or pid namespace. */
bool spool_writer_lives(const struct spool *spool);
bool spool_writer_elsewhere(const struct spool *spool);

/* Returns TRACE_RUNNING if spool_writer_lives(); else TRACE_EXIT if the spool has the process's
 * end, or TRACE_UNFINISHED. */
enum trace_exit spool_exit(const struct spool *spool);

/* --- the steps of reading, also for a spool that is still being written --- */

/* An open spool's file, and how much of it has been copied to memory. */
struct read_progress {
	int fd;
	size_t addresses;             /* size of the address range reserved for the copy */
	uint64_t copied[SPOOL_KINDS]; /* by table: rows copied; 0 for tables whose rows change */
	uint64_t owned;               /* number of blocks whose owners (tables) have been read */
};

/* Opens a spool that this build can read. Returns 0, or -errno with err_text(). */
int read_open(struct spool *spool, struct read_progress *reading, const char *path);
void read_close(struct spool *spool, struct read_progress *reading);

/* Sets err_text() to the meaning of `error` (-errno), and returns `error`. */
int read_failed(const char *path, int error);

/* Checks a spool's header: 0, or -EINVAL with err_text() if this build cannot read it. */
int read_check_header(const struct spool_header *header, const char *path);

/* Reads the header again, and the owners (tables) of new blocks; makes room in the copy for all
 * blocks. read_header(), read_rows() and read_growing() return 0 or -errno: -ENODATA if the file
 * lacks bytes. */
int read_header(struct spool *spool, struct read_progress *reading);

/* Reads the rows of a table from position `from` to the one before `to`. */
int read_rows(const struct spool *spool, const struct read_progress *reading, enum spool_kind kind,
	      uint64_t from, uint64_t to);

/* Reads the rows that were added, since the last call, to tables whose rows never change. */
int read_growing(const struct spool *spool, struct read_progress *reading);

/* True if an update has begun, gone on or ended since the header was read, or if that is not known
 * because the file cannot be read. */
bool read_changed(const struct spool *spool, const struct read_progress *reading);

/* Takes back an unfinished update in the copy, and makes the result safe to read. */
void read_roll_back(struct spool *spool);
