/* Shared by the files of categories*.c: the facts of a stack, and of a block's life. */
#pragma once

#include "analyse/categories/categories.h"
#include "base/mem/hash.h"

/* categories_stacks.c; the memory is the arena's. */
void stack_views_find(struct stack_views *views, struct trace *trace, const struct rules *rules,
		      struct arena *arena);

/* A block's life, as rules test it: by the keys of BLOCK, WORD and NUMBER in rules.def. */
struct life {
	uint32_t stack; /* position in views */
	uint32_t phase; /* 1 + the innermost that was open when it was allocated */
	union {
		const char *text;
		uint64_t number;
	} of[RULE_KEYS];
};

/* categories_blocks.c: the category of the first rule that fits. */
uint8_t life_category(const struct categories *categories, struct life *life);

/* The members of a block beside its row in the table of blocks. */
struct birth {
	struct whereabouts at;
	uint32_t api, phase, thread;
	uint32_t alloc;   /* the number of its allocation */
	uint32_t point;   /* of the device's curve: the first that it is in */
	uint8_t born;     /* enum stage */
	uint16_t track;   /* the device's, whose passes it lives through */
	uint64_t ordinal; /* of the track's allocations */
	uint32_t pass, step;
};

/* The passes and steps of a device; the last track is for memory of none. */
struct stage_track {
	uint64_t allocations;
	uint64_t backward_seq; /* of the last event of a backward pass that is no recomputation */
	uint32_t passes, steps;
	bool in_pass, in_step;
};

/* The category that most bytes of a stack's blocks had. */
struct vote {
	uint64_t weight; /* Boyer and Moore's majority */
	int64_t kept;    /* bytes that outlived their stage, less those that did not */
	uint8_t category;
};

/* --- categories_places.c --- */

/* The places of the trace, with the points of their curves. */
void categories_find_places(struct categories *categories);

struct whereabouts places_of(struct categories *categories, const struct event *event);

/* Checks after an allocation whether this is a peak. */
void places_see_peaks(struct categories *categories, const struct whereabouts *at,
		      const struct event *event);

static inline void category_add(struct category_sum *to, uint64_t bytes, uint64_t count)
{
	to->bytes += bytes;
	to->count += count;
}

/* The curve's column changes from a point on. */
void place_change_curve(struct categories_place *place, uint8_t category, size_t point,
			uint64_t by);

/* --- categories_passes.c --- */

/* The stage of the process when it makes an event. */
struct doing {
	enum stage stage;
	bool inside; /* of a backward pass */
	bool ends;   /* an open pass is over, if the event is not inside of one */
};

/* The position of the event's stack among views; the last for none. */
static inline uint32_t stack_of(const struct categories *categories, const struct event *event)
{
	return event->stack < categories->trace->stacks_n ? event->stack
							  : (uint32_t)categories->trace->stacks_n;
}

/* The stage of an event with that stack, made inside of a backward pass or not. */
static inline enum stage stage_of(const struct stack_view *view, bool inside)
{
	if (view->marked == STAGES)
		return inside ? STAGE_BACKWARD : STAGE_FORWARD;
	return view->marked == STAGE_FORWARD && inside ? STAGE_RECOMPUTE : view->marked;
}

struct doing doing_of(struct categories *categories, const struct event *event);

/* Updates the track by the stage of event `seq`. */
void track_step(struct categories *categories, uint16_t number, const struct doing *doing,
		uint64_t seq);

/* True if the stage in which the block was allocated, by event `seq`, is still going on. */
bool track_same_stage(const struct stage_track *track, const struct birth *birth, uint64_t seq);

/* A key for each size, as the factor is odd. */
static inline uint64_t gradient_key(uint64_t size)
{
	return size * HASH_A;
}

/* Remembers a size that outlived a backward pass. */
void gradient_remember(struct categories *categories, uint64_t size);

/* Remembers sizes of live blocks of backward passes: the track's latest, or (-1) any. */
void gradients_remember_live(struct categories *categories, int track);

/* --- categories_blocks.c --- */

/* True if the block lives and has a category. */
static inline bool lives_now(const struct block *block)
{
	return block->state == BLOCK_LIVE && lives_used(block);
}

/* Ends the block lives.ended in the stage. */
void life_end(struct categories *categories, const struct event *event, enum stage stage);

/* Ends all blocks that live now: at the end of the trace (`lives`), or before missing events. */
void life_end_all(struct categories *categories, bool lives);

/* --- categories_sums.c --- */

/* The category of a stack by its figures, for a stack without events. */
uint8_t categories_stack_alone(struct categories *categories, size_t stack);

/* The sums, once the pass is over. */
void categories_settle(struct categories *categories);
