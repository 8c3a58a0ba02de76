/* The events of a spool: written into a ring of chunks, and read from it in order. */
#include "spool/event_journal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/guest/hot.h"
#include "base/guest/signals.h"
#include "base/mem/arena.h"
#include "spool/txn.h"

enum {
	CHUNK_ROOM = SPOOL_BLOCK - (int)sizeof(struct spool_chunk),
	FEWEST_PER_CHUNK = 16,
	FEWEST_CHUNKS = 2, /* so that the previous chunk stays while one is filled */
};

int journal_init(struct journal *journal, struct spool *spool, uint64_t max_events)
{
	memset(journal, 0, sizeof(*journal));
	journal->spool = spool;
	journal->max_events = max_events;
	journal->head_events = max_events / 10;
	journal->chunk_events = (uint32_t)MIN(MAX(max_events / 20, FEWEST_PER_CHUNK), CHUNK_ROOM);
	journal->queue = pages_grow(NULL, 0, sizeof(uint32_t) * SPOOL_BLOCKS);
	return journal->queue ? 0 : -ENOMEM;
}

void journal_keep(struct journal *journal, uint64_t ns, uint64_t bytes)
{
	uint64_t chunks = bytes ? bytes >> SPOOL_BLOCK_SHIFT : SPOOL_BLOCKS / 2;

	journal->head_events = 0;
	journal->keep_ns = ns;
	journal->keep_chunks = MAX(chunks, FEWEST_CHUNKS);
}

void journal_clear(struct journal *journal)
{
	pages_free(journal->queue, sizeof(uint32_t) * SPOOL_BLOCKS);
	memset(journal, 0, sizeof(*journal));
}

static struct spool_chunk *chunk_at(const struct spool *spool, uint64_t index)
{
	return spool_at(spool, SPOOL_CHUNK, index);
}

/* Drops the events of the ring's oldest chunk and returns the chunk's number, for reuse. */
static uint32_t recycle(struct journal *journal)
{
	struct spool *spool = journal->spool;
	uint32_t index = journal->queue[journal->first++ % SPOOL_BLOCKS];
	struct spool_chunk *chunk = chunk_at(spool, index);

	journal->ring_events -= chunk->events;
	txn_begin(spool);
	txn_add64(spool, &spool->header->dropped, chunk->events);
	txn_set32(spool, &chunk->events, 0);
	txn_set32(spool, &chunk->used, 0);
	txn_commit(spool);
	return index;
}

static void put_sums(struct journal *journal)
{
	const struct spool *spool = journal->spool;
	unsigned left = JOURNAL_SUMS_DEVICES;

	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE) && left; i++) {
		const struct spool_scope *scope = spool_at(spool, SPOOL_SCOPE, i);

		if (scope->kind != SCOPE_DEVICE)
			continue;
		journal->p =
			encode_sums(journal->p, scope->device, scope->sums[METRIC_ALLOCATED].now,
				    scope->sums[METRIC_RESERVED].now);
		left--;
	}
}

static void start_chunk(struct journal *journal, uint32_t index)
{
	struct spool_header *header = journal->spool->header;
	struct spool_chunk *chunk = chunk_at(journal->spool, index);

	chunk->events = 0;
	chunk->used = 0;
	chunk->first_seq = header->seq;
	chunk->t = header->t;
	journal->chunk = chunk;
	journal->p = (uint8_t *)(chunk + 1);
	journal->end = (uint8_t *)chunk + SPOOL_BLOCK;
	wire_reset(&journal->state, chunk->t);
	put_sums(journal);
	if (header->seq >= journal->head_events)
		journal->queue[journal->last++ % SPOOL_BLOCKS] = index;
}

/*
 * The number of events that the current chunk may still get; 0 if `wanted` events may not fit. The
 * first head_events events, which are never dropped, are in chunks of their own, because the ring
 * drops whole chunks. Their last chunk gets all `wanted` events, even if that exceeds head_events.
 */
static uint64_t chunk_left(const struct journal *journal, unsigned wanted)
{
	uint64_t left = journal->chunk_events - journal->chunk->events;
	uint64_t seq = journal->spool->header->seq;
	uint64_t most = 0;

	if (journal->chunk->first_seq >= journal->head_events)
		most = journal->max_events - journal->head_events - journal->ring_events;
	else if (seq < journal->head_events)
		most = MAX(journal->head_events - seq, wanted);
	return journal_fit(journal) >= wanted ? MIN(left, most) : 0;
}

