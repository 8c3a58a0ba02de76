/*
 * CUPTI's records against our events.
 *
 * All of it works on one list of records in the order of time: what one look takes, the next does
 * not see.
 */
#include "facts/cupti_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "codec/event.h"
#include "spool/journal.h"

enum { BEGAN = 1, ENDED = 2 };

/* What is compared with what: addresses of different kinds may be equal. */
enum kind { PLACE, MAPPING, SIZE };

struct moment {
	uint64_t t, bytes;
};

/* The time whose events were dropped: what it has of records cannot be judged. */
struct gap {
	uint64_t from, to;
};

/* A record's time is within its call, an event's before or behind it; threads run side by side. */
enum { GAP_SLACK_NS = 10000000, CLOCK_SLACK_NS = 200000 };

struct matcher {
	const struct spool *spool;
	struct arena arena;
	struct map first; /* key -> 1 + position in `order` of its first record */
	uint32_t *order;  /* rows, oldest first */
	uint32_t *next;   /* by position: 1 + the next of the same key */
	uint32_t *end; /* by position of a key's first: the last of its chain; then the first free
			*/
	bool *taken;   /* by position */
	uint64_t count;
	struct map opened;     /* hashes of addresses and sizes that belong to another process */
	struct moment *graphs; /* what graphs held, as it changed */
	uint64_t graphs_n, graphs_most;
	struct event *arrays; /* that no record at their address matches */
	uint64_t arrays_n, arrays_most;
};

static const struct spool_witness *row_at(const struct spool *spool, uint64_t row)
{
	return spool_at(spool, SPOOL_WITNESS, row);
}

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

/* --- the records in their order, chained by key --- */

static const struct spool *sorting; /* for qsort, which has no room for it otherwise */

static int by_time(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;
	uint64_t left = row_at(sorting, x)->t;
	uint64_t right = row_at(sorting, y)->t;

	if (left != right)
		return left < right ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int chain(struct matcher *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t key = key_of_record(row_at(m->spool, m->order[i]));
		uint32_t first = map_get(&m->first, key);

		if (!first) {
			if (!map_put(&m->first, key, i + 1))
				return -ENOMEM;
			m->end[i] = i;
			continue;
		}
		m->next[m->end[first - 1]] = i + 1;
		m->end[first - 1] = i;
	}
	for (uint32_t i = 0; i < m->count; i++)
		m->end[i] = i + 1;
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
	if (!error && !seq) /* no events at all */
		gap->to = UINT64_MAX;
	journal_read_end(&reader);
	return error;
}

static int prepare(struct matcher *m, struct witness *witness)
{
	struct gap gap;
	int error = find_gap(m->spool, &gap);
	uint64_t rows = spool_count(m->spool, SPOOL_WITNESS);

	m->order = arena_alloc(&m->arena, (rows + 1) * sizeof(*m->order));
	m->next = arena_alloc(&m->arena, (rows + 1) * sizeof(*m->next));
	m->end = arena_alloc(&m->arena, (rows + 1) * sizeof(*m->end));
	m->taken = arena_alloc(&m->arena, (rows + 1) * sizeof(*m->taken));
	if (error || !m->order || !m->next || !m->end || !m->taken)
		return -ENOMEM;
	for (uint64_t i = 0; i < rows; i++) {
		const struct spool_witness *row = row_at(m->spool, i);

		if (row->memory == WITNESS_POOL)
			witness->pools++;
		else if (row->t >= gap.from && row->t < gap.to)
			witness->unjudged++;
		else
			m->order[m->count++] = (uint32_t)i;
	}
	sorting = m->spool;
	sort_rows(m->order, m->count, sizeof(*m->order), by_time);
	return chain(m);
}

/* --- events --- */

/* Room for one more at the end of a list in the arena, which doubles; NULL without memory. */
static void *grown(struct arena *arena, void *list, uint64_t count, uint64_t *most, size_t item)
{
	void *larger;

	if (count < *most)
		return list;
	larger = arena_alloc(arena, (*most * 2 + 64) * item);
	if (larger && count)
		memcpy(larger, list, count * item);
	*most = *most * 2 + 64;
	return larger;
}

static bool is_began(const struct event *event)
{
	return event->op == EVENT_ALLOC || event->op == EVENT_RESERVE || event->op == EVENT_MAP;
}

static bool of_graphs(const struct matcher *m, const struct event *event)
{
	const char *pool = spool_text(m->spool, event->pool);

	return pool && !strcmp(pool, "graph");
}

/* False for what CUPTI has no record of: blocks of frameworks' pools, marks, failures. */
static bool is_drivers(const struct matcher *m, const struct event *event)
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
	unsigned operation = is_began(event) ? BEGAN : ENDED;

	if (!event->ptr)
		return key_of(SIZE, operation, event->size);
	return key_of(map ? MAPPING : PLACE, operation, event->ptr);
}

/* The first record of the event's key that is free and has its size: is there one? */
static bool take(struct matcher *m, const struct event *event)
{
	uint32_t first = map_get(&m->first, key_of_event(event));
	uint32_t at;

	if (!first)
		return false;
	/* What is taken at the chain's beginning is never looked at again. */
	while (m->end[first - 1] && m->taken[m->end[first - 1] - 1])
		m->end[first - 1] = m->next[m->end[first - 1] - 1];
	for (at = m->end[first - 1]; at; at = m->next[at - 1]) {
		if (m->taken[at - 1] || row_at(m->spool, m->order[at - 1])->bytes != event->size)
			continue;
		m->taken[at - 1] = true;
		return true;
	}
	return false;
}

static uint64_t opened_key(uint64_t address, uint64_t size)
{
	return hash_mix(address, size);
}

