/*
 * Compares CUPTI's records with the recorded events: each allocation and free that CUPTI recorded
 * should have an event.
 *
 * Records and events are paired in the order of time: an event takes the first record with the same
 * kind, address and size that no earlier event took. CUPTI and the events describe some memory
 * differently (observed on an H200 with CUPTI 13.0):
 *
 *   - CUPTI records each level of a mipmapped array, under a handle of its own: the levels' sizes
 *     must add up to the array's; for a layered array CUPTI records the bytes of one layer;
 *   - memory opened a second time (cudaIpcOpenMemHandle) is one event and two records;
 *   - memory that CUDA graphs allocate while they run has no events of its own; only its sum is
 *     measured now and then: its records must fit into the measured bytes.
 *
 * This also runs in the traced program when it ends, so memory comes from mmap, not malloc.
 */
#include "base/mem/each.h"
#include "facts/spool_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "codec/event.h"
#include "facts/lives.h"
#include "spool/event_journal.h"

enum { BEGAN = 1, ENDED = 2, LISTED = 100 };

/* A key is the hash of a number, an operation and this kind: the number is an address (PLACE), the
 * address of a mapping, or a size. Without the kind, a size could be taken for an equal address. */
enum kind { PLACE, MAPPING, SIZE };

/* A span of time (ns) whose events were dropped: CUPTI's records of that time are not checked. */
struct gap {
	uint64_t from, to;
};

/* Tolerances in ns: for the time from a call to its event, and between CUPTI's clock and the
 * events'. */
enum { GAP_SLACK_NS = 10000000, CLOCK_SLACK_NS = 200000 };

struct record {
	uint64_t t;
	const struct spool_witness *row;
	uint32_t next; /* 1 + position of the next record with the same key, 0 for none */
	bool taken;
};

struct witness_matcher {
	const struct spool *spool;
	struct arena arena;
	struct record *records; /* by time, the oldest first */
	size_t count;
	struct map first;  /* by key: 1 + position from which to search its list of records */
	struct map opened; /* hashes of address and size of memory that another process owns */
	struct map arrays; /* hashes of the seqs of CUDA array events without a record */
	bool graphs;       /* true if CUDA graphs allocated memory */
};

static uint64_t key_of(enum kind kind, unsigned operation, uint64_t what)
{
	return hash_mix(what, (uint64_t)kind << 8 | operation);
}

static uint64_t key_of_record(const struct spool_witness *record)
{
	if (!record->address)
		return key_of(SIZE, record->operation, record->bytes);
	return key_of(record->flags & WITNESS_MAPPED ? MAPPING : PLACE, record->operation,
		      record->address);
}

/* --- records sorted by time; those with the same key form a linked list --- */

static int chain(struct witness_matcher *m)
{
	for (size_t i = m->count; i-- > 0;) {
		uint64_t key = key_of_record(m->records[i].row);

		m->records[i].next = map_get(&m->first, key);
		if (!map_put(&m->first, key, (uint32_t)i + 1))
			return -ENOMEM;
	}
	return 0;
}

static int find_gap(const struct spool *spool, struct gap *gap)
{
	struct journal_reader reader;
	struct event event;
	uint64_t seq = 0;
	uint64_t t = 0;
	int error;

	*gap = (struct gap){ 0, spool->header->filtered ? UINT64_MAX : 0 };
	if (!spool->header->dropped)
		return 0;
	error = journal_read(&reader, spool);
	while (!error && journal_next(&reader, &event)) {
		if (event.seq != seq)
			*gap = (struct gap){ t, event.t + GAP_SLACK_NS };
		seq = event.seq + 1;
		t = event.t;
	}
	if (!error && !seq) /* all events were dropped */
		gap->to = UINT64_MAX;
	journal_read_end(&reader);
	return error;
}

static int prepare_matcher(struct witness_matcher *m, struct trace_cupti_check *witness)
{
	static const struct sort_key by_time[] = { SORT_UP(struct record, t), { 0 } };
	uint64_t rows = spool_count(m->spool, SPOOL_WITNESS);
	struct gap gap;

	m->records = arena_alloc(&m->arena, rows * sizeof(*m->records) + 1);
	if (find_gap(m->spool, &gap) || !m->records)
		return -ENOMEM;
	for (uint64_t i = 0; i < rows; i++) {
		const struct spool_witness *row = spool_at(m->spool, SPOOL_WITNESS, i);

		if (row->memory == WITNESS_POOL)
			witness->pools++;
		else if (row->t >= gap.from && row->t < gap.to)
			witness->unjudged++;
		else
			m->records[m->count++] = (struct record){ .t = row->t, .row = row };
	}
	witness->records = m->count + witness->unjudged;
	sort_rows(m->records, m->count, sizeof(*m->records), by_time);
	return chain(m);
}

