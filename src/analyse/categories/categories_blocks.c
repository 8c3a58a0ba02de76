/* Blocks of memory whose lives end, and what hears of it. */
#include <errno.h>

#include "analyse/categories/categories_parts.h"

static struct life life_of(const struct categories *categories, const struct block *block,
			   const struct birth *birth, uint64_t t)
{
	const struct categories_own *own = categories->own;
	const struct stage_track *track = &own->tracks[birth->track];
	const struct worker *worker = worker_of(categories->own, birth->thread);

	return (struct life){
		.stack = block->stack,
		.pool = trace_text(own->trace, block->pool),
		.api = birth->api,
		.phase = birth->phase,
		.space = block->space,
		.born = birth->born,
		.thread = worker ? worker->name : NULL,
		.gradient = map_get(&own->gradients, gradient_key(block->size)) != 0,
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
static void book(struct categories *categories, const struct block *block,
		 const struct birth *birth, uint8_t category, bool lives)
{
	struct categories_own *own = categories->own;
	const uint32_t places[] = { birth->at.whole, birth->at.pool };

	if (own->keep_allocs)
		categories->of_alloc[birth->alloc] = category;
	for (size_t i = 0; i < 2; i++) {
		struct categories_place *place;
		struct place_own *mine;

		if (places[i] == NO_PLACE)
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
		place_change_curve(place, category, birth->point, block->size);
		if (!lives)
			place_change_curve(place, category, mine->point, 0 - block->size);
	}
}

int life_end(struct categories *categories, const struct event *event, enum stage stage)
{
	struct categories_own *own = categories->own;
	const struct birth *birth = &own->births[own->lives.ended_id - 1];
	const struct block *block = &own->lives.ended;
	struct life life = life_of(categories, block, birth, event->t);
	bool soon = track_same_stage(&own->tracks[birth->track], birth, block->seq);
	int64_t *kept = &own->votes[block->stack].kept;
	uint8_t category;

	life.freed = (uint8_t)(soon ? (int)FREED_SOON : (int)stage);
	category = life_category(categories, &life);
	vote(&own->votes[block->stack], category, block->size);
	*kept = (int64_t)((uint64_t)*kept + (soon ? 0 - block->size : block->size));
	if (birth->born == STAGE_BACKWARD && !soon && !gradient_remember(own, block->size))
		return -ENOMEM;
	book(categories, block, birth, category, false);
	return 0;
}

/* Nobody saw the end of those that live now. */
void life_end_all(struct categories *categories, bool lives)
{
	struct categories_own *own = categories->own;

	for (uint32_t i = 0; i < own->lives.blocks.used; i++) {
		const struct block *block = &own->lives.blocks.list[i];
		const struct birth *birth;
		const struct stage_track *track;
		struct life life;

		if (!lives_now(block))
			continue;
		birth = &own->births[i];
		track = &own->tracks[birth->track];
		/* In the middle of a stage nobody knows: it is as the others of the stack were. */
		life = life_of(categories, block, birth, own->last_t);
		life.freed = track->passes && own->votes[block->stack].kept < 0 &&
					     track_same_stage(track, birth, block->seq)
				     ? FREED_SOON
				     : FREED_NEVER;
		book(categories, block, birth, life_category(categories, &life), lives);
	}
}

void gradients_remember_live(struct categories_own *own)
{
	for (uint32_t i = 0; i < own->lives.blocks.used; i++) {
		if (lives_now(&own->lives.blocks.list[i]) && own->births[i].born == STAGE_BACKWARD)
			gradient_remember(own, own->lives.blocks.list[i].size);
	}
}