/* True if the ring's oldest chunk must be reused: the ring is full, or all events of this chunk are
 * too old. (None of them is later than `t` of the ring's second chunk.) */
static bool is_due(const struct journal *journal)
{
	uint64_t chunks = journal->last - journal->first;
	uint64_t ring = journal->max_events - journal->head_events;
	const struct spool_chunk *second;

	if (chunks && journal->ring_events + journal->chunk_events > ring)
		return true;
	if (chunks < FEWEST_CHUNKS || !journal->keep_chunks)
		return false;
	if (chunks >= journal->keep_chunks)
		return true;
	second = chunk_at(journal->spool, journal->queue[(journal->first + 1) % SPOOL_BLOCKS]);
	return journal->keep_ns && journal->spool->header->t - second->t >= journal->keep_ns;
}

static int next_place(struct journal *journal)
{
	struct spool *spool = journal->spool;
	uint64_t index = spool_count(spool, SPOOL_CHUNK);
	int error;

	if (is_due(journal)) {
		start_chunk(journal, recycle(journal));
		return 0;
	}
	error = spool_need(spool, SPOOL_CHUNK, index);
	if (error)
		return error;
	start_chunk(journal, (uint32_t)index);
	spool_add_rows(spool, SPOOL_CHUNK, 1);
	return 0;
}

int journal_make_room(struct journal *journal, unsigned events)
{
	int error = 0;

	if (!journal->max_events)
		return 0;
	if (!journal->chunk || chunk_left(journal, events) < events) {
		SIGNALS_DEFERRED();
		error = next_place(journal);
	}
	/* Events with numbers below journal->ready fit into the chunk; after an error none does. */
	journal->ready = error ? 0 : journal->spool->header->seq + chunk_left(journal, events);
	return error;
}

/* True if the event is stored. Else it is only counted: max_events is 0, or the ring is full. */
static bool keeps(const struct journal *journal)
{
	return journal->max_events &&
	       (journal->chunk->first_seq < journal->head_events ||
		journal->ring_events < journal->max_events - journal->head_events);
}

static void leave_out(struct journal *journal, const struct event *event)
{
	struct spool *spool = journal->spool;

	if (!journal->beside)
		spool->header->dropped++;
	else if (spool->caught_n < SPOOL_CAUGHT)
		spool->caught[spool->caught_n++] = *event;
}

_Static_assert(offsetof(struct spool_header, dropped) == offsetof(struct spool_header, seq) + 8 &&
		       offsetof(struct spool_header, t) ==
			       offsetof(struct spool_header, seq) + 16 &&
		       offsetof(struct spool_chunk, used) ==
			       offsetof(struct spool_chunk, events) + 4 &&
		       offsetof(struct spool_chunk, events) % 8 == 0,
	       "the words that save_counts() saves together must be neighbours");

/* Saves the words that each event changes, for an undo; once in a transaction is enough. */
static inline void save_counts(struct journal *journal)
{
	const uint64_t *counts = &journal->spool->header->seq;
	uint64_t transaction = txn_generation(journal->spool);

	if (journal->saved == transaction)
		return;
	journal->saved = transaction;
	if (journal->chunk)
		txn_keep_runs(journal->spool, counts, 3, &journal->chunk->events, 1);
	else
		txn_keep_run(journal->spool, counts, 3);
}

HOT_CODE void journal_put(struct journal *journal, struct event *event)
{
	struct spool *spool = journal->spool;
	struct spool_header *header = spool->header;

	event->seq = header->seq;
	event->t = MAX(event->t, header->t);
	save_counts(journal);
	header->seq++;
	header->t = event->t;
	journal->before = keeps(journal) ? journal->p : NULL;
	if (!journal->before) {
		leave_out(journal, event);
		return;
	}
	journal->p = encode_event(&journal->state, journal->p, event);
	journal->chunk->events++;
	journal->chunk->used = (uint32_t)(journal->p - (uint8_t *)(journal->chunk + 1));
	if (journal->chunk->first_seq >= journal->head_events)
		journal->ring_events++;
	else if (header->seq > journal->head_events)
		journal->head_events = header->seq;
}

