/* What memory was for: one pass over the events; a block's category is known when it ends. */
#include "analyse/categories.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/categories_parts.h"
#include "analyse/error.h"
#include "base/hash.h"

enum {
	LOOKS = 16, /* passes behind which live blocks are searched for gradients */
};

static int no_memory(const struct categories *categories)
{
	return err("%s: no memory left", categories->own->trace->path);
}

/* --- threads, phases --- */

static struct worker *worker_of(struct categories_own *own, uint64_t thread)
{
	struct worker *workers = own->workers;

	if (own->last_worker < own->workers_n && workers[own->last_worker].thread == thread)
		return &workers[own->last_worker];
	for (size_t i = own->workers_n; i--;) {
		if (workers[i].thread == thread) {
			own->last_worker = i;
			return &workers[i];
		}
	}
	return NULL;
}

static int find_workers(struct categories_own *own)
{
	const struct trace *trace = own->trace;

	own->workers = arena_alloc(&own->arena, (trace->threads_n + 1) * sizeof(*own->workers));
	if (!own->workers)
		return -ENOMEM;
	own->workers_n = trace->threads_n;
	for (size_t i = 0; i < trace->threads_n; i++) {
		const struct trace_thread *thread = &trace->threads[i];
		bool autograd = thread->name && !strncmp(thread->name, "pt_autograd_", 12);

		own->workers[i] =
			(struct worker){ thread->thread, thread->name, autograd, thread->main };
	}
	return 0;
}

/* The innermost phase at time t, on whatever thread: 1 + its position, 0 for none. */
static uint32_t phase_at(struct categories_own *own, uint64_t t)
{
	const struct trace *trace = own->trace;

	for (;;) {
		bool next = own->phase_next < trace->phases_n &&
			    trace->phases[own->phase_next].start <= t;

		/* Those that are over by then are left in front of one that begins. */
		while (own->phases_open &&
		       trace->phases[own->phases[own->phases_open - 1]].end <=
			       (next ? trace->phases[own->phase_next].start : t))
			own->phases_open--;
		if (!next)
			break;
		own->phase_parents[own->phase_next] =
			own->phases_open ? own->phases[own->phases_open - 1] + 1 : 0;
		own->phases[own->phases_open++] = (uint32_t)own->phase_next++;
	}
	return own->phases_open ? own->phases[own->phases_open - 1] + 1 : 0;
}

/* --- places --- */

static bool on_card(const struct trace_event *event)
{
	return event->device >= 0 && (event->space == SPACE_DEVICE || event->space == SPACE_ARRAY);
}

/* The device's position, that behind the last for memory of none. */
static uint16_t track_of(const struct categories_own *own, const struct trace_event *event)
{
	const struct trace *trace = own->trace;
	uint16_t i = 0;

	if (!on_card(event))
		return (uint16_t)trace->summary.devices_n;
	while (i < trace->summary.devices_n && trace->summary.devices[i].device != event->device)
		i++;
	return i;
}

/* The places that a block belongs to: its device or space, and its pool. SIZE_MAX for none. */
struct whereabouts {
	size_t whole, pool;
};

static bool is_pool(const struct categories *categories, size_t i, uint32_t pool)
{
	struct place_own *own = &categories->own->places[i];
	const char *text;

	if (own->pool == pool)
		return true;
	if (own->pool)
		return false;
	text = trace_text(categories->own->trace, pool);
	if (!text || strcmp(text, categories->places[i].pool) != 0)
		return false;
	own->pool = pool;
	return true;
}

static struct whereabouts places_of(const struct categories *categories, int device, bool card,
				    uint8_t space, uint32_t pool)
{
	struct whereabouts at = { SIZE_MAX, SIZE_MAX };

	for (size_t i = 0; i < categories->places_n; i++) {
		const struct categories_place *place = &categories->places[i];
		const char *name = space_name(space);

		if (!card && place->device == NO_DEVICE && name && !strcmp(place->space, name))
			at.whole = i;
		if (!card || place->device != device)
			continue;
		if (!place->pool)
			at.whole = i;
		else if (pool && at.pool == SIZE_MAX && is_pool(categories, i, pool))
			at.pool = i;
	}
	return at;
}

