/*
 * What memory was for: every block in one category, by rules (analyse/categories/rules.h) over its
 * stack and its life.
 *
 * One pass over the events, in which a block's category is known once it is freed or the trace
 * ends. So sums by category are exact to the byte for the highest moment of each device, pool and
 * space, for the end, and along the timeline. Where events are missing (dropped, or not in the
 * file) stacks decide: each by what most of its bytes were in the events that there are, without
 * any by what its figures say; `exact` tells.
 *
 * A pass (a backward pass) begins with the first event made inside of one and ends with the next
 * that a thread which trains makes outside; an optimizer's step likewise. Both are told by stacks
 * and by the names of autograd's threads, for each device.
 *
 * What has no category is in CATEGORY_OTHER: the sums of all categories are the whole.
 */
#ifndef ANALYSE_CATEGORIES_CATEGORIES_H
#define ANALYSE_CATEGORIES_CATEGORIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/categories/rules.h"
#include "analyse/trace/trace.h"

struct category_sum {
	uint64_t bytes, count;
};

/* Memory that is summed by itself: a device's, a pool's of it, a space's outside of devices. */
struct categories_place {
	int device;        /* NO_DEVICE: a space */
	const char *pool;  /* NULL: the whole device or space */
	const char *space; /* "device" for a device or its pool */
	bool peak_exact;   /* told block by block; else by stacks */
	bool exit_exact;
	uint64_t peak_t, peak_bytes, exit_bytes;
	struct category_sum peak[CATEGORIES_MOST]; /* sums to peak_bytes */
	struct category_sum exit[CATEGORIES_MOST];
	/* Since the start, of what was recorded. */
	struct category_sum made[CATEGORIES_MOST];
	/* The curve, of devices and of their pools; 0 points where events are missing. */
	size_t points;
	uint64_t *t;
	uint64_t *bytes; /* [category * points + i], behind the last event up to t[i] */
};

struct categories {
	const struct rules *rules;
	struct categories_place *places; /* devices first, then pools, then spaces */
	size_t places_n;
	uint8_t *of_stack; /* by stack: what most of its bytes were */
	size_t stacks_n;
	/* By allocation, the so-manieth event of op alloc: its category. Only if wanted. */
	uint8_t *of_alloc;
	size_t allocs_n;

	/* The rest is its own. */
	struct categories_own *own;
};

/*
 * To be called behind trace_open() and in front of whatever changes what the trace says of stacks
 * (trace_choose()); later calls read nothing of the trace but what its events' numbers stand for.
 * Each event in its order follows, or none at all; then categories_end(). Rules and trace must
 * outlive it. 0 or -errno with err_text(); whatever they give, categories_clear() is due.
 */
int categories_start(struct categories *categories, struct trace *trace, const struct rules *rules);
int categories_event(struct categories *categories, const struct event *event);
int categories_end(struct categories *categories);
void categories_clear(struct categories *categories);

/* Between start and the first event: of_alloc[] is wanted. */
void categories_keep_allocs(struct categories *categories);

/* All events of the trace that it was started with, none of which has been read, and the end. */
int categories_read(struct categories *categories);

/* NULL when there is none. */
const struct categories_place *categories_place(const struct categories *categories, int device,
						const char *pool, const char *space);

/* The category's name. */
const char *categories_name(const struct categories *categories, size_t category);

/* The categories of a list of sums, most bytes first and none without: their number. `order` holds
 * CATEGORIES_MOST. */
size_t categories_order(const struct categories *categories, const struct category_sum *sums,
			uint8_t *order);

/*
 * A composition by stack (a peak's) by category, by what stacks mostly were; what the shares do not
 * reach of `bytes` is other. `sums` holds CATEGORIES_MOST.
 */
void categories_of_shares(const struct categories *categories, const struct trace_share *shares,
			  size_t count, uint64_t bytes, struct category_sum *sums);

#endif