/* What the second look needs of the event. 0 or -ENOMEM. */
static int remember(struct matcher *m, const struct event *event, bool matched)
{
	uint64_t key = opened_key(event->ptr, event->size);

	if (event->flags & EVENT_FOREIGN && !map_get(&m->opened, key) &&
	    !map_put(&m->opened, key, 1))
		return -ENOMEM;
	if (event->space == SPACE_ARRAY && !matched) {
		m->arrays = grown(&m->arena, m->arrays, m->arrays_n, &m->arrays_most,
				  sizeof(*m->arrays));
		if (!m->arrays)
			return -ENOMEM;
		m->arrays[m->arrays_n++] = *event;
	}
	if (of_graphs(m, event) && (event->op == EVENT_ALLOC || event->op == EVENT_FREE)) {
		uint64_t held = m->graphs_n ? m->graphs[m->graphs_n - 1].bytes : 0;

		m->graphs = grown(&m->arena, m->graphs, m->graphs_n, &m->graphs_most,
				  sizeof(*m->graphs));
		if (!m->graphs)
			return -ENOMEM;
		held += is_began(event) ? event->size : -event->size;
		m->graphs[m->graphs_n++] = (struct moment){ event->t, held };
	}
	return 0;
}

static int take_all(struct matcher *m, struct witness *witness)
{
	struct journal_reader reader;
	struct event event;
	int error = journal_read(&reader, m->spool);

	while (!error && journal_next(&reader, &event)) {
		bool matched;

		if (!is_drivers(m, &event))
			continue;
		matched = take(m, &event);
		witness->events += !matched;
		error = remember(m, &event, matched);
	}
	journal_read_end(&reader);
	return error;
}

/* --- the second look: one thing told in two ways --- */

/* How many records are not later than t. */
static uint64_t until(const struct matcher *m, uint64_t t)
{
	uint64_t low = 0;
	uint64_t high = m->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (row_at(m->spool, m->order[middle])->t <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The records of an array that has no record of its size: those that came last before it was there
 * or first after it went, in a row. Either one of its address, which tells a layer, or levels that
 * together have its size. `step` is -1 or 1; from `at` on.
 */
static bool take_array(struct matcher *m, const struct event *array, uint64_t at, int step)
{
	unsigned operation = is_began(array) ? BEGAN : ENDED;
	uint64_t sum = 0;
	uint64_t from = at;

	for (; at < m->count && sum < array->size; at += (uint64_t)step) {
		const struct spool_witness *row = row_at(m->spool, m->order[at]);

		if (m->taken[at] || row->memory != WITNESS_ARRAY || row->operation != operation)
			continue;
		if (!sum && row->address == array->ptr && row->bytes &&
		    array->size % row->bytes == 0) {
			m->taken[at] = true;
			return true;
		}
		sum += row->bytes;
	}
	for (; sum == array->size && from != at; from += (uint64_t)step) {
		const struct spool_witness *row = row_at(m->spool, m->order[from]);

		m->taken[from] |= row->memory == WITNESS_ARRAY && row->operation == operation;
	}
	return sum == array->size;
}

/*
 * An event of an allocation is behind its call, one of a free before it. CUPTI's clock is not ours:
 * where nothing fits, the record may be told a little too late, or too early.
 */
static bool take_array_at(struct matcher *m, const struct event *array, uint64_t slack)
{
	uint64_t t = array->t;

	if (is_began(array))
		return take_array(m, array, until(m, t + slack) - 1, -1);
	return take_array(m, array, until(m, t > slack ? t - slack : 0), 1);
}

static void take_arrays(struct matcher *m, struct witness *witness)
{
	for (uint64_t i = 0; i < m->arrays_n; i++)
		witness->events -= take_array_at(m, &m->arrays[i], 0) ||
				   take_array_at(m, &m->arrays[i], CLOCK_SLACK_NS);
}

/* Bytes of graphs at a time: the highest of before and after, for samples come a moment later. */
static uint64_t graphs_at(const struct matcher *m, uint64_t t)
{
	uint64_t before = 0;

	for (uint64_t i = 0; i < m->graphs_n; i++) {
		if (m->graphs[i].t > t)
			return m->graphs[i].bytes > before ? m->graphs[i].bytes : before;
		before = m->graphs[i].bytes;
	}
	return before;
}

static void take_rest(struct matcher *m)
{
	uint64_t live = 0;

	for (uint64_t i = 0; i < m->count; i++) {
		const struct spool_witness *row = row_at(m->spool, m->order[i]);

		if (m->taken[i])
			continue;
		if (row->flags & WITNESS_ORDERED) {
			live += row->operation == BEGAN ? row->bytes : 0;
			m->taken[i] = m->graphs_n && live <= graphs_at(m, row->t);
			live -= row->operation == ENDED && live >= row->bytes ? row->bytes : 0;
		} else {
			m->taken[i] = map_get(&m->opened, opened_key(row->address, row->bytes));
		}
	}
}

int witness_match(struct witness *witness, const struct spool *spool)
{
	struct matcher m = { .spool = spool };
	int error;

	*witness = (struct witness){ .lost = spool->header->witness_lost };
	error = prepare(&m, witness);
	if (!error)
		error = take_all(&m, witness);
	if (!error) {
		take_arrays(&m, witness);
		take_rest(&m);
	}
	witness->records = m.count + witness->unjudged;
	for (uint64_t i = 0; !error && i < m.count; i++) {
		const struct spool_witness *row = row_at(spool, m.order[i]);

		if (m.taken[i])
			witness->matched++;
		else if (witness->listed_n < WITNESS_LISTED)
			witness->listed[witness->listed_n++] = row;
	}
	map_clear(&m.first);
	map_clear(&m.opened);
	arena_clear(&m.arena);
	return error;
}