static struct whereabouts places_of_block(const struct categories *categories,
					  const struct block *block)
{
	bool card =
		block->device >= 0 && (block->space == SPACE_DEVICE || block->space == SPACE_ARRAY);

	return places_of(categories, block->device, card, block->space, block->pool);
}

static void see_peak(struct categories *categories, size_t i, uint64_t bytes,
		     const struct trace_event *event)
{
	struct categories_place *place = &categories->places[i];
	struct place_own *own = &categories->own->places[i];

	if (bytes <= place->peak_bytes)
		return;
	place->peak_bytes = bytes;
	place->peak_t = event->t;
	own->peak_seq = event->seq;
	memset(own->corpses, 0, sizeof(own->corpses));
	memcpy(own->loose_at, own->loose, sizeof(own->loose_at));
}

static void see_peaks(struct categories *categories, const struct whereabouts *at,
		      const struct trace_event *event)
{
	if (at->whole != SIZE_MAX)
		see_peak(categories, at->whole,
			 on_card(event) && event->allocated != TRACE_NONE
				 ? event->allocated
				 : categories->own->places[at->whole].now,
			 event);
	if (at->pool != SIZE_MAX)
		see_peak(categories, at->pool, categories->own->places[at->pool].now, event);
}

/* The curve's column changes from a point on. */
static void change_curve(struct categories_place *place, uint8_t category, size_t point,
			 uint64_t by)
{
	if (point < place->points)
		place->bytes[category * place->points + point] += by;
}

/* --- passes --- */

/* What the process is at when it makes an event. */
struct doing {
	enum stage stage;
	bool inside; /* of a backward pass */
	bool ends;   /* a pass that is open is over, if it is not inside */
	struct worker *worker;
};

static uint32_t stack_of(const struct categories_own *own, const struct trace_event *event)
{
	return event->stack < own->trace->stacks_n ? event->stack : (uint32_t)own->trace->stacks_n;
}

static struct doing what_is_done(struct categories_own *own, const struct trace_event *event)
{
	const struct stack_view *view = &own->views.list[stack_of(own, event)];
	struct doing doing = { .worker = worker_of(own, event->thread) };
	bool autograd = doing.worker && doing.worker->autograd;

	doing.inside = view->inside || autograd;
	if (view->marked == STAGES)
		doing.stage = doing.inside ? STAGE_BACKWARD : STAGE_FORWARD;
	else if (view->marked == STAGE_FORWARD && doing.inside)
		doing.stage = STAGE_RECOMPUTE;
	else
		doing.stage = view->marked;
	if (doing.worker && !autograd && doing.stage != STAGE_FORWARD)
		doing.worker->trains = true;
	doing.ends = !doing.worker || doing.worker->trains;
	return doing;
}

static bool remember_gradient(struct categories_own *own, uint64_t size)
{
	uint64_t key = hash_mix(size, 1);

	return map_get(&own->gradients, key) || map_put(&own->gradients, key, 1);
}

/* A pass is over: what it made and still lives are gradients. */
static bool look_for_gradients(struct categories_own *own, uint16_t track, uint32_t pass)
{
	bool good = true;

	if (own->looks == LOOKS)
		return true;
	own->looks++;
	for (uint32_t i = 0; good && i < own->blocks.used; i++) {
		const struct birth *birth = &own->births[i];

		if (own->blocks.list[i].state == BLOCK_LIVE && birth->born == STAGE_BACKWARD &&
		    birth->track == track && birth->pass == pass)
			good = remember_gradient(own, own->blocks.list[i].size);
	}
	return good;
}

