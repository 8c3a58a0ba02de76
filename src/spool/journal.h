/*
 * The events of a spool: a ring of chunks. The first tenth of the events is kept for good, then the
 * latest nine tenths; or, as a flight recorder, those of the latest stretch of time or bytes.
 *
 * Each chunk can be read without the others (codec/wire.h), so the oldest can be overwritten. The
 * writer's functions run inside transactions, under the writer's lock.
 */
#pragma once

#include <sys/param.h>

#include "codec/wire.h"
#include "spool/spool.h"

enum { JOURNAL_SUMS_DEVICES = 64 };

struct journal {
	struct spool *spool;
	struct spool_chunk *chunk; /* being written, NULL before the first */
	uint8_t *p, *end;
	uint8_t *before; /* where the last event begins; sums may stand between it and the one
			    before */
	bool beside; /* for a copy, whose chunks stay as they are: events go to the spool's `caught`
		      */
	uint64_t max_events;
	uint64_t head_events;  /* kept for good */
	uint64_t keep_ns;      /* of journal_keep(): younger events stay; 0: no limit */
	uint64_t keep_chunks;  /* the most chunks of the ring, 0: as many as it takes */
	uint32_t chunk_events; /* the most events in one chunk */
	uint32_t *queue;      /* the ring's chunks, oldest first: a circular list of SPOOL_BLOCKS */
	uint64_t first, last; /* queue[first..last) modulo SPOOL_BLOCKS */
	uint64_t ring_events;
	uint64_t
		ready; /* events with smaller numbers fit into the chunk, if there are bytes left */
	struct wire_state state;
};

/* 0 or -ENOMEM. With `max_events` 0 no event is kept; events are only counted. */
int journal_init(struct journal *journal, struct spool *spool, uint64_t max_events);
void journal_clear(struct journal *journal);

/*
 * Makes it a flight recorder; to be called right after journal_init(). Nothing of the beginning is
 * kept for good, but all events of the last `ns` (0: of any age), in at most `bytes` of chunks (0:
 * half of the largest spool). max_events is a bound besides. Older events go when their place is
 * needed.
 */
void journal_keep(struct journal *journal, uint64_t ns, uint64_t bytes);

/* The number of events that the rest of the chunk surely holds, with sums between them. */
static inline uint64_t journal_fit(const struct journal *journal)
{
	const uint8_t *p = journal->p + WIRE_SUMS_MAX * JOURNAL_SUMS_DEVICES;

	return p < journal->end ? (size_t)(journal->end - p) / WIRE_EVENT_MAX : 0;
}

/* The number of events that surely fit, after journal_room(). */
static inline uint64_t journal_left(const struct journal *journal)
{
	uint64_t seq = journal->spool->header->seq;

	return journal->ready > seq ? MIN(journal->ready - seq, journal_fit(journal)) : 0;
}

/*
 * Makes room for this many events, if necessary by a new chunk or by dropping the oldest. To be
 * called before the transaction that writes them. 0, or an error of spool_need() when the file
 * cannot grow.
 */
int journal_make_room(struct journal *journal, unsigned events);

static inline int journal_room(struct journal *journal, unsigned events)
{
	return journal_left(journal) >= events ? 0 : journal_make_room(journal, events);
}

/* Writes the event, inside a transaction and after journal_room(). Sets event->seq, and raises
 * event->t to the time of the event before if it is earlier. */
void journal_put(struct journal *journal, struct event *event);

/* Goes back to the end of the event before the last one. To be called inside a transaction that
 * txn_begin_over() has begun over the one that wrote the last event. */
void journal_rewind(struct journal *journal);

/* Goes on after the last event that the spool has, when another thread has taken a transaction back
 * in the middle (txn_cancel). */
void journal_mend(struct journal *journal);

/* Writes the sums for readers: they moved without events. */
void journal_resync(struct journal *journal);

/* Reading: all events that the spool still holds, in order. */
struct journal_reader {
	const struct spool *spool;
	uint32_t *order; /* chunks by first_seq */
	uint64_t places; /* the list's size, more than there are chunks */
	uint32_t chunks, next;
	uint32_t caught; /* the number read so far of the spool's `caught` */
	uint64_t broken; /* chunks that could not be read to their end */
	struct decoder decoder;
	bool open;
};

/* 0 or -ENOMEM. */
int journal_read(struct journal_reader *reader, const struct spool *spool);
bool journal_next(struct journal_reader *reader, struct event *event);
void journal_read_end(struct journal_reader *reader);

/* The time from which on no event is missing, in ns since process start. False if none was ever
 * dropped, or if there are no events. */
bool journal_since(const struct spool *spool, uint64_t *t);
