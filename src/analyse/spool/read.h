/*
 * Reading a spool's file: at once, or following it as it grows (analyse/live/follow.c).
 */
#pragma once

#include "facts/trace_model.h"
#include "spool/spool.h"

/*
 * consistent_copy.c: a private, writable copy of a file, rolled back to its last whole transaction
 * (`cut` tells); what waits in its backlog does so still. Of a living process everything is of one
 * moment, between two of its updates; only of one that does not pause for the time it takes to copy
 * its sums (`torn`) they are of moments so far apart as torn_events and torn_ns tell, though each
 * event is right. 0, or -errno with err_text(): -EINVAL when it is no spool that this build can
 * read.
 */
int spool_open(struct spool *spool, const char *path);

/* The same with what waited booked, as the end of a process does. */
int spool_read(struct spool *spool, const char *path);

/*
 * Is the process that writes the spool still there? And can that be asked here at all: not of
 * another machine's, an earlier boot's or another pid namespace's.
 */
bool spool_writer_lives(const struct spool *spool);
bool spool_writer_elsewhere(const struct spool *spool);

/* How the process of an opened spool ended, as far as the spool tells. */
enum trace_exit spool_exit(const struct spool *spool);

/* --- parts of it, for following --- */

/* A file, and how much of it is in the copy. */
struct read_progress {
	int fd;
	size_t addresses;             /* reserved behind the copy's base */
	uint64_t copied[SPOOL_KINDS]; /* elements, of tables whose rows stay as they are */
	uint64_t owned;               /* blocks whose owners have been read */
};

/* Opens a file that has the header of a spool that this build reads: 0, or -errno with err_text().
 */
int read_open(struct spool *spool, struct read_progress *reading, const char *path);
void read_close(struct spool *spool, struct read_progress *reading);

/* Says what the error (-errno) means, and returns it. */
int read_failed(const char *path, int error);

/* Is it the header of a spool that this build reads? 0, or -EINVAL with err_text(). */
int read_check_header(const struct spool_header *header, const char *path);

/*
 * The header as it is now, and which blocks are whose; the copy has room for all that the file has
 * of them. 0 or -errno; as of what follows, -ENODATA when bytes are not there.
 */
int read_header(struct spool *spool, struct read_progress *reading);

/* Elements [from, to) of a table. */
int read_rows(const struct spool *spool, const struct read_progress *reading, enum spool_kind kind,
	      uint64_t from, uint64_t to);

/* What tables that only grow have got since the call before. */
int read_growing(const struct spool *spool, struct read_progress *reading);

/* Has a transaction begun, gone on or ended since the header was read? */
bool read_changed(const struct spool *spool, const struct read_progress *reading);

/* Takes back the transaction that was under way in the copy, and makes what is there safe to read.
 */
void read_roll_back(struct spool *spool);