static bool step_track(struct categories *categories, uint16_t number, const struct doing *doing,
		       uint64_t seq)
{
	struct track *track = &categories->own->tracks[number];
	bool good = true;

	if (doing->inside && !track->in_pass) {
		track->in_pass = true;
		track->passes++;
		categories->passes++;
	} else if (!doing->inside && track->in_pass && doing->ends) {
		track->in_pass = false;
		good = look_for_gradients(categories->own, number, track->passes);
	}
	if (doing->stage == STAGE_BACKWARD)
		track->backward_seq = seq;
	if (doing->stage == STAGE_OPTIMIZER && !track->in_step) {
		track->in_step = true;
		track->steps++;
		categories->steps++;
	} else if (doing->stage != STAGE_OPTIMIZER && track->in_step && doing->ends) {
		track->in_step = false;
	}
	return good;
}

/* Is the stage that the block was born in still going on? */
static bool same_stage(const struct track *track, const struct birth *birth, uint64_t seq)
{
	switch ((enum stage)birth->born) {
	case STAGE_FORWARD:
		return birth->pass == track->passes;
	case STAGE_RECOMPUTE:
		return seq > track->backward_seq;
	case STAGE_BACKWARD:
		return birth->pass == track->passes && track->in_pass;
	default:
		return birth->step == track->steps && track->in_step;
	}
}

/* --- blocks --- */

static struct life life_of(const struct categories *categories, uint32_t id, uint64_t t)
{
	const struct categories_own *own = categories->own;
	const struct block *block = &own->blocks.list[id];
	const struct birth *birth = &own->births[id];
	const struct track *track = &own->tracks[birth->track];
	const struct worker *worker = worker_of(categories->own, birth->thread);

	return (struct life){
		.stack = block->stack,
		.pool = trace_text(own->trace, block->pool),
		.api = birth->api,
		.phase = birth->phase,
		.space = block->space,
		.born = birth->born,
		.thread = worker ? worker->name : NULL,
		.gradient = map_get(&own->gradients, hash_mix(block->size, 1)) != 0,
		.size = block->size,
		.lifetime = t > block->t ? t - block->t : 0,
		.allocations = track->allocations - birth->ordinal,
		.passes = track->passes - birth->pass,
		.pass = birth->pass,
	};
}

static void vote(struct vote *vote, uint8_t category, uint64_t size)
{
	if (vote->category == category) {
		vote->weight += size;
	} else if (vote->weight >= size) {
		vote->weight -= size;
	} else {
		vote->category = category;
		vote->weight = size - vote->weight;
	}
}

/* A block's category is known: what it was part of hears of it. */
static void book(struct categories *categories, uint32_t id, uint8_t category, bool lives)
{
	struct categories_own *own = categories->own;
	const struct block *block = &own->blocks.list[id];
	const struct birth *birth = &own->births[id];
	struct whereabouts at = places_of_block(categories, block);
	const size_t places[] = { at.whole, at.pool };

	if (own->keep_allocs)
		categories->of_alloc[birth->alloc] = category;
	for (size_t i = 0; i < 2; i++) {
		struct categories_place *place;
		struct place_own *mine;

		if (places[i] == SIZE_MAX)
			continue;
		place = &categories->places[places[i]];
		mine = &own->places[places[i]];
		place->made[category].bytes += block->size;
		place->made[category].count++;
		if (block->seq <= mine->peak_seq) {
			mine->corpses[category][0] += block->size;
			mine->corpses[category][1]++;
		}
		if (lives) {
			place->exit[category].bytes += block->size;
			place->exit[category].count++;
		} else {
			mine->now -= block->size;
		}
		change_curve(place, category, birth->point, block->size);
		if (!lives)
			change_curve(place, category, mine->point, 0 - block->size);
	}
}

static int end_block(struct categories *categories, uint32_t id, const struct trace_event *event,
		     enum stage stage)
{
	struct categories_own *own = categories->own;
	const struct birth *birth = &own->births[id];
	const struct block *block = &own->blocks.list[id];
	struct life life = life_of(categories, id, event->t);
	bool soon = same_stage(&own->tracks[birth->track], birth, block->seq);
	uint8_t category;

