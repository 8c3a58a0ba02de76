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

/* Memory that is summed by itself: a device's, a pool's of it, a space's outside of devices. */
struct categories_place {
	int device;        /* NO_DEVICE: a space */
	const char *pool;  /* NULL: the whole device or space */
	const char *space; /* "device" for a device or its pool */
	bool peak_exact;   /* summed block by block; else by stacks */
	bool exit_exact;
	uint64_t peak_t, peak_bytes, exit_bytes;
	struct category_sum peak[CATEGORIES_MOST]; /* sums to peak_bytes */
	struct category_sum exit[CATEGORIES_MOST];
	/* Since the start, of what was recorded. */
	struct category_sum made[CATEGORIES_MOST];
	/* The curve, of devices and of their pools; 0 points where events are missing. */
	size_t points;
	uint64_t *t;
	uint64_t *bytes; /* [category * points + i], after the last event up to t[i] */

	/* Private to the pass: */
	uint64_t now; /* bytes */
	uint64_t peak_seq;
	struct category_sum corpses[CATEGORIES_MOST];  /* freed since the peak, alive at it */
	struct category_sum loose[CATEGORIES_MOST];    /* bytes without an address, now */
	struct category_sum loose_at[CATEGORIES_MOST]; /* at the peak */
	size_t point;                                  /* of its curve: the first after now */
	const struct trace_sum *told;                  /* the summary's figures of it */
	const struct trace_category *baseline;         /* a baseline's */
	size_t baseline_n;
};

/* The facts of a stack that rules ask for, whatever the block. */
struct stack_view {
	uint8_t marked; /* enum stage of the innermost frame that has one; STAGES for none */
	bool inside;    /* of a backward pass */
	bool called;    /* some frame is of the stage forward */
	uint32_t first; /* its rules: candidates[first ...] */
	uint32_t count;
};

struct stack_views {
	struct stack_view *list; /* by stack; the last: no stack */
	uint16_t *candidates;    /* rules whose conditions about stacks hold, in their order */
};

/* The places that memory belongs to: its device or space, and its pool. Memory of no known place
 * goes to one more, after the others, that nobody reads. */
enum { WHOLE, POOL, BOTH };

struct whereabouts {
	uint32_t place[BOTH];
};

struct categories {
	const struct rules *rules;
	struct categories_place *places; /* devices first, then pools, then spaces */
	size_t places_n;
	uint8_t *of_stack; /* by stack: the category of most of its bytes */
	size_t stacks_n;
	/* By allocation, in the order of the events of op alloc: its category. Only if it is
	 * wanted, which a caller sets between the start and the first event. */
	bool keep_allocs;
	uint8_t *of_alloc;
	size_t allocs_n;

	/* Private to the pass: */
	struct trace *trace;
	struct arena arena;
	struct stack_views views;
	struct lives lives;   /* the stack of a block is its position in views */
	struct birth *births; /* by position in blocks */
	size_t births_n;
	struct stage_track *tracks;
	struct vote *votes;        /* by stack, the last: no stack */
	struct unattributed loose; /* bytes without an address, by category */
	bool *trains; /* by thread of the trace: it trains, so that its events can end a pass */
	struct trace_phase_walk phases;
	struct map gradients; /* sizes that outlived a backward pass */
	uint32_t looks;       /* how often live blocks were searched for those */
	uint64_t last_t;
	uint64_t gap_seq; /* the first event after missing ones, UINT64_MAX for none missing */
	uint64_t longest; /* the longest lifetime of memory that a backward pass made, ns */
	struct whereabouts last_at; /* of the last event */
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

/* Takes all events, none read yet, and the end: 0 or -EINVAL with err_text(). */
int categories_read(struct categories *categories);

/* The place, NULL when there is none. */
const struct categories_place *categories_place(const struct categories *categories, int device,
						const char *pool, const char *space);

const char *categories_name(const struct categories *categories, size_t category);

/* The categories of a list of sums, most bytes first and none without: their number. `order` holds
 * CATEGORIES_MOST. */
size_t categories_order(const struct categories *categories, const struct category_sum *sums,
			uint8_t *order);

/* A composition by stack (a peak's) by category, each stack by the category of most of its bytes;
 * the rest of `bytes` is other. `sums` holds CATEGORIES_MOST. */
void categories_of_shares(const struct categories *categories, const struct trace_share *shares,
			  size_t count, uint64_t bytes, struct category_sum *sums);
