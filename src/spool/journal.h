/*
 * The events of a spool: a ring of chunks, the first tenth kept for good, then the latest nine; or,
 * as a flight recorder, those of the latest stretch of time or bytes.
 *
 * Each chunk stands alone (codec/wire.h), so the oldest can be written over without a trace in the
 * others. The writer's part runs inside transactions, under the writer's lock.
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
	uint8_t *before; /* where the last event begins: sums may have come behind the one before */
	bool beside;     /* of a copy, whose chunks stay: events go to the spool's `caught` */
	uint64_t max_events;
	uint64_t head_events;  /* kept for good */
	uint64_t keep_ns;      /* of journal_keep(): what is younger stays, 0: no matter */
	uint64_t keep_chunks;  /* and the ring has no more than these, 0: as many as it takes */
	uint32_t chunk_events; /* at most so many in one chunk */
	uint32_t *queue;      /* the ring's chunks, oldest first: a circular list of SPOOL_BLOCKS */
	uint64_t first, last; /* queue[first..last) modulo SPOOL_BLOCKS */
	uint64_t ring_events;
	uint64_t ready; /* events of smaller numbers fit into the chunk, if bytes are left */
	struct wire_state state;
};

/* 0 or -ENOMEM. `max_events` 0 keeps no events at all, only counts them. */
int journal_init(struct journal *journal, struct spool *spool, uint64_t max_events);
void journal_clear(struct journal *journal);

/*
 * A flight recorder, told right after journal_init(): nothing of the beginning is kept for good,
 * but all of the last `ns` (0: no matter how long ago), in at most `bytes` of chunks (0: half of
 * what a spool can be). max_events bounds it besides. What is older goes when its place is needed.
 */
void journal_keep(struct journal *journal, uint64_t ns, uint64_t bytes);

/* The events that there are surely bytes for in the chunk, with sums between them. */
static inline uint64_t journal_fit(const struct journal *journal)
{
	const uint8_t *p = journal->p + WIRE_SUMS_MAX * JOURNAL_SUMS_DEVICES;

	return p < journal->end ? (size_t)(journal->end - p) / WIRE_EVENT_MAX : 0;
}

/* After journal_room(): the number of events that fit for sure. */
static inline uint64_t journal_left(const struct journal *journal)
{
	uint64_t seq = journal->spool->header->seq;

	return journal->ready > seq ? MIN(journal->ready - seq, journal_fit(journal)) : 0;
}

/*
 * Makes room for so many events, if need be by a new chunk or by dropping the oldest; to be called
 * before the transaction that writes them. An error (see spool_need) when the file cannot grow.
 */
int journal_make_room(struct journal *journal, unsigned events);

static inline int journal_room(struct journal *journal, unsigned events)
{
	return journal_left(journal) >= events ? 0 : journal_make_room(journal, events);
}

/* Writes the event, inside a transaction and after journal_room(); fills event->seq, raises
 * event->t to the time of the one before if it is earlier. */
void journal_put(struct journal *journal, struct event *event);

/*
 * After txn_begin_over() of the transaction that wrote the last event, and inside it: goes on
 * behind the event before.
 */
void journal_rewind(struct journal *journal);

/*
 * Goes on behind the last event that the spool has, after a transaction was taken back in the
 * middle by somebody else (txn_cancel).
 */
void journal_mend(struct journal *journal);

/* Tells the readers the sums anew (they moved without events). */
void journal_resync(struct journal *journal);

/* Reading: all events that detail holds, in order. */
struct journal_reader {
	const struct spool *spool;
	uint32_t *order; /* chunks by first_seq */
	uint64_t places; /* of the list, more than there are chunks */
	uint32_t chunks, next;
	uint32_t caught; /* of the spool's, so far */
	uint64_t broken; /* chunks that made no sense from some point on */
	struct decoder decoder;
	bool open;
};

/* 0 or -ENOMEM. */
int journal_read(struct journal_reader *reader, const struct spool *spool);
bool journal_next(struct journal_reader *reader, struct event *event);
void journal_read_end(struct journal_reader *reader);

/*
 * Since when no event is missing, in ns since process start: false when none was ever dropped, or
 * none is there.
 */
bool journal_since(const struct spool *spool, uint64_t *t);
