/*
 * What a process is at: the forward and backward passes and optimizer steps that its events tell,
 * of each device, and the threads and phases that they come from.
 */
#include <string.h>

#include "analyse/categories/categories_parts.h"
#include "analyse/input/grow.h"

enum {
	LOOKS = 16, /* passes behind which live blocks are searched for gradients */
};

/* --- threads --- */

struct worker *worker_of(struct categories *categories, uint64_t thread)
{
	struct worker *workers = categories->workers;

	if (categories->last_worker < categories->workers_n &&
	    workers[categories->last_worker].thread == thread)
		return &workers[categories->last_worker];
	for (size_t i = categories->workers_n; i--;) {
		if (workers[i].thread == thread) {
			categories->last_worker = i;
			return &workers[i];
		}
	}
	return NULL;
}

void workers_find(struct categories *categories)
{
	const struct trace *trace = categories->trace;

	categories->workers =
		need(&categories->arena, (trace->threads_n + 1) * sizeof(*categories->workers));
	categories->workers_n = trace->threads_n;
	for (size_t i = 0; i < trace->threads_n; i++) {
		const struct trace_thread *thread = &trace->threads[i];
		bool autograd = thread->name && !strncmp(thread->name, "pt_autograd_", 12);

		categories->workers[i] =
			(struct worker){ thread->thread, thread->name, autograd, thread->main };
	}
}

/* --- passes --- */

struct doing doing_of(struct categories *categories, const struct event *event)
{
	const struct stack_view *view = &categories->views.list[stack_of(categories, event)];
	struct doing doing = { .worker = worker_of(categories, event->thread) };
	bool autograd = doing.worker && doing.worker->autograd;

	doing.inside = view->inside || autograd;
	doing.stage = stage_of(view, doing.inside);
	if (doing.worker && !autograd && doing.stage != STAGE_FORWARD)
		doing.worker->trains = true;
	doing.ends = !doing.worker || doing.worker->trains;
	return doing;
}

void gradient_remember(struct categories *categories, uint64_t size)
{
	uint64_t key = gradient_key(size);

	NEED(map_get(&categories->gradients, key) || map_put(&categories->gradients, key, 1));
}

/* A pass is over: what it made and still lives are gradients. */
static void look_for_gradients(struct categories *categories, uint16_t track, uint32_t pass)
{
	if (categories->looks == LOOKS)
		return;
	categories->looks++;
	for (uint32_t i = 0; i < categories->lives.blocks.used; i++) {
		const struct birth *birth = &categories->births[i];

		if (lives_now(&categories->lives.blocks.list[i]) && birth->born == STAGE_BACKWARD &&
		    birth->track == track && birth->pass == pass)
			gradient_remember(categories, categories->lives.blocks.list[i].size);
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
		look_for_gradients(categories, number, track->passes);
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

/* Is the stage that the block was born in still going on? */
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