/* Sets the encoder's caches to their state after the chunk's first `bytes` bytes. */
static void reread(struct journal *journal, size_t bytes)
{
	static struct decoder decoder; /* static: the program's stack may not have 16 KiB left */
	struct spool_chunk *chunk = journal->chunk;
	struct event event;

	decode_start(&decoder, (const uint8_t *)(chunk + 1), bytes, chunk->first_seq, chunk->t);
	while (decode_event(&decoder, &event) == 1)
		;
	journal->state = decoder.state;
	journal->p = (uint8_t *)(chunk + 1) + bytes;
}

void journal_rewind(struct journal *journal)
{
	const uint64_t *from = (const void *)((uintptr_t)journal->before & ~(uintptr_t)7);
	size_t words = ((size_t)(journal->p - (const uint8_t *)from) + 7) / 8;

	if (!journal->before)
		return;
	/* Decodes the bytes that stay, since no copy of the caches' earlier state exists. */
	reread(journal, (size_t)(journal->before - (const uint8_t *)(journal->chunk + 1)));
	txn_keep_run(journal->spool, from, words);
	if (journal->chunk->first_seq >= journal->head_events)
		journal->ring_events--;
}

void journal_mend(struct journal *journal)
{
	if (!journal->chunk)
		return;
	journal->ready = 0;
	journal->ring_events = 0;
	for (uint64_t at = journal->first; at != journal->last; at++)
		journal->ring_events +=
			chunk_at(journal->spool, journal->queue[at % SPOOL_BLOCKS])->events;
	reread(journal, journal->chunk->used);
	journal_resync(journal);
}

void journal_resync(struct journal *journal)
{
	if (journal->chunk && chunk_left(journal, 1))
		put_sums(journal);
}

int journal_read(struct journal_reader *reader, const struct spool *spool)
{
	uint64_t chunks = spool_count(spool, SPOOL_CHUNK);

	*reader = (struct journal_reader){ .spool = spool, .places = chunks + 1 };
	reader->order = pages_grow(NULL, 0, sizeof(uint32_t) * reader->places);
	if (!reader->order)
		return -ENOMEM;
	/* Insertion sort, because chunks are in order except where the ring wrapped around. */
	for (uint32_t i = 0; i < chunks; i++) {
		const struct spool_chunk *chunk = chunk_at(spool, i);
		uint32_t at = reader->chunks;

		if (!chunk->events)
			continue;
		while (at && chunk_at(spool, reader->order[at - 1])->first_seq > chunk->first_seq)
			at--;
		memmove(reader->order + at + 1, reader->order + at,
			sizeof(uint32_t) * (reader->chunks - at));
		reader->order[at] = i;
		reader->chunks++;
	}
	return 0;
}

static bool next_chunk(struct journal_reader *reader)
{
	const struct spool_chunk *chunk;

	if (reader->next == reader->chunks)
		return false;
	chunk = chunk_at(reader->spool, reader->order[reader->next++]);
	decode_start(&reader->decoder, (const uint8_t *)(chunk + 1), MIN(chunk->used, CHUNK_ROOM),
		     chunk->first_seq, chunk->t);
	reader->open = true;
	return true;
}

bool journal_since(const struct spool *spool, uint64_t *t)
{
	const struct spool_chunk *first = NULL;
	struct journal_reader reader;

	if (journal_read(&reader, spool))
		return false;
	for (uint32_t at = reader.chunks; at--;) {
		const struct spool_chunk *before = chunk_at(spool, reader.order[at]);

		if (first && before->first_seq + before->events != first->first_seq)
			break;
		first = before;
	}
	journal_read_end(&reader);
	if (!first || !first->first_seq)
		return false;
	*t = first->t;
	return true;
}

bool journal_next(struct journal_reader *reader, struct event *event)
{
	while (reader->open || next_chunk(reader)) {
		int got = decode_event(&reader->decoder, event);

		if (got == 1)
			return true;
		reader->broken += got < 0;
		reader->open = false;
	}
	if (reader->caught == reader->spool->caught_n)
		return false;
	*event = reader->spool->caught[reader->caught++];
	return true;
}

void journal_read_end(struct journal_reader *reader)
{
	pages_free(reader->order, sizeof(uint32_t) * reader->places);
	memset(reader, 0, sizeof(*reader));
}