	life.freed = (uint8_t)(soon ? (int)FREED_SOON : (int)stage);
	category = life_category(categories, &life);
	vote(&own->votes[block->stack], category, block->size);
	own->votes[block->stack].kept += soon ? -(int64_t)block->size : (int64_t)block->size;
	if (birth->born == STAGE_BACKWARD && !soon && !remember_gradient(own, block->size))
		return -ENOMEM;
	book(categories, id, category, false);
	blocks_end(&own->blocks, id + 1);
	return 0;
}

/* Nobody saw the end of those that live now. */
static void end_all(struct categories *categories, bool lives)
{
	struct categories_own *own = categories->own;

	for (uint32_t i = 0; i < own->blocks.used; i++) {
		const struct block *block = &own->blocks.list[i];
		const struct birth *birth = &own->births[i];
		const struct track *track = &own->tracks[birth->track];
		struct life life;

		if (block->state != BLOCK_LIVE)
			continue;
		/* In the middle of a stage nobody knows: it is as the others of the stack were. */
		life = life_of(categories, i, own->last_t);
		life.freed = track->passes && own->votes[block->stack].kept < 0 &&
					     same_stage(track, birth, block->seq)
				     ? FREED_SOON
				     : FREED_NEVER;
		book(categories, i, life_category(categories, &life), lives);
	}
}

static void remember_live_gradients(struct categories_own *own)
{
	for (uint32_t i = 0; i < own->blocks.used; i++) {
		if (own->blocks.list[i].state == BLOCK_LIVE &&
		    own->births[i].born == STAGE_BACKWARD)
			remember_gradient(own, own->blocks.list[i].size);
	}
}

/* --- events --- */

/* Positions in the table of blocks have a row of births each. */
static int grow_births(struct categories_own *own)
{
	struct birth *births;

	if (own->births_n >= own->blocks.size)
		return 0;
	births = reallocarray(own->births, own->blocks.size, sizeof(*births));
	if (!births)
		return -ENOMEM;
	own->births = births;
	own->births_n = own->blocks.size;
	return 0;
}

static int grow_allocs(struct categories *categories)
{
	struct categories_own *own = categories->own;
	size_t size = own->allocs_size * 2 + 4096;
	uint8_t *list;

	if (!own->keep_allocs || categories->allocs_n < own->allocs_size)
		return 0;
	list = realloc(categories->of_alloc, size);
	if (!list)
		return -ENOMEM;
	memset(list + own->allocs_size, CATEGORY_OTHER, size - own->allocs_size);
	categories->of_alloc = list;
	own->allocs_size = size;
	return 0;
}

static struct block block_of(const struct categories_own *own, const struct trace_event *event)
{
	return (struct block){
		.ptr = event->ptr,
		.size = event->size,
		.seq = event->seq,
		.t = event->t,
		.stack = stack_of(own, event),
		.pool = event->pool,
		.device = event->device,
		.space = event->space,
		.kind = BLOCK_HANDED,
	};
}

static struct life loose_life(const struct categories_own *own, const struct trace_event *event,
			      enum stage stage)
{
	return (struct life){
		.stack = stack_of(own, event),
		.pool = trace_text(own->trace, event->pool),
		.api = event->api,
		.space = event->space,
		.born = (uint8_t)stage,
		.freed = FREED_NEVER,
		.size = event->size,
		.lifetime = UINT64_MAX,
		.allocations = UINT64_MAX,
	};
}

/*
 * Bytes without an address: what a pool's own totals tell. They come and go with their stack, as if
 * they were never freed.
 */
static void move_loose(struct categories *categories, const struct trace_event *event,
		       enum stage stage, const struct whereabouts *at)
{
	struct categories_own *own = categories->own;
	struct life life = loose_life(own, event, stage);
	uint8_t category = life_category(categories, &life);
	bool comes = event->op == EVENT_ALLOC;
	const size_t places[] = { at->whole, at->pool };
	uint64_t *held = &own->stack_loose[life.stack];
	uint64_t size = comes || event->size <= *held ? event->size : *held;
	uint64_t by = comes ? size : 0 - size;

