/* Finds backward passes and optimizer steps on devices by the stacks and threads of events. */
#include <string.h>

#include "analyse/categories/categories_parts.h"
#include "analyse/input/grow.h"

enum {
	LOOKS = 16, /* gradients are sought in the live blocks after each of the first 16 passes */
};

struct doing doing_of(struct categories *categories, const struct event *event)
{
	const struct stack_view *view = &categories->views.list[stack_of(categories, event)];
	const struct trace_thread *thread = trace_thread(categories->trace, event->thread);
	bool *trains = thread ? &categories->trains[thread - categories->trace->threads] : NULL;
	bool autograd = thread && thread->name && !strncmp(thread->name, "pt_autograd_", 12);
	struct doing doing = { .inside = view->inside || autograd };

	doing.stage = stage_of(view, doing.inside);
	if (thread && !autograd && doing.stage != STAGE_FORWARD)
		*trains = true;
	doing.ends = !thread || thread->main || *trains;
	return doing;
}

void gradient_remember(struct categories *categories, uint64_t size)
{
	uint64_t key = gradient_key(size);

	NEED(map_get(&categories->gradients, key) || map_put(&categories->gradients, key, 1));
}

void gradients_remember_live(struct categories *categories, int track)
{
	for (uint32_t i = 0; i < categories->lives.blocks.used; i++) {
		const struct block *block = &categories->lives.blocks.list[i];
		const struct birth *birth;

		if (!lives_now(block))
			continue;
		birth = &categories->births[i];
		if (birth->born == STAGE_BACKWARD &&
		    (track < 0 ||
		     (birth->track == track && birth->pass == categories->tracks[track].passes)))
			gradient_remember(categories, block->size);
	}
}

void track_step(struct categories *categories, uint16_t number, const struct doing *doing,
		uint64_t seq)
{
	struct stage_track *track = &categories->tracks[number];

	if (doing->inside && !track->in_pass) {
		track->in_pass = true;
		track->passes++;
	} else if (!doing->inside && track->in_pass && doing->ends) {
		track->in_pass = false;
		if (categories->looks++ < LOOKS)
			gradients_remember_live(categories, number);
	}
	if (doing->stage == STAGE_BACKWARD)
		track->backward_seq = seq;
	if (doing->stage == STAGE_OPTIMIZER && !track->in_step) {
		track->in_step = true;
		track->steps++;
	} else if (doing->stage != STAGE_OPTIMIZER && track->in_step && doing->ends) {
		track->in_step = false;
	}
}

bool track_same_stage(const struct stage_track *track, const struct birth *birth, uint64_t seq)
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