/* --- events matched with records --- */

static bool of_graphs(const struct witness_matcher *m, const struct event *event)
{
	const char *pool = spool_text(m->spool, event->pool);

	return (event->op == EVENT_ALLOC || event->op == EVENT_FREE) && pool &&
	       !strcmp(pool, "graph");
}

/* True for events that CUPTI records as well, which are not those of frameworks' blocks, of marks
 * or of failed allocations. */
static bool is_drivers(const struct witness_matcher *m, const struct event *event)
{
	const char *pool = spool_text(m->spool, event->pool);
	bool whole = event->op == EVENT_RESERVE || event->op == EVENT_RELEASE;

	switch (event->op) {
	case EVENT_MAP:
	case EVENT_UNMAP:
		return true;
	case EVENT_RESERVE:
	case EVENT_RELEASE:
	case EVENT_ALLOC:
	case EVENT_FREE:
		return event->space != SPACE_CPU &&
		       (!pool || whole || !strncmp(pool, "async:", 6) || !strcmp(pool, "graph"));
	default:
		return false;
	}
}

static uint64_t key_of_event(const struct event *event)
{
	bool map = event->op == EVENT_MAP || event->op == EVENT_UNMAP;
	unsigned operation = lives_begins(event) ? BEGAN : ENDED;

	if (!event->ptr)
		return key_of(SIZE, operation, event->size);
	return key_of(map ? MAPPING : PLACE, operation, event->ptr);
}

/* Takes the first record with the event's key and size that no event took; false for none. */
static bool match_event(struct witness_matcher *m, const struct event *event)
{
	uint64_t key = key_of_event(event);
	uint32_t at = map_get(&m->first, key);

	if (!at)
		return false;
	/* Taken records at the beginning of the list need not be searched again. */
	while (m->records[at - 1].taken && m->records[at - 1].next)
		at = m->records[at - 1].next;
	map_put(&m->first, key, at);
	for (; at; at = m->records[at - 1].next) {
		struct record *record = &m->records[at - 1];

		if (record->taken || record->row->bytes != event->size)
			continue;
		record->taken = true;
		return true;
	}
	return false;
}

/* Stores what the second pass needs to know about the event. Returns 0 or -ENOMEM. */
static int remember(struct witness_matcher *m, const struct event *event, bool matched)
{
	if (event->flags & EVENT_FOREIGN &&
	    !map_put(&m->opened, hash_mix(event->ptr, event->size), 1))
		return -ENOMEM;
	m->graphs |= of_graphs(m, event);
	if (event->space == SPACE_ARRAY && !matched &&
	    !map_put(&m->arrays, hash_mix(event->seq, 0), 1))
		return -ENOMEM;
	return 0;
}

static int take_all(struct witness_matcher *m, struct trace_cupti_check *witness)
{
	struct journal_reader reader;
	struct event event;
	int error = journal_read(&reader, m->spool);

	while (!error && journal_next(&reader, &event)) {
		bool matched;

		if (!is_drivers(m, &event))
			continue;
		matched = match_event(m, &event);
		witness->events_alone += !matched;
		error = remember(m, &event, matched);
	}
	journal_read_end(&reader);
	return error;
}

/* --- the second pass: memory that CUPTI and the events describe differently --- */

/*
 * Takes the records of a CUDA array if none has the array's full size: the last ones before its
 * allocation, or the first ones after its free. They are either one record at the array's address,
 * with the size of one layer, or successive records of its levels, whose sizes add up to the
 * array's. The search begins at `at` and goes backward (`step` -1) or forward (`step` 1).
 */
static bool take_array(struct witness_matcher *m, const struct event *array, size_t at, int step)
{
	unsigned operation = lives_begins(array) ? BEGAN : ENDED;
	uint64_t sum = 0;
	size_t from = at;

	for (; at < m->count && sum < array->size; at += (size_t)step) {
		const struct spool_witness *row = m->records[at].row;

		if (m->records[at].taken || row->memory != WITNESS_ARRAY ||
		    row->operation != operation)
			continue;
		if (!sum && row->address == array->ptr && row->bytes &&
		    array->size % row->bytes == 0) {
			m->records[at].taken = true;
			return true;
		}
		sum += row->bytes;
	}
	for (; sum == array->size && from != at; from += (size_t)step) {
		const struct spool_witness *row = m->records[from].row;

		m->records[from].taken |=
			row->memory == WITNESS_ARRAY && row->operation == operation;
	}
	return sum == array->size;
}