	*held += by;
	if (own->keep_allocs && comes)
		categories->of_alloc[categories->allocs_n - 1] = category;
	for (size_t i = 0; i < 2; i++) {
		struct place_own *mine = &own->places[places[i]];

		if (places[i] == SIZE_MAX)
			continue;
		mine->now += by;
		mine->loose[category] += by;
		change_curve(&categories->places[places[i]], category, mine->point, by);
		if (comes) {
			categories->places[places[i]].made[category].bytes += size;
			categories->places[places[i]].made[category].count++;
		}
	}
}

static int begin(struct categories *categories, const struct trace_event *event,
		 const struct doing *doing, uint16_t number, const struct whereabouts *at)
{
	struct categories_own *own = categories->own;
	struct track *track = &own->tracks[number];
	struct block block = block_of(own, event);
	uint32_t id;

	if (blocks_add(&own->blocks, &block) || grow_births(own))
		return -ENOMEM;
	id = blocks_find(&own->blocks, &block);
	own->births[id - 1] = (struct birth){
		.api = event->api,
		.phase = own->trace->phases_n ? phase_at(own, event->t) : 0,
		.thread = (uint32_t)event->thread,
		.alloc = (uint32_t)categories->allocs_n - 1,
		.point =
			at->whole == SIZE_MAX ? UINT32_MAX : (uint32_t)own->places[at->whole].point,
		.born = (uint8_t)doing->stage,
		.track = number,
		.ordinal = ++track->allocations,
		.pass = track->passes,
		.step = track->steps,
	};
	if (at->whole != SIZE_MAX)
		own->places[at->whole].now += event->size;
	if (at->pool != SIZE_MAX)
		own->places[at->pool].now += event->size;
	return 0;
}

static void step_curve(struct categories *categories, const struct whereabouts *at, uint64_t t)
{
	if (at->whole != SIZE_MAX) {
		const struct categories_place *place = &categories->places[at->whole];
		struct place_own *mine = &categories->own->places[at->whole];

		while (mine->point < place->points && place->t[mine->point] < t)
			mine->point++;
	}
}

static int move_block(struct categories *categories, const struct trace_event *event)
{
	struct categories_own *own = categories->own;
	struct doing doing = what_is_done(own, event);
	uint16_t number = track_of(own, event);
	struct whereabouts at =
		places_of(categories, event->device, on_card(event), event->space, event->pool);
	struct block like = block_of(own, event);
	uint32_t id = event->ptr ? blocks_find(&own->blocks, &like) : 0;
	bool comes = event->op == EVENT_ALLOC;

	/* An event without a stack tells nothing of what is done. */
	if (event->stack == UINT32_MAX && !doing.inside && own->tracks[number].in_pass)
		doing.stage = STAGE_BACKWARD;
	else if (!step_track(categories, number, &doing, event->seq))
		return -ENOMEM;
	step_curve(categories, &at, event->t);
	categories->allocs_n += comes;
	if (comes && grow_allocs(categories))
		return -ENOMEM;
	if (id && end_block(categories, id - 1, event, doing.stage))
		return -ENOMEM;
	if (!event->ptr)
		move_loose(categories, event, doing.stage, &at);
	else if (comes && begin(categories, event, &doing, number, &at))
		return -ENOMEM;
	if (comes)
		see_peaks(categories, &at, event);
	return 0;
}

/* Events are missing: what lived before is another story, but what stacks make is not. */
static void forget(struct categories *categories, uint64_t seq)
{
	struct categories_own *own = categories->own;

	end_all(categories, false);
	if (own->gap_seq == UINT64_MAX)
		own->gap_seq = seq;
	blocks_forget(&own->blocks);
	memset(own->stack_loose, 0, (categories->stacks_n + 1) * sizeof(*own->stack_loose));
	for (size_t i = 0; i < categories->places_n; i++) {
		own->places[i].now = 0;
		memset(own->places[i].loose, 0, sizeof(own->places[i].loose));
	}
	for (size_t i = 0; i <= own->trace->summary.devices_n; i++)
		own->tracks[i].in_pass = own->tracks[i].in_step = false;
}

