/* Finds the category of each block of memory: when the block is freed, or after the last event. */
#include "analyse/categories/categories.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/categories/categories_parts.h"
#include "analyse/input/grow.h"

/* --- events --- */

static void count_alloc(struct categories *categories)
{
	size_t at = categories->allocs_n++;

	if (!categories->keep_allocs)
		return;
	NEED(GROW(categories->of_alloc, at, categories->allocs_size, 4096));
	categories->of_alloc[at] = CATEGORY_OTHER;
}

static struct life loose_life(const struct categories *categories, const struct event *event,
			      enum stage stage)
{
	return (struct life){
		.stack = stack_of(categories, event),
		.of = {
			[RULE_POOL].text = trace_text(categories->trace, event->pool),
			[RULE_API].text = trace_text(categories->trace, event->api),
			[RULE_SPACE].text = space_name(event->space),
			[RULE_STAGE].number = stage,
			[RULE_FREED].number = FREED_NEVER,
			[RULE_SIZE].number = event->size,
			[RULE_LIFETIME].number = UINT64_MAX,
			[RULE_ALLOCATIONS].number = UINT64_MAX,
		},
	};
}

/* Adds `part`, bytes without an address, to a category in the sums of the device and pool that `at`
 * names, or removes `part` from it (`go`). */
static void shift_loose(struct categories *categories, const struct whereabouts *at,
			uint8_t category, const struct category_sum *part, bool go)
{
	uint64_t by = go ? 0 - part->bytes : part->bytes;

	foreach (number, at->place, BOTH) {
		struct categories_place *place = &categories->places[*number];

		place->now += by;
		category_add(&place->loose[category], by, go ? 0 - part->count : part->count);
		place_change_curve(place, category, place->point, by);
	}
}

/* For blocks without an address only a pool's totals are known, not which free ends which block. So
 * each block is classified as if never freed, and frees remove the newest bytes first. */
static void loose_begin(struct categories *categories, const struct event *event, enum stage stage,
			const struct whereabouts *at)
{
	struct life life = loose_life(categories, event, stage);
	uint8_t category = life_category(categories, &life);
	int lumps = unattributed_come(&categories->loose, &categories->lives.begun, category);

	shift_loose(categories, at, category,
		    &(struct category_sum){ event->size, (uint64_t)lumps }, false);
	if (categories->keep_allocs)
		categories->of_alloc[categories->allocs_n - 1] = category;
	foreach (number, at->place, BOTH)
		category_add(&categories->places[*number].made[category], event->size, 1);
}

static void loose_end(struct categories *categories, const struct event *event,
		      const struct whereabouts *at)
{
	struct category_sum part;
	uint64_t left = event->size;
	uint32_t category;
	bool whole;

	while (left && (part.bytes = unattributed_go(&categories->loose, &categories->lives.ended,
						     left, &category, &whole))) {
		part.count = whole;
		shift_loose(categories, at, (uint8_t)category, &part, true);
		left -= part.bytes;
	}
}

static void begin_life(struct categories *categories, const struct event *event,
		       const struct doing *doing, uint16_t number, const struct whereabouts *at)
{
	struct stage_track *track = &categories->tracks[number];
	uint32_t id = categories->lives.begun_id;

	NEED(GROW_TO(categories->births, categories->lives.blocks.size, categories->births_n));
	categories->lives.blocks.list[id - 1].stack = stack_of(categories, event);
	categories->births[id - 1] = (struct birth){
		.at = *at,
		.api = event->api,
		.phase = trace_phase_at(&categories->phases, categories->trace, event->t),
		.thread = (uint32_t)event->thread,
		.alloc = (uint32_t)categories->allocs_n - 1,
		.point = (uint32_t)categories->places[at->place[WHOLE]].point,
		.born = (uint8_t)doing->stage,
		.track = number,
		.ordinal = ++track->allocations,
		.pass = track->passes,
		.step = track->steps,
	};
	categories->places[at->place[WHOLE]].now += event->size;
	categories->places[at->place[POOL]].now += event->size;
}

