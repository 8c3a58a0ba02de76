/*
 * The events of a trace read once more, in one pass: the blocks that were live at a moment, the
 * bytes that a selection of events allocated and freed, and the time of their peak.
 *
 * The sum in question is of allocated bytes, or of reserved ones: of the selected pool or space,
 * else of the selected device (or all of them together), whose sum leaves out managed, pinned and
 * CPU memory.
 *
 * After events that are not in the trace (dropped, or not recorded) the blocks that were live
 * before are not known: `lost` is their part of the device's sum. With events that a filter left
 * out it is the part that the blocks of the others do not hold; those are known from beginning to
 * end.
 */
#pragma once

#include "analyse/trace/trace.h"
#include "analyse/trace/unattributed.h"
#include "base/mem/map.h"
#include "facts/lives.h"

enum replay_moment {
	REPLAY_END,  /* of the window */
	REPLAY_PEAK, /* the highest inside the window, its start included */
};

struct replay_wish {
	int device;        /* NO_DEVICE: all */
	const char *pool;  /* NULL: all, and memory of no pool */
	int space;         /* enum space, SPACES: all */
	uint64_t from, to; /* the window, in ns; both ends belong to it */
	uint64_t last;     /* a seq: the window ends with this event at the latest */
	enum replay_moment moment;
	enum trace_by
		split; /* TRACE_BY_THREAD, _PHASE or _CATEGORY: rows are stacks by these, too */
	const bool *stacks; /* by stack: those that count; NULL: all */

	/* By allocation of the trace: its category, which rows are split by then. NULL: none. */
	const uint8_t *of_alloc;
	size_t allocs_n;
	const char *const *category_names;
	uint64_t categories;      /* a bit each: those that count */
	enum trace_metric metric; /* what the sum is of: allocated, or reserved */
};

/* The allocations and frees of one stack (of one thread, in one phase, for one category) inside the
 * window, and the bytes that it held. */
struct replay_row {
	struct replay_key {
		uint32_t stack, other;
		uint32_t category; /* where they are known */
	} key;
	const char *space; /* of its allocations, NULL without any */
	uint64_t allocations, bytes, frees, freed, frees_here, freed_here;
	uint64_t lifetime_min, lifetime_max; /* ns, 0 when none ended */
	uint64_t live, live_count;           /* at the window's end, in all spaces */
	uint64_t sum, sum_count;             /* the same, of the sum in question */
	uint64_t at, at_count, epoch;        /* that at the peak, if the epoch is the replay's */
};

struct replay_device {
	int device;
	uint64_t at_allocated, at_reserved; /* at the moment */
};

struct replay {
	const struct replay_wish *wish;
	struct trace *trace;
	struct lives lives;        /* of the selected events; the stack of a block is its row */
	struct unattributed loose; /* bytes without an address, by row */
	struct replay_row *rows;
	size_t rows_n, rows_size;
	struct map row_of; /* of split rows */
	struct replay_device *devices;
	size_t devices_n;
	uint64_t now;           /* the sum */
	uint64_t t, seq, bytes; /* of the moment: the last event that belongs to it, and the sum */
	bool any;               /* an event came before the moment */
	uint64_t events;        /* seen */
	uint64_t epoch;         /* counts peaks */
	bool open;              /* inside the window */

	/* Events that are missing before the moment. */
	uint64_t dropped, dropped_from, dropped_to; /* how many, t of their neighbours */
	uint64_t lost; /* bytes of the sum at the moment that are not known; TRACE_NONE if their
			  number is not known either */

	/* The rest is its own. */
	uint64_t last_t;
	size_t allocs;      /* so far, whether selected or not */
	uint32_t pool_text; /* of the wish, once an event had it */
	struct trace_phase_walk phases;
};

/* The trace must have been opened with its events. 0 or -errno with err_text(). */
int replay_run(struct replay *replay, struct trace *trace, const struct replay_wish *wish);
void replay_clear(struct replay *replay);

/* The bytes that a row held at the moment. */
uint64_t replay_at(const struct replay *replay, const struct replay_row *row, uint64_t *count);

/* The bytes that rows held at the moment by category, if known: CATEGORIES_MOST sums. */
struct category_sum;
void replay_categories(const struct replay *replay, struct category_sum *sums);

/* Puts the replay's result into the trace: stacks[] are its rows with their figures, sites[]
 * follow, and peaks[] is the one composition at its moment. */
void replay_adopt(const struct replay *replay);

/* True if rows are split by thread, phase or category. */
static inline bool replay_is_split(const struct replay_wish *wish)
{
	return wish->split == TRACE_BY_THREAD || wish->split == TRACE_BY_PHASE ||
	       wish->split == TRACE_BY_CATEGORY;
}

/* --- between replay.c and replay_adopt.c --- */

/* Makes the rows that exist from the beginning, and the look-up of the others: 0 or -errno. */
void replay_start_rows(struct replay *replay);

/* The row that the event's stack is booked under, 1 + its position. */
uint32_t replay_row_of(struct replay *replay, const struct event *event, uint8_t category);
