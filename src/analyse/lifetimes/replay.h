/*
 * Reads the events of a trace in one pass, and finds the blocks that were live at one point in time
 * ("the moment"), the bytes that a selection of events allocated and freed, and the time of their
 * peak.
 *
 * The peak is the peak of one sum, of allocated or of reserved bytes: the sum of the selected pool
 * or kind of memory, else that of the selected device (or all devices). The sum of a device leaves
 * out managed, pinned and CPU memory.
 *
 * After missing events (dropped, or not recorded), the blocks that were live before are unknown:
 * replay.lost is the part of the device's sum that the unknown blocks hold. If a filter left events
 * out, replay.lost is the part of that sum that no recorded block holds; recorded blocks are then
 * known from beginning to end.
 */
#pragma once

#include "analyse/trace/trace.h"
#include "analyse/trace/unattributed.h"
#include "base/mem/map.h"
#include "facts/lives.h"

enum replay_moment {
	REPLAY_END,  /* the end of the window */
	REPLAY_PEAK, /* the time of the highest sum inside the window or at its start */
};

struct replay_wish {
	int device;        /* NO_DEVICE for all devices */
	const char *pool;  /* NULL for all pools, and memory in no pool */
	int space;         /* enum space; SPACES for all */
	uint64_t from, to; /* the window in ns, both ends included */
	uint64_t last;     /* events with a higher number are not in the window */
	enum replay_moment moment;
	enum trace_by split; /* TRACE_BY_THREAD, _PHASE or _CATEGORY splits each stack's row */
	const bool *stacks;  /* by stack: true if the stack is selected; NULL for all stacks */

	/* The category of each allocation in the trace, or NULL; rows are also split by it. */
	const uint8_t *of_alloc;
	size_t allocs_n;
	const char *const *category_names;
	uint64_t categories;      /* bit i is 1 if category i is selected */
	enum trace_metric metric; /* the sum whose peak is sought: of allocated or reserved bytes */
};

/* True if the event comes after the window. */
static inline bool replay_is_behind(const struct replay_wish *wish, const struct event *event)
{
	return event->t > wish->to || event->seq > wish->last;
}

/* The allocations and frees of one stack inside the window, and the bytes that its blocks held. If
 * the rows are split, a row is for one thread, phase or category of the stack. */
struct replay_row {
	struct replay_key {
		uint32_t stack, other;
		uint32_t category; /* meaningful if replay_wish.of_alloc is not NULL */
	} key;
	const char *space; /* memory kind of the row's allocations, NULL if there are none */
	uint64_t allocations, bytes, frees, freed, frees_here, freed_here;
	uint64_t lifetime_min, lifetime_max; /* ns, 0 if none is known */
	uint64_t live, live_count;    /* live blocks of all kinds of memory, at the window's end */
	uint64_t sum, sum_count;      /* live blocks in the peak's sum, at the window's end */
	uint64_t at, at_count, epoch; /* `sum` at the peak; valid if `epoch` is replay.epoch */
};

struct replay_device {
	int device;
	uint64_t at_allocated, at_reserved; /* the device's bytes at the moment asked for */
};

struct replay {
	const struct replay_wish *wish;
	struct trace *trace;
	struct lives lives; /* blocks of the selected events; block.stack is a position in rows[] */
	struct unattributed loose; /* bytes without an address; tag: a position in rows[] */
	struct replay_row *rows;
	size_t rows_n, rows_size;
	struct map row_of; /* 1 + position in rows[], by key */
	struct replay_device *devices;
	size_t devices_n;
	uint64_t now;           /* the peak's sum, after the last event read */
	uint64_t t, seq, bytes; /* at the moment asked for: last event's time, number; the sum */
	bool any;               /* true if an event was read */
	uint64_t events;        /* number of events read */
	uint64_t epoch;         /* increases at each new peak */
	bool open;              /* true if the window has begun */

	/* Events missing until the window ends: number, times (ns) of events before and after. */
	uint64_t dropped, dropped_from, dropped_to;
	uint64_t lost; /* bytes of the sum that no known block holds, TRACE_NONE if unknown */

	/* The members below are private. */
	uint64_t last_t;
	size_t allocs;      /* number of allocations so far, selected or not */
	uint32_t pool_text; /* text id of replay_wish.pool, 0 until an event has it */
	struct trace_phase_walk phases;
};

/* Reads the events of a trace just opened. `wish` must outlive `replay`. Returns 0 or -EINVAL. */
int replay_run(struct replay *replay, struct trace *trace, const struct replay_wish *wish);
void replay_clear(struct replay *replay);

/* Returns the bytes of a row's blocks at the moment asked for; sets *count to their number. */
uint64_t replay_at(const struct replay *replay, const struct replay_row *row, uint64_t *count);

/* Sets sums[CATEGORIES_MOST] to each category's bytes and blocks at the moment asked for. */
struct category_sum;
void replay_categories(const struct replay *replay, struct category_sum *sums);

/* Replaces the trace's sums with the replay's: the rows become trace.stacks[], trace.sites[] are
 * computed from the rows, and trace.peaks[] gets one element, for the moment asked for. */
void replay_adopt(const struct replay *replay);

static inline bool replay_is_split(const struct replay_wish *wish)
{
	return wish->split == TRACE_BY_THREAD || wish->split == TRACE_BY_PHASE ||
	       wish->split == TRACE_BY_CATEGORY;
}

/* --- used by replay.c and replay_adopt.c only --- */

/* Allocates replay->devices. Adds a row per stack, unless rows are split or have categories. */
void replay_start_rows(struct replay *replay);

/* Returns 1 + the position of the row that counts the event; `category` is that of its block. */
uint32_t replay_row_of(struct replay *replay, const struct event *event, uint8_t category);
