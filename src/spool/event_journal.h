/*
 * The events of a spool, in chunks. The first max_events / 10 events are never dropped, and a ring
 * holds the latest max_events * 9 / 10. After journal_keep(), the first events are dropped, too,
 * and events may also be dropped because of their age or of the bytes that they take.
 *
 * Each chunk can be read without the others (codec/wire.h), so the oldest chunk can be overwritten.
 * Functions that write events run inside transactions, with the writer's lock held.
 */
#pragma once

#include <sys/param.h>

#include "codec/wire.h"
#include "spool/spool.h"

enum { JOURNAL_SUMS_DEVICES = 64 };

struct journal {
	struct spool *spool;
	struct spool_chunk *chunk; /* the current chunk, NULL before the first */
	uint8_t *p, *end;
	uint8_t *before; /* where the last event's bytes begin, NULL if it was not stored */
	bool beside;     /* events go to spool->caught (pending_settle_left()), not to chunks */
	uint64_t max_events;
	uint64_t head_events;  /* number of events at the start that are never dropped */
	uint64_t keep_ns;      /* from journal_keep(): ns for which events stay, 0 for no limit */
	uint64_t keep_chunks;  /* maximum chunks of the ring, 0 if only max_events limits it */
	uint32_t chunk_events; /* maximum number of events in one chunk */
	uint32_t *queue;       /* the ring's chunks: a circular list of SPOOL_BLOCKS numbers */
	uint64_t first, last;  /* the ring is queue[n % SPOOL_BLOCKS] for first <= n < last */
	uint64_t ring_events;
	uint64_t ready; /* events below this number may go into the chunk while bytes are free */
	uint64_t saved; /* generation of the transaction that saved the event counts */
	struct wire_state state;
};

/* Begins an empty journal; 0 or -ENOMEM. With `max_events` 0, events are counted but not stored. */
int journal_init(struct journal *journal, struct spool *spool, uint64_t max_events);
void journal_clear(struct journal *journal);

/*
 * Keeps only the latest events; to be called right after journal_init(). Events stay for `ns` ns
 * (0: at any age), as long as their chunks take at most `bytes` (0: half of the largest possible
 * spool; two chunks always fit) and there are at most max_events.
 */
void journal_keep(struct journal *journal, uint64_t ns, uint64_t bytes);

/* The number of events of maximum size that fit into the chunk after new records of sums. */
static inline uint64_t journal_fit(const struct journal *journal)
{
	const uint8_t *p = journal->p + WIRE_SUMS_MAX * JOURNAL_SUMS_DEVICES;

	return p < journal->end ? (size_t)(journal->end - p) / WIRE_EVENT_MAX : 0;
}

/* The number of events (even the largest) that can be written before the next journal_room(). */
static inline uint64_t journal_left(const struct journal *journal)
{
	uint64_t seq = journal->spool->header->seq;

	return journal->ready > seq ? MIN(journal->ready - seq, journal_fit(journal)) : 0;
}

/*
 * Makes room for `events` events, if necessary by a new chunk or by dropping the oldest chunk. To
 * be called before the transaction that writes them. Returns 0, or an error of spool_need() if the
 * file cannot grow.
 */
int journal_make_room(struct journal *journal, unsigned events);

static inline int journal_room(struct journal *journal, unsigned events)
{
	return journal_left(journal) >= events ? 0 : journal_make_room(journal, events);
}

/* Writes the event, inside a transaction and after journal_room(). Sets event->seq; event->t is
 * raised to the previous event's time if it is earlier. */
void journal_put(struct journal *journal, struct event *event);

/* Removes the last event. To be called inside a transaction of txn_begin_over(), which undoes the
 * transaction that wrote the event. */
void journal_rewind(struct journal *journal);

/* Lets the journal go on after the spool's last event; to be called after txn_cancel(). */
void journal_mend(struct journal *journal);

/* Writes the sums of all devices; to be called after sums changed without a written event. */
void journal_resync(struct journal *journal);

/* Reads all events that the spool still holds, in order. */
struct journal_reader {
	const struct spool *spool;
	uint32_t *order; /* numbers of the chunks, sorted by first_seq */
	uint64_t places; /* entries allocated in `order`, one more than there are chunks */
	uint32_t chunks, next;
	uint32_t caught; /* number of events of spool->caught that were read */
	uint64_t broken; /* number of chunks that could not be read to their end */
	struct decoder decoder;
	bool open;
};

/* Begins to read; returns 0 or -ENOMEM. journal_next() returns false after the last event. */
int journal_read(struct journal_reader *reader, const struct spool *spool);
bool journal_next(struct journal_reader *reader, struct event *event);
void journal_read_end(struct journal_reader *reader);

/* *t gets the time (ns since process start) since which no event was dropped. False if no event was
 * ever dropped, if there are no events, or if memory ran out. */
bool journal_since(const struct spool *spool, uint64_t *t);
