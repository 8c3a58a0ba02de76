/*
 * The categories of memory: every block is in one, by rules (analyse/categories/rules.h) over its
 * stack and its life.
 *
 * One pass over the events, in which a block's category is known once it is freed or the trace
 * ends. So sums by category are exact to the byte for the highest moment of each device, pool and
 * space, for the end, and along the timeline. Where events are missing (dropped, or not in the
 * file) stacks decide: each by the category of most of its bytes in the events that there are,
 * without any by its figures; peak_exact and exit_exact show which.
 *
 * A pass (a backward pass) begins with the first event made inside of one and ends with the next
 * that a thread which trains makes outside; an optimizer's step likewise. Both are found by stacks
 * and by the names of autograd's threads, for each device.
 *
 * Memory without a category is in CATEGORY_OTHER: the sums of all categories are the whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/categories/rules.h"
#include "analyse/trace/trace.h"
#include "analyse/trace/unattributed.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "facts/lives.h"

struct category_sum {
	uint64_t bytes, count;
};

/* A device, a pool of a device, or a memory kind outside of devices, with its sums by category. */
struct categories_place {
	int device;        /* NO_DEVICE for a memory kind */
	const char *pool;  /* NULL for the whole device or memory kind */
	const char *space; /* the memory kind; "device" for devices and pools */
	bool peak_exact;   /* the sums are of blocks, not of stacks */
	bool exit_exact;
	uint64_t peak_t, peak_bytes, exit_bytes;
	struct category_sum peak[CATEGORIES_MOST]; /* their sum is peak_bytes */
	struct category_sum exit[CATEGORIES_MOST];
	/* All that was allocated since the start of the recording. */
	struct category_sum made[CATEGORIES_MOST];
	/* The number of the curve's points; 0 for memory kinds, and where events are missing. */
	size_t points;
	uint64_t *t;
	uint64_t *bytes; /* bytes after the last event up to t[i], at [category * points + i] */

	/* Used only during the pass: */
	uint64_t now; /* live bytes */
	uint64_t peak_seq;
	struct category_sum corpses[CATEGORIES_MOST];  /* in the peak, freed since */
	struct category_sum loose[CATEGORIES_MOST];    /* live bytes without an address */
	struct category_sum loose_at[CATEGORIES_MOST]; /* such bytes at the peak */
	size_t point;                          /* the curve's first point after the last event */
	const struct trace_sum *told;          /* its sum in the trace's summary */
	const struct trace_category *baseline; /* its categories in a baseline */
	size_t baseline_n;
};

/* A stack as rules see it, the same for all of its blocks. */
struct stack_view {
	uint8_t marked; /* enum stage of the innermost frame that has a stage; STAGES if none has */
	bool inside;    /* the stack is inside a backward pass */
	bool called;    /* a frame has the stage forward */
	uint32_t first; /* its rules begin at candidates[first] */
	uint32_t count;
};

struct stack_views {
	struct stack_view *list; /* by stack; the last entry is for events without one */
	uint16_t *candidates;    /* of each stack in turn, the rules whose conditions it meets */
};

/* Positions in places[] for an event: of its device or memory kind, and of its pool. An event that
 * belongs to none has the position after the last place. */
enum { WHOLE, POOL, BOTH };

struct whereabouts {
	uint32_t place[BOTH];
};

struct categories {
	const struct rules *rules;
	struct categories_place *places; /* devices first, then pools, then spaces */
	size_t places_n;
	uint8_t *of_stack; /* for each stack, the category of most of its bytes */
	size_t stacks_n;
	/* The category of each allocation, by the order of events of op alloc. A caller that wants
	 * them sets keep_allocs between the start and the first event. */
	bool keep_allocs;
	uint8_t *of_alloc;
	size_t allocs_n;

	/* Used only during the pass: */
	struct trace *trace;
	struct arena arena;
	struct stack_views views;
	struct lives lives;   /* a block's `stack` is a position in views */
	struct birth *births; /* by the block's position in lives.blocks */
	size_t births_n;
	struct stage_track *tracks;
	struct vote *votes;        /* by stack; the last entry is for blocks without one */
	struct unattributed loose; /* bytes without an address, by category */
	bool *trains;              /* by thread: true if it trains, so that its events end passes */
	struct trace_phase_walk phases;
	struct map gradients; /* sizes of blocks that outlived a backward pass */
	uint32_t looks;       /* number of searches of live blocks for such sizes */
	uint64_t last_t;
	uint64_t gap_seq; /* first event after missing ones; UINT64_MAX: none are missing */
	uint64_t longest; /* ns, the longest lifetime of memory of a backward pass */
	struct whereabouts last_at; /* places of the event before */
	uint32_t last_pool;
	int16_t last_device;
	uint8_t last_space;
	bool last_known;
	bool any;
	size_t allocs_size;
};

/*
 * To be called after trace_open() and before anything that changes the trace's stacks
 * (trace_choose()); later calls read nothing of the trace but the texts of its events' numbers.
 * Each event in its order follows, or none at all; then categories_end(). Rules and trace must
 * outlive it.
 */
void categories_start(struct categories *categories, struct trace *trace,
		      const struct rules *rules);
void categories_event(struct categories *categories, const struct event *event);
void categories_end(struct categories *categories);
void categories_clear(struct categories *categories);

/* Reads all events of the trace, of which none has been read, and ends the pass. Returns 0, or
 * -EINVAL with err_text(). */
int categories_read(struct categories *categories);

/* The sums of a device, pool or memory kind; NULL if the trace has no such place. */
const struct categories_place *categories_place(const struct categories *categories, int device,
						const char *pool, const char *space);

const char *categories_name(const struct categories *categories, size_t category);

/* Writes the categories that have bytes, most bytes first, to `order` (room for CATEGORIES_MOST).
 * Returns their number. */
size_t categories_order(const struct categories *categories, const struct category_sum *sums,
			uint8_t *order);

/* Sums a peak's stacks by category, each in the category of most of its bytes; bytes without a
 * stack are "other". `sums` has room for CATEGORIES_MOST. */
void categories_of_shares(const struct categories *categories, const struct trace_share *shares,
			  size_t count, uint64_t bytes, struct category_sum *sums);