static void move_block(struct categories *categories, const struct event *event)
{
	struct lives *lives = &categories->lives;
	struct doing doing = doing_of(categories, event);
	uint16_t number = (uint16_t)trace_position(categories->trace, event->device, event->space);
	struct whereabouts at = places_of(categories, event);
	struct categories_place *whole = &categories->places[at.place[WHOLE]];
	bool comes = event->op == EVENT_ALLOC;

	/* An event without a stack shows no stage: in a backward pass, it counts for the pass. */
	if (event->stack == UINT32_MAX && !doing.inside && categories->tracks[number].in_pass)
		doing.stage = STAGE_BACKWARD;
	else
		track_step(categories, number, &doing, event->seq);
	while (whole->point < whole->points && whole->t[whole->point] < event->t)
		whole->point++;
	NEED(!lives_take(lives, event, NULL));
	if (lives->ended_id && lives_used(&lives->ended))
		life_end(categories, event, doing.stage);
	if (!event->ptr && !comes)
		loose_end(categories, event, &at);
	if (!comes)
		return;
	if (event->ptr)
		begin_life(categories, event, &doing, number, &at);
	else
		loose_begin(categories, event, doing.stage, &at);
	places_see_peaks(categories, &at, event);
}

/* Called where events are missing: forgets the live blocks, but not the categories of stacks. */
static void forget_block(struct categories *categories, uint64_t seq)
{
	life_end_all(categories, false);
	if (categories->gap_seq == UINT64_MAX)
		categories->gap_seq = seq;
	blocks_forget(&categories->lives.blocks);
	unattributed_forget(&categories->loose);
	foreach (place, categories->places) {
		place->now = 0;
		memset(place->loose, 0, sizeof(place->loose));
	}
	for (size_t i = 0; i <= categories->trace->summary.devices_n; i++)
		categories->tracks[i].in_pass = categories->tracks[i].in_step = false;
}

void categories_event(struct categories *categories, const struct event *event)
{
	if (lives_gap(&categories->lives, event))
		forget_block(categories, event->seq);
	categories->last_t = event->t;
	categories->any = true;
	if (event->op == EVENT_ALLOC)
		count_alloc(categories);
	if ((event->op == EVENT_ALLOC || event->op == EVENT_FREE) &&
	    !(event->flags & EVENT_FOREIGN))
		move_block(categories, event);
	else
		NEED(!lives_take(&categories->lives, event, NULL));
}

/* --- start and end --- */

void categories_start(struct categories *categories, struct trace *trace, const struct rules *rules)
{
	struct arena *arena = &categories->arena;
	size_t stacks = trace->stacks_n + 1;

	*categories = (struct categories){
		.rules = rules,
		.trace = trace,
		.stacks_n = trace->stacks_n,
	};
	categories_find_places(categories);
	lives_start(&categories->lives, trace->capture.events_filtered);
	categories->gap_seq = trace->capture.events_filtered ? 0 : UINT64_MAX;
	categories->tracks = NEED_ROOM(arena, categories->tracks, trace->summary.devices_n);
	categories->votes = need(arena, stacks * sizeof(*categories->votes));
	categories->of_stack = need(arena, stacks);
	trace_phase_walk(&categories->phases, trace);
	categories->trains = need(arena, trace->threads_n + 1);
	stack_views_find(&categories->views, trace, rules, arena);
}

void categories_end(struct categories *categories)
{
	/* of_alloc is NULL only if keep_allocs is false, so even an empty list gets memory. */
	NEED(!categories->keep_allocs ||
	     GROW(categories->of_alloc, categories->allocs_n, categories->allocs_size, 1));
	gradients_remember_live(categories, -1);
	life_end_all(categories, true);
	for (size_t i = 0; i <= categories->stacks_n; i++)
		categories->of_stack[i] = categories->votes[i].weight
						  ? categories->votes[i].category
						  : categories_stack_alone(categories, i);
	categories_settle(categories);
}

int categories_read(struct categories *categories)
{
	struct event event;
	int more;

	while ((more = trace_next(categories->trace, &event)) == 1)
		categories_event(categories, &event);
	if (!more)
		categories_end(categories);
	return more;
}

void categories_clear(struct categories *categories)
{
	lives_clear(&categories->lives);
	unattributed_clear(&categories->loose);
	map_clear(&categories->gradients);
	free(categories->births);
	free(categories->views.candidates);
	arena_clear(&categories->arena);
	free(categories->of_alloc);
	*categories = (struct categories){ 0 };
}