/* Searches backward from an allocation's event, which follows the call, or forward from a free's,
 * which precedes it. The search begins `slack` ns beyond the event, as CUPTI has another clock. */
static bool take_array_at(struct witness_matcher *m, const struct event *array, uint64_t slack)
{
	bool began = lives_begins(array);
	uint64_t t = began ? array->t + slack : array->t > slack ? array->t - slack : 0;
	size_t until = sort_until(m->records, m->count, sizeof(*m->records),
				  offsetof(struct record, t), t);

	return began ? take_array(m, array, until - 1, -1) : take_array(m, array, until, 1);
}

/* Takes records that need no event, from position `at` until time t: those of memory that another
 * process owns, and those of stream-ordered memory as long as its live bytes (*live) do not exceed
 * `most`, the bytes of CUDA graphs. Returns the position of the first record at or after t. */
static size_t take_until(struct witness_matcher *m, size_t at, uint64_t t, uint64_t most,
			 uint64_t *live)
{
	for (; at < m->count && m->records[at].t < t; at++) {
		struct record *record = &m->records[at];
		const struct spool_witness *row = record->row;

		if (record->taken)
			continue;
		if (row->flags & WITNESS_ORDERED) {
			*live += row->operation == BEGAN ? row->bytes : 0;
			record->taken = m->graphs && *live <= most;
			*live -= row->operation == ENDED && *live >= row->bytes ? row->bytes : 0;
		} else {
			record->taken =
				map_get(&m->opened, hash_mix(row->address, row->bytes)) != 0;
		}
	}
	return at;
}

/* The second pass over the events. The bytes of CUDA graphs are measured only now and then: between
 * two measurements, the live bytes of records may reach the larger of the two. */
static int look_again(struct witness_matcher *m, struct trace_cupti_check *witness)
{
	struct journal_reader reader;
	struct event event;
	uint64_t held = 0;
	uint64_t live = 0;
	size_t at = 0;
	int error = journal_read(&reader, m->spool);

	while (!error && journal_next(&reader, &event)) {
		uint64_t before = held;

		if (map_get(&m->arrays, hash_mix(event.seq, 0)))
			witness->events_alone -= take_array_at(m, &event, 0) ||
						 take_array_at(m, &event, CLOCK_SLACK_NS);
		if (!of_graphs(m, &event))
			continue;
		held += lives_begins(&event) ? event.size : -event.size;
		at = take_until(m, at, event.t, held > before ? held : before, &live);
	}
	take_until(m, at, UINT64_MAX, held, &live);
	journal_read_end(&reader);
	return error;
}

static const char *memory_name(unsigned memory)
{
	static const char names[][16] = { "pool", "pinned", "device", "array", "managed" };

	return memory < COUNT_OF(names) ? names[memory] : "other";
}

static void tell(const struct witness_matcher *m, struct trace_cupti_check *witness)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct spool_witness *row = m->records[i].row;

		if (m->records[i].taken)
			witness->matched++;
		else if (m->spool->header->paused) /* perhaps from a time when recording was off */
			witness->unjudged++;
		else if (witness->unmatched_n < LISTED)
			witness->unmatched[witness->unmatched_n++] = (struct trace_record){
				.t = row->t,
				.op = row->operation == BEGAN ? "alloc" : "free",
				.memory = memory_name(row->memory),
				.mapping = row->flags & WITNESS_MAPPED,
				.ordered = row->flags & WITNESS_ORDERED,
				.device = row->device,
				.ptr = row->address,
				.size = row->bytes,
			};
	}
}

void spool_model_match(struct spool_model *recording)
{
	struct witness_matcher m = { .spool = recording->spool };
	struct trace_cupti_check *witness = &recording->trace->cupti_check;
	const char *version = fact_told(m.spool, "cupti");

	witness->cupti = version ? strtoull(version, NULL, 10) : 0;
	witness->lost = m.spool->header->witness_lost;
	witness->unmatched = spool_model_room(recording, LISTED, sizeof(*witness->unmatched));
	if (recording->error || prepare_matcher(&m, witness) || take_all(&m, witness) ||
	    look_again(&m, witness))
		recording->error = -ENOMEM;
	else
		tell(&m, witness);
	map_clear(&m.first);
	map_clear(&m.opened);
	map_clear(&m.arrays);
	arena_clear(&m.arena);
}
