/*
 * Copies the spool of a running process, as it was between two updates of the spool.
 *
 * Copying the whole file takes milliseconds, and a process that records a hundred thousand events a
 * second does not pause that long. But most of the file does not change once it is written: events,
 * and tables that only grow. So the whole file is copied once, and then the parts that may have
 * changed are copied again, until nothing changes during a copy. Some pauses between events are
 * long enough to copy these parts.
 */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "analyse/spool/read.h"
#include "base/guest/clock.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"

#define PATIENCE_NS 1000000000u /* ns for all attempts; FEWEST_TRIES are made in any case */
#define PAUSE_NS 50000 /* ns to wait before another attempt, which may fall between two updates */

enum { FEWEST_TRIES = 4, CHANGED = 1 };

static int read_head(const struct spool *spool, const struct read_progress *reading,
		     const struct spool_chunk *chunk, struct spool_chunk *now)
{
	off_t at = (off_t)((const char *)chunk - spool->base);

	return pread(reading->fd, now, sizeof(*now), at) == sizeof(*now) ? 0 : -ENODATA;
}

/* Copies a chunk. Before the writer reuses a chunk, it sets the chunk's counts to 0. So if after
 * the copying the chunk in the file has the copy's first event and at least the copy's bytes, the
 * copy is right; else the copy is made empty. */
static int copy_chunk(const struct spool *spool, const struct read_progress *reading,
		      uint64_t index)
{
	struct spool_chunk *chunk = spool_at(spool, SPOOL_CHUNK, index);
	struct spool_chunk now;
	int error = read_rows(spool, reading, SPOOL_CHUNK, index, index + 1);

	if (!error)
		error = read_head(spool, reading, chunk, &now);
	if (!error && (now.first_seq != chunk->first_seq || now.used < chunk->used))
		chunk->events = chunk->used = 0;
	return error;
}

/*
 * Copies the chunks that may have changed since the recording had `seq` events. Equal counts do not
 * prove that a chunk is unchanged: its last events may have been rewritten (journal_rewind).
 */
static int copy_chunks(const struct spool *spool, const struct read_progress *reading, uint64_t seq)
{
	int error = 0;

	for (uint64_t i = 0; i < spool_count(spool, SPOOL_CHUNK) && !error; i++) {
		const struct spool_chunk *chunk = spool_at(spool, SPOOL_CHUNK, i);
		struct spool_chunk now;

		error = read_head(spool, reading, chunk, &now);
		if (!error && (now.first_seq != chunk->first_seq || now.used != chunk->used ||
			       chunk->first_seq + chunk->events + SPOOL_UNDO >= seq))
			error = copy_chunk(spool, reading, i);
	}
	return error;
}

/* Tries once to get a consistent copy. Returns 0, CHANGED if the process changed something
 * meanwhile, or -errno. */
static int copy_once(struct spool *spool, struct read_progress *reading, uint64_t seq)
{
	int error = read_header(spool, reading);

	if (!error)
		error = read_growing(spool, reading);
	/* Copies whole blocks, because undoing an update may make rows beyond the table's count
	 * valid. */
	for (unsigned kind = SPOOL_CHUNK + 1; kind < SPOOL_KINDS && !error; kind++) {
		if (!spool_only_grows(kind))
			error = read_rows(spool, reading, kind, 0,
					  spool->used[kind] * spool_per_block(kind));
	}
	if (!error)
		error = copy_chunks(spool, reading, seq);
	return error || !read_changed(spool, reading) ? error : CHANGED;
}

/* Sets spool->torn, and how many events were written and ns passed during the last copying. */
static void tell_torn(struct spool *spool, int fd)
{
	uint64_t now[3]; /* number of events, number of dropped events, time */

	spool->torn = true;
	if (pread(fd, now, sizeof(now), offsetof(struct spool_header, seq)) != sizeof(now))
		return;
	spool->torn_events = now[0] - spool->header->seq;
	spool->torn_ns = now[2] - spool->header->t;
}

static int settle(struct spool *spool, struct read_progress *reading)
{
	const struct timespec pause = { 0, PAUSE_NS };
	uint64_t give_up = clock_now() + PATIENCE_NS;
	int error = copy_once(spool, reading, 0);

	for (unsigned i = 1; error == CHANGED && (i < FEWEST_TRIES || clock_now() < give_up); i++) {
		nanosleep(&pause, NULL);
		error = copy_once(spool, reading, spool->header->seq);
	}
	if (error != CHANGED)
		return error;
	tell_torn(spool, reading->fd);
	return 0;
}

int spool_open(struct spool *spool, const char *path)
{
	struct read_progress reading;
	int error = read_open(spool, &reading, path);

	if (error)
		return error;
	error = settle(spool, &reading);
	if (error) {
		read_close(spool, &reading);
		return read_failed(path, error);
	}
	close(reading.fd);
	if (reading.addresses > spool->reserved)
		munmap(spool->base + spool->reserved, reading.addresses - spool->reserved);
	read_roll_back(spool);
	return 0;
}

int spool_read(struct spool *spool, const char *path)
{
	int error = spool_open(spool, path);

	if (error)
		return error;
	pending_settle_left(spool);
	timeline_settle(spool);
	return 0;
}
