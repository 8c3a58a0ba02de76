/*
 * A living process's spool, copied as it was between two of its updates.
 *
 * The whole file takes milliseconds to copy, and somebody who records a hundred thousand events a
 * second does not wait that long. But nearly all of it stays as it is once it is there: events, and
 * tables that only grow. So all is copied once, and then again and again what may have changed,
 * until nothing happened meanwhile: the pauses between kernels, or of a writer whose processor
 * somebody else has, are long enough for that.
 */
#include <errno.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/spool/read.h"
#include "base/guest/clock.h"

#define PATIENCE_NS 1000000000u /* of whoever waits for the copy */
#define PAUSE_NS 50000          /* to meet the writer elsewhere in what it repeats */

enum { FEWEST_TRIES = 4, CHANGED = 1, OUTGROWN = 2 };

struct settling {
	struct spool *spool;
	int fd;
	uint64_t copied[SPOOL_KINDS]; /* elements, of tables that only grow */
	uint64_t owned;               /* blocks whose owners have been read */
	uint32_t newest;              /* the chunk that is written to, as far as is known */
	uint64_t dropped;             /* of the header, when all chunks were looked at */
	uint64_t settled; /* chunks that end with an earlier event have been copied whole */
};

/* What belongs there in the copy. */
static int copy(const struct settling *settling, const void *to, uint64_t size)
{
	uint64_t at = (uint64_t)((const char *)to - settling->spool->base);

	return read_copy(settling->spool, settling->fd, at, size);
}

/* The header, and which blocks are whose. OUTGROWN when there are no addresses for them. */
static int copy_header(struct settling *settling)
{
	struct spool *spool = settling->spool;
	struct spool_header *header = (struct spool_header *)spool->base;
	struct stat status;
	uint64_t blocks;
	int error = copy(settling, header, sizeof(*header));

	if (error || header->blocks <= settling->owned) {
		read_cap_counts(spool);
		return error;
	}
	if (fstat(settling->fd, &status))
		return -errno;
	spool->file_blocks = MIN((uint64_t)status.st_size >> SPOOL_BLOCK_SHIFT, SPOOL_BLOCKS);
	if (spool->file_blocks > spool->reserved >> SPOOL_BLOCK_SHIFT)
		return OUTGROWN;
	/* The file has them before the header counts them; one that was cut never has. */
	blocks = MIN(header->blocks, spool->file_blocks);
	if (blocks > settling->owned)
		error = copy(settling,
			     spool->base + SPOOL_OWNERS_AT + settling->owned * sizeof(uint32_t),
			     (blocks - settling->owned) * sizeof(uint32_t));
	if (!error)
		settling->owned = MAX(blocks, settling->owned);
	read_find_blocks(spool);
	return error;
}

static int copy_tables(struct settling *settling)
{
	int error = read_copy_growing(settling->spool, settling->fd, settling->copied);

	for (unsigned kind = SPOOL_CHUNK + 1; kind < SPOOL_KINDS && !error; kind++) {
		if (!spool_only_grows(kind))
			error = read_copy_rows(settling->spool, settling->fd, kind, 0,
					       spool_count(settling->spool, kind));
	}
	return error;
}

/* --- events --- */

static struct spool_chunk *chunk_at(const struct settling *settling, uint32_t index)
{
	return spool_at(settling->spool, SPOOL_CHUNK, index);
}

static int read_chunk(const struct settling *settling, const struct spool_chunk *chunk,
		      struct spool_chunk *now)
{
	off_t at = (off_t)((const char *)chunk - settling->spool->base);

	return pread(settling->fd, now, sizeof(*now), at) == sizeof(*now) ? 0 : -ENODATA;
}

/*
 * A chunk is begun anew outside of transactions, with its counts set to 0 first: if they are still
 * there when the events have been copied, these are its own. CHANGED when they are not.
 */
static int copy_chunk(const struct settling *settling, uint32_t index)
{
	struct spool_chunk *chunk = chunk_at(settling, index);
	struct spool_chunk now;
	int error = copy(settling, chunk, sizeof(*chunk));

	if (!error)
		error = copy(settling, chunk + 1, MIN(chunk->used, SPOOL_BLOCK - sizeof(*chunk)));
	if (!error)
		error = read_chunk(settling, chunk, &now);
	if (error)
		return error;
	return now.first_seq == chunk->first_seq && now.used >= chunk->used ? 0 : CHANGED;
}

