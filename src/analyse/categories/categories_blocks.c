/* Finds a block's category when the block or the trace ends, and adds the block to the sums. */
#include "analyse/categories/categories_parts.h"
#include "analyse/categories/glob.h"

/* --- rules --- */

static bool in_phase(const struct categories *categories, const struct rule_condition *condition,
		     uint32_t phase)
{
	for (; phase; phase = categories->phases.parents[phase - 1]) {
		if (pattern_any_fits(condition->patterns,
				     categories->trace->phases[phase - 1].name))
			return true;
	}
	return false;
}

static bool number_fits(const struct rule_condition *condition, uint64_t number)
{
	switch (condition->test) {
	case TEST_IS:
		return number == condition->number;
	case TEST_IS_NOT:
		return number != condition->number;
	case TEST_LESS:
		return number < condition->number;
	case TEST_MOST:
		return number <= condition->number;
	case TEST_LEAST:
		return number >= condition->number;
	default:
		return number > condition->number;
	}
}

/* True if the block fits the condition. For texts and words, != is tested as =. */
static bool fits_condition(const struct categories *categories,
			   const struct rule_condition *condition, const struct life *life)
{
	switch (rule_keys[condition->key].kind) {
	case RULE_KIND_BLOCK:
		return condition->key == RULE_PHASE
			       ? in_phase(categories, condition, life->phase)
			       : pattern_any_fits(condition->patterns,
						  life->of[condition->key].text);
	case RULE_KIND_WORD:
		return condition->words >> life->of[condition->key].number & 1;
	default:
		return number_fits(condition, life->of[condition->key].number);
	}
}

static bool rule_holds(const struct categories *categories, const struct rule *rule,
		       const struct life *life)
{
	foreach (condition, rule->conditions) {
		unsigned kind = rule_keys[condition->key].kind;

		if (kind <= RULE_KIND_STACK)
			continue;
		/* KEY!=VALUE negates the result; but for numbers, number_fits() itself tests !=. */
		if (fits_condition(categories, condition, life) ==
		    (kind != RULE_KIND_NUMBER && condition->test == TEST_IS_NOT))
			return false;
	}
	return true;
}

uint8_t life_category(const struct categories *categories, struct life *life)
{
	const struct stack_view *view = &categories->views.list[life->stack];

	life->of[RULE_CALLED].number = view->called;
	for (uint32_t i = 0; i < view->count; i++) {
		const struct rule *rule =
			&categories->rules->list[categories->views.candidates[view->first + i]];

		if (rule_holds(categories, rule, life))
			return rule->category;
	}
	return CATEGORY_OTHER;
}

/* --- the end of a block --- */

static struct life life_of(struct categories *categories, const struct block *block,
			   const struct birth *birth, uint64_t t)
{
	const struct stage_track *track = &categories->tracks[birth->track];
	const struct trace_thread *thread = trace_thread(categories->trace, birth->thread);

	return (struct life){
		.stack = block->stack,
		.phase = birth->phase,
		.of = {
			[RULE_POOL].text = trace_text(categories->trace, block->pool),
			[RULE_API].text = trace_text(categories->trace, birth->api),
			[RULE_SPACE].text = space_name(block->space),
			[RULE_THREAD].text = thread ? thread->name : NULL,
			[RULE_STAGE].number = birth->born,
			[RULE_GRADIENT].number =
				map_get(&categories->gradients, gradient_key(block->size)) != 0,
			[RULE_SIZE].number = block->size,
			[RULE_LIFETIME].number = t > block->t ? t - block->t : 0,
			[RULE_ALLOCATIONS].number = track->allocations - birth->ordinal,
			[RULE_PASSES].number = track->passes - birth->pass,
			[RULE_PASS].number = birth->pass,
		},
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

static void book(struct categories *categories, const struct block *block,
		 const struct birth *birth, uint8_t category, bool lives)
{
	if (categories->keep_allocs)
		categories->of_alloc[birth->alloc] = category;
	foreach (number, birth->at.place, BOTH) {
		struct categories_place *place = &categories->places[*number];

		category_add(&place->made[category], block->size, 1);
		if (block->seq <= place->peak_seq)
			category_add(&place->corpses[category], block->size, 1);
		place_change_curve(place, category, birth->point, block->size);
		if (lives) {
			category_add(&place->exit[category], block->size, 1);
			continue;
		}
		place->now -= block->size;
		place_change_curve(place, category, place->point, 0 - block->size);
	}
}

void life_end(struct categories *categories, const struct event *event, enum stage stage)
{
	const struct birth *birth = &categories->births[categories->lives.ended_id - 1];
	const struct block *block = &categories->lives.ended;
	struct life life = life_of(categories, block, birth, event->t);
	bool soon = track_same_stage(&categories->tracks[birth->track], birth, block->seq);
	int64_t *kept = &categories->votes[block->stack].kept;
	uint8_t category;

	life.of[RULE_FREED].number = soon ? (unsigned)FREED_SOON : (unsigned)stage;
	category = life_category(categories, &life);
	vote(&categories->votes[block->stack], category, block->size);
	*kept = (int64_t)((uint64_t)*kept + (soon ? 0 - block->size : block->size));
	if (birth->born == STAGE_BACKWARD && !soon)
		gradient_remember(categories, block->size);
	book(categories, block, birth, category, false);
}

void life_end_all(struct categories *categories, bool lives)
{
	for (uint32_t i = 0; i < categories->lives.blocks.used; i++) {
		const struct block *block = &categories->lives.blocks.list[i];
		const struct birth *birth;
		const struct stage_track *track;
		struct life life;

		if (!lives_now(block))
			continue;
		birth = &categories->births[i];
		track = &categories->tracks[birth->track];
		/* If the block's stage has not ended, the block counts as freed soon if most freed
		 * bytes of its stack were freed in the stage that allocated them. */
		life = life_of(categories, block, birth, categories->last_t);
		life.of[RULE_FREED].number =
			track->passes && categories->votes[block->stack].kept < 0 &&
					track_same_stage(track, birth, block->seq)
				? FREED_SOON
				: FREED_NEVER;
		book(categories, block, birth, life_category(categories, &life), lives);
	}
}
