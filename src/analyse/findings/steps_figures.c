/* Sums up inferred steps as if they were the program's ranges, and adds them to the phases. */
#include "analyse/findings/steps.h"

#include "analyse/input/grow.h"
#include "base/mem/sort.h"
#include "facts/phases.h"

static bool put_step(struct phases *phases, uint64_t t, enum event_op op)
{
	struct event event = {
		.op = (uint8_t)op, .seq = phases->next_seq, .t = t, .device = NO_DEVICE
	};

	return phases_event(phases, &event);
}

/* Counts an event in its step, and begins and ends steps. The program's own ranges are ignored. */
static bool measure_event(struct phases *phases, const struct steps_found *found,
			  const struct event *from)
{
	struct event event = *from;
	bool starts = phases->count < found->count && from->seq == found->starts[phases->count];
	uint64_t gap = from->seq - phases->next_seq;

	if (starts && phases->count && !put_step(phases, from->t, EVENT_POP))
		return false;
	if (starts && !put_step(phases, from->t, EVENT_PUSH))
		return false;
	if (event.allocated == TRACE_NONE)
		event.device = NO_DEVICE;
	/* Undoes put_step()'s change, else phases_event() would take events for missing. */
	phases->next_seq = from->seq - gap;
	if (event_is_memory(event.op) && !phases_event(phases, &event))
		return false;
	phases->next_seq = from->seq + 1;
	if (from->seq != found->end)
		return true;
	/* The last step ends after its last event. */
	return put_step(phases, from->t + 1, EVENT_POP) && (phases->next_seq = from->seq + 1);
}

struct measuring {
	struct phases *phases;
	const struct steps_found *found;
};

static int measure(void *context, const struct event *event)
{
	const struct measuring *measuring = context;

	NEED(measure_event(measuring->phases, measuring->found, event));
	return 0;
}

static const struct trace_phase *step_at(const struct phases *steps, uint64_t t)
{
	size_t until = sort_until(steps->list, steps->count, sizeof(*steps->list),
				  offsetof(struct trace_phase, start), t);

	return &steps->list[until ? until - 1 : 0];
}

/* True if half of the steps have a range of the program that is about as long as the step. */
static bool are_named(const struct trace *trace, const struct phases *steps)
{
	size_t like = 0;

	foreach (phase, trace->phases) {
		uint64_t ns = phase->end == TRACE_NONE ? 0 : phase->end - phase->start;
		const struct trace_phase *step = step_at(steps, phase->start + ns / 2);
		uint64_t length = step->end - step->start;

		like += ns >= length / 2 && ns <= 2 * length;
	}
	return like >= steps->count / 2;
}

/* Inserts the steps into the trace's phases, sorted by start; of two phases that start together,
 * the longer one comes first. Steps are shown on the main thread. */
static void take_steps(struct trace *trace, const struct phases *steps)
{
	size_t count = trace->phases_n + steps->count;
	struct trace_phase *list = need(&trace->arena, count * sizeof(*list));
	size_t own = 0;
	size_t step = 0;

	foreach (row, list, count) {
		const struct trace_phase *mine = &trace->phases[own];
		const struct trace_phase *found = &steps->list[step];

		if (step == steps->count ||
		    (own < trace->phases_n &&
		     (mine->start < found->start ||
		      (mine->start == found->start && mine->end > found->end)))) {
			*row = trace->phases[own++];
			continue;
		}
		*row = steps->list[step++];
		row->name = "inferred step";
		row->thread = trace->process.pid;
	}
	trace->phases = list;
	trace->phases_n = count;
}

int steps_put(struct trace *trace, const struct steps_found *found)
{
	struct phases phases = { .arena = &trace->arena };
	int error = steps_read(trace->path, measure, &(struct measuring){ &phases, found });

	if (!error && phases.count && !are_named(trace, &phases))
		take_steps(trace, &phases);
	phases_clear(&phases);
	return error;
}