/* Are all events there? Inside an update, which will be taken back, one count may be ahead. */
static bool has_all_events(const struct settling *settling)
{
	const struct spool_chunk *chunk = chunk_at(settling, settling->newest);
	const struct spool_header *header = settling->spool->header;
	uint64_t next = chunk->first_seq + chunk->events;
	bool inside = atomic_load(&header->generation) & 1;

	return next == header->seq ||
	       (inside && next - header->seq + SPOOL_UNDO < 2ull * SPOOL_UNDO);
}

/*
 * The chunks that are not as they were copied. So may be one that was being written to then, though
 * its counts are the same: its last event can have been written anew (journal_rewind).
 */
static int find_chunks(struct settling *settling)
{
	uint64_t count = spool_count(settling->spool, SPOOL_CHUNK);
	const struct spool_header *header = settling->spool->header;
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++) {
		struct spool_chunk *chunk = chunk_at(settling, i);
		struct spool_chunk now;

		error = read_chunk(settling, chunk, &now);
		if (!error && (now.first_seq != chunk->first_seq || now.used != chunk->used ||
			       chunk->first_seq + chunk->events >= settling->settled))
			error = copy_chunk(settling, i);
		if (chunk->first_seq > chunk_at(settling, settling->newest)->first_seq)
			settling->newest = i;
	}
	if (!error) {
		settling->settled = header->seq;
		settling->dropped = header->dropped;
	}
	return error;
}

/* Most copies find no chunk that was begun since, and none that made room for it. */
static int copy_events(struct settling *settling)
{
	int error;

	if (!spool_count(settling->spool, SPOOL_CHUNK))
		return 0;
	error = copy_chunk(settling, settling->newest);
	if (!error &&
	    (!has_all_events(settling) || settling->dropped != settling->spool->header->dropped))
		error = find_chunks(settling);
	return error;
}

/* 0 when all is of one moment, CHANGED when it is not; OUTGROWN or an error. */
static int copy_once(struct settling *settling)
{
	const struct spool *spool = settling->spool;
	int error = copy_header(settling);

	if (!error)
		error = copy_tables(settling);
	if (!error)
		error = copy_events(settling);
	if (error)
		return error;
	if (spool_count(spool, SPOOL_CHUNK) && !has_all_events(settling))
		return CHANGED;
	return read_changed_since(spool->header, settling->fd) ? CHANGED : 0;
}

/* How far the last copy is from one moment. */
static void tell_torn(struct spool *spool, int fd)
{
	uint64_t now[3]; /* seq, dropped, t */

	spool->torn = true;
	if (pread(fd, now, sizeof(now), offsetof(struct spool_header, seq)) != sizeof(now))
		return;
	spool->torn_events = now[0] - spool->header->seq;
	spool->torn_ns = now[2] - spool->header->t;
}

int read_settle(struct spool *spool, int fd)
{
	const struct timespec pause = { 0, PAUSE_NS };
	uint64_t give_up = clock_now() + PATIENCE_NS;
	struct settling settling = { .spool = spool, .fd = fd };
	int error = CHANGED;

	spool->header = (struct spool_header *)spool->base;
	read_find_blocks(spool);
	settling.owned = MIN(spool->header->blocks, spool->file_blocks);
	settling.settled = spool->header->seq;
	settling.dropped = UINT64_MAX;
	for (unsigned kind = 0; kind < SPOOL_KINDS; kind++) {
		if (spool_only_grows(kind))
			settling.copied[kind] = spool_count(spool, kind);
	}
	for (unsigned i = 0; error == CHANGED && (i < FEWEST_TRIES || clock_now() < give_up); i++) {
		error = copy_once(&settling);
		if (error == CHANGED)
			nanosleep(&pause, NULL);
	}
	if (error == CHANGED)
		tell_torn(spool, fd);
	return error == CHANGED ? 0 : error == OUTGROWN ? 1 : error;
}
