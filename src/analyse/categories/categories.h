/*
 * Puts every block into a category of memory, by rules (rules.h) about its stack and its lifetime.
 *
 * This takes one pass over the events: a block's category is known when the block is freed or the
 * trace ends. So sums by category are exact to the byte at the peak of each device, pool and memory
 * kind, at the end, and along the timeline. Where events are missing (dropped, or not in the file),
 * all bytes of a stack count in one category: the category of most of its bytes in the events that
 * are in the trace; for a stack without events, the category that its sums and lifetimes suggest.
 * Then peak_exact or exit_exact is false.
 *
 * A backward pass ("pass") begins with an event whose stack or thread belongs to backward code. It
 * ends with the device's next event whose stack shows other code and whose thread trains: is the
 * main thread, or has had an event of a stage other than forward. Optimizer steps end likewise.
 *
 * Memory that no rule fits is in CATEGORY_OTHER, so the categories add up to the total.
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
	bool peak_exact;   /* peak[]: true if from blocks or a baseline, false if from stacks */
	bool exit_exact;
	uint64_t peak_t, peak_bytes, exit_bytes;
	struct category_sum peak[CATEGORIES_MOST]; /* the bytes add up to peak_bytes */
	struct category_sum exit[CATEGORIES_MOST];
	/* Sums over all allocations in the trace's events. */
	struct category_sum made[CATEGORIES_MOST];
	/* Number of points of a device's curve; 0 for other places, and if events are missing. */
	size_t points;
	uint64_t *t;     /* the times of the points in ns */
	uint64_t *bytes; /* [category * points + i]: live bytes at t[i] */

	/* Used only while events are read: */
	uint64_t now; /* live bytes */
	uint64_t peak_seq;
	struct category_sum corpses[CATEGORIES_MOST];  /* blocks live at the peak, freed later */
	struct category_sum loose[CATEGORIES_MOST];    /* live bytes without an address */
	struct category_sum loose_at[CATEGORIES_MOST]; /* loose[] as it was at the peak */
	size_t point;                          /* the first point at or after the latest event */
	const struct trace_sum *told;          /* the place's totals in the trace's summary */
	const struct trace_category *baseline; /* sums of the place, if the trace is a baseline */
	size_t baseline_n;
};

/* The properties of a stack that rules test. They are the same for all of its blocks. */
struct stack_view {
	uint8_t marked; /* enum stage of the innermost frame that fits a stage rule; or STAGES */
	bool inside;    /* true if the stack is inside a backward pass */
	bool called;    /* true if a frame has the stage forward */
	uint32_t first; /* the stack's rules begin at candidates[first] */
	uint32_t count;
};

struct stack_views {
	struct stack_view *list; /* by stack; the last entry is for events without a stack */
	uint16_t *candidates;    /* by stack: positions of the rules whose stack conditions hold */
};

/* Positions in places[] for an event: that of its device or memory kind, and that of its pool. The
 * position after the last place stands for none. BOTH is their number. */
enum { WHOLE, POOL, BOTH };

struct whereabouts {
	uint32_t place[BOTH];
};

struct categories {
	const struct rules *rules;
	struct categories_place *places; /* devices first, then pools, then memory kinds */
	size_t places_n;
	uint8_t *of_stack; /* for each stack, the category of most of the stack's bytes */
	size_t stacks_n;
	/* The category of each allocation, in the order of the `alloc` events. A caller that wants
	 * this sets keep_allocs between categories_start() and the first event. */
	bool keep_allocs;
	uint8_t *of_alloc;
	size_t allocs_n;

	/* Used only while events are read: */
	struct trace *trace;
	struct arena arena;
	struct stack_views views;
	struct lives lives;   /* a block's `stack` is a position in views.list */
	struct birth *births; /* indexed by the block's position in lives.blocks */
	size_t births_n;
	struct stage_track *tracks;
	struct vote *votes;        /* by stack; the last entry is for blocks without a stack */
	struct unattributed loose; /* bytes without an address, by category */
	bool *trains; /* by thread: true once it had an event of another stage than forward */
	struct trace_phase_walk phases;
	struct map gradients; /* sizes of blocks allocated in a backward pass that outlived it */
	uint32_t looks;       /* number of backward passes that have ended, on any device */
	uint64_t last_t;
	uint64_t gap_seq; /* number of the first event after missing ones; UINT64_MAX if none */
	uint64_t longest; /* 1 + longest lifetime (ns) of backward stacks; 0: not yet computed */
	struct whereabouts last_at; /* positions in places[] for the previous event */
	uint32_t last_pool;
	int16_t last_device;
	uint8_t last_space;
	bool last_known;
	bool any; /* true after the first event */
	size_t allocs_size;
};

/*
 * Call categories_start() after trace_open() and before anything that changes the trace's stacks
 * (trace_choose()). Then call categories_event() for every event in order, or for none, and then
 * categories_end(). The rules and the trace must outlive the categories.
 */
void categories_start(struct categories *categories, struct trace *trace,
		      const struct rules *rules);
void categories_event(struct categories *categories, const struct event *event);
void categories_end(struct categories *categories);
void categories_clear(struct categories *categories);

/* Passes all events of the trace, none of which may have been read, to categories_event(), and
 * calls categories_end(). Returns 0, or -EINVAL with err_text(). */
int categories_read(struct categories *categories);

/* Returns the sums of a device, pool or memory kind, or NULL if the trace does not have it. */
const struct categories_place *categories_place(const struct categories *categories, int device,
						const char *pool, const char *space);

const char *categories_name(const struct categories *categories, size_t category);

/* Writes the numbers of the categories that have bytes or blocks, most bytes first, to `order`,
 * which has room for CATEGORIES_MOST. Returns how many there are. */
size_t categories_order(const struct categories *categories, const struct category_sum *sums,
			uint8_t *order);

/* Sums a peak of `bytes` by category, from its stacks' shares. A stack counts in the category of
 * most of its bytes; bytes without a stack are "other". `sums` has room for CATEGORIES_MOST. */
void categories_of_shares(const struct categories *categories, const struct trace_share *shares,
			  size_t count, uint64_t bytes, struct category_sum *sums);
