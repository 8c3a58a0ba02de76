/* Declarations shared by categories*.c. */
#pragma once

#include "analyse/categories/categories.h"
#include "base/mem/hash.h"

/* categories_stacks.c: tests all stacks against the rules. The lists are in `arena`, except
 * `candidates`, which the caller frees with free(). */
void stack_views_find(struct stack_views *views, struct trace *trace, const struct rules *rules,
		      struct arena *arena);

/* The values of a block that rules test: those of the kinds BLOCK, WORD and NUMBER in rules.def. */
struct life {
	uint32_t stack; /* position in stack_views.list */
	uint32_t phase; /* 1 + position of the innermost phase at the allocation, 0 for none */
	union {
		const char *text;
		uint64_t number;
	} of[RULE_KEYS];
};

/* categories_blocks.c: returns the category of the first rule whose conditions the block meets, or
 * CATEGORY_OTHER. Also sets the value of the key `called` in *life. */
uint8_t life_category(const struct categories *categories, struct life *life);

/* Values that are known when a block is allocated and needed when it ends. */
struct birth {
	struct whereabouts at;
	uint32_t api, phase, thread;
	uint32_t alloc;   /* number of the allocation in the trace, from 0 */
	uint32_t point;   /* position of the first point of the curve that includes the block */
	uint8_t born;     /* enum stage in which the block was allocated */
	uint16_t track;   /* position of the device in tracks[] */
	uint64_t ordinal; /* number of the allocation on the device */
	uint32_t pass, step;
};

/* The backward passes and optimizer steps so far, by device; the last track is for other memory. */
struct stage_track {
	uint64_t allocations;
	uint64_t backward_seq; /* number of the last event of the stage backward */
	uint32_t passes, steps;
	bool in_pass, in_step;
};

/* The category of most bytes of a stack's blocks, found by Boyer and Moore's majority vote. */
struct vote {
	uint64_t weight; /* the vote's counter */
	int64_t kept; /* bytes freed after the stage that allocated them, minus bytes freed in it */
	uint8_t category;
};

/* --- categories_places.c --- */

/* Fills places[], and the times of the points of the devices' curves. */
void categories_find_places(struct categories *categories);

struct whereabouts places_of(struct categories *categories, const struct event *event);

/* To be called after an allocation: records a new peak of its device (or memory kind) and pool. */
void places_see_peaks(struct categories *categories, const struct whereabouts *at,
		      const struct event *event);

static inline void category_add(struct category_sum *to, uint64_t bytes, uint64_t count)
{
	to->bytes += bytes;
	to->count += count;
}

/* Adds `by` bytes to the category's curve from position `point` on; 0 - n removes n bytes. */
void place_change_curve(struct categories_place *place, uint8_t category, size_t point,
			uint64_t by);

/* --- categories_passes.c --- */

/* The stage of training to which an event belongs. */
struct doing {
	enum stage stage;
	bool inside; /* true if the event is inside a backward pass */
	bool ends;   /* true if the event ends a pass or step that does not include the event */
};

/* Returns the position of the event's stack in stack_views.list; the last entry is for no stack. */
static inline uint32_t stack_of(const struct categories *categories, const struct event *event)
{
	return event->stack < categories->trace->stacks_n ? event->stack
							  : (uint32_t)categories->trace->stacks_n;
}

/* Returns the stage of an event with this stack. `inside` is true inside a backward pass. */
static inline enum stage stage_of(const struct stack_view *view, bool inside)
{
	if (view->marked == STAGES)
		return inside ? STAGE_BACKWARD : STAGE_FORWARD;
	return view->marked == STAGE_FORWARD && inside ? STAGE_RECOMPUTE : view->marked;
}

struct doing doing_of(struct categories *categories, const struct event *event);

/* Begins or ends the backward pass and optimizer step of tracks[number], as event `seq` shows. */
void track_step(struct categories *categories, uint16_t number, const struct doing *doing,
		uint64_t seq);

/* True if the stage in which event `seq` allocated the block has not ended since. */
bool track_same_stage(const struct stage_track *track, const struct birth *birth, uint64_t seq);

/* Maps a size other than 0 to a key other than 0, one to one because the factor is odd. */
static inline uint64_t gradient_key(uint64_t size)
{
	return size * HASH_A;
}

void gradient_remember(struct categories *categories, uint64_t size);

/* Stores in `gradients` the sizes of the live blocks that were allocated in the latest backward
 * pass on the track or, if `track` is -1, in any backward pass. */
void gradients_remember_live(struct categories *categories, int track);

/* --- categories_blocks.c --- */

static inline bool lives_now(const struct block *block)
{
	return block->state == BLOCK_LIVE && lives_used(block);
}

/* Adds lives.ended, which `event` (of this stage) freed, to the sums of its category. */
void life_end(struct categories *categories, const struct event *event, enum stage stage);

/* Adds all live blocks to the sums: as live at exit if `lives`, else (events missing) as freed. */
void life_end_all(struct categories *categories, bool lives);

/* --- categories_sums.c --- */

/* Returns the category of a stack that has no events, by the stack's sums and lifetimes. */
uint8_t categories_stack_alone(struct categories *categories, size_t stack);

/* Completes the sums after the last event. */
void categories_settle(struct categories *categories);