int categories_event(struct categories *categories, const struct trace_event *event)
{
	struct categories_own *own = categories->own;
	int error = 0;

	if (event->seq != own->next_seq)
		forget(categories, event->seq);
	own->next_seq = event->seq + 1;
	own->last_t = event->t;
	own->any = true;
	if (event->op == EVENT_ALLOC || event->op == EVENT_FREE) {
		if (!event->foreign)
			error = move_block(categories, event);
		else if (event->op == EVENT_ALLOC && ++categories->allocs_n)
			error = grow_allocs(categories);
	}
	return error ? no_memory(categories) : 0;
}

/* --- start and end --- */

void categories_keep_allocs(struct categories *categories)
{
	categories->own->keep_allocs = true;
}

static int start_own(struct categories *categories)
{
	struct categories_own *own = categories->own;
	const struct trace *trace = own->trace;
	size_t stacks = trace->stacks_n + 1;

	blocks_init(&own->blocks, false);
	own->gap_seq = UINT64_MAX;
	own->tracks =
		arena_alloc(&own->arena, (trace->summary.devices_n + 1) * sizeof(*own->tracks));
	own->votes = arena_alloc(&own->arena, stacks * sizeof(*own->votes));
	own->stack_loose = arena_alloc(&own->arena, stacks * sizeof(*own->stack_loose));
	own->places = arena_alloc(&own->arena, (categories->places_n + 1) * sizeof(*own->places));
	own->phases = arena_alloc(&own->arena, (trace->phases_n + 1) * sizeof(*own->phases));
	own->phase_parents =
		arena_alloc(&own->arena, (trace->phases_n + 1) * sizeof(*own->phase_parents));
	categories->of_stack = arena_alloc(&own->arena, stacks);
	if (!own->tracks || !own->votes || !own->stack_loose || !own->places || !own->phases ||
	    !own->phase_parents || !categories->of_stack)
		return -ENOMEM;
	if (find_workers(own))
		return -ENOMEM;
	return stack_views_find(&own->views, own->trace, categories->rules, &own->arena);
}

int categories_start(struct categories *categories, struct trace *trace, const struct rules *rules)
{
	*categories = (struct categories){
		.rules = rules,
		.stacks_n = trace->stacks_n,
		.own = calloc(1, sizeof(*categories->own)),
	};
	if (!categories->own)
		return err("%s: no memory left", trace->path);
	categories->own->trace = trace;
	if (categories_find_places(categories) || start_own(categories))
		return no_memory(categories);
	return 0;
}

int categories_end(struct categories *categories)
{
	struct categories_own *own = categories->own;

	remember_live_gradients(own);
	end_all(categories, true);
	for (size_t i = 0; i <= categories->stacks_n; i++)
		categories->of_stack[i] = own->votes[i].weight
						  ? own->votes[i].category
						  : categories_stack_alone(categories, i);
	categories_settle(categories);
	return 0;
}

int categories_read(struct categories *categories)
{
	struct trace_event event;
	int more = 1;
	int error = 0;

	while (!error && (more = trace_next(categories->own->trace, &event)) == 1)
		error = categories_event(categories, &event);
	if (!error && more < 0)
		error = -EINVAL;
	return error ? error : categories_end(categories);
}

void categories_clear(struct categories *categories)
{
	if (categories->own) {
		blocks_clear(&categories->own->blocks);
		map_clear(&categories->own->gradients);
		free(categories->own->births);
		free(categories->own->views.candidates);
		arena_clear(&categories->own->arena);
	}
	free(categories->own);
	free(categories->of_alloc);
	*categories = (struct categories){ 0 };
}
