/* Steps that were found, measured as phases are, and put among the trace's own. */
#include "analyse/findings/steps_parts.h"

#include "analyse/input/error.h"
#include "facts/phases.h"

/* A step's end or begin. */
static bool put(struct phases *phases, uint64_t t, enum event_op op)
{
	struct event event = {
		.op = (uint8_t)op, .seq = phases->next_seq, .t = t, .device = NO_DEVICE
	};

	return phases_event(phases, &event);
}

/* The program's own ranges are left out: their figures are known. */
static bool measure_event(struct phases *phases, const struct steps_found *found,
			  const struct event *from)
{
	struct event event = *from;
	bool starts = phases->count < found->count && from->seq == found->starts[phases->count];
	uint64_t gap = from->seq - phases->next_seq;

	if (starts && phases->count && !put(phases, from->t, EVENT_POP))
		return false;
	if (starts && !put(phases, from->t, EVENT_PUSH))
		return false;
	if (event.allocated == TRACE_NONE)
		event.device = NO_DEVICE;
	/* What was put in takes no number: only events that are missing are a hole. */
	phases->next_seq = from->seq - gap;
	if (event_is_memory(event.op) && !phases_event(phases, &event))
		return false;
	phases->next_seq = from->seq + 1;
	if (from->seq != found->end)
		return true;
	/* The last event is inside. */
	return put(phases, from->t + 1, EVENT_POP) && (phases->next_seq = from->seq + 1);
}

struct measuring {
	struct phases *phases;
	const struct steps_found *found;
};

static int measure(void *context, const struct event *event)
{
	const struct measuring *measuring = context;

	return measure_event(measuring->phases, measuring->found, event) ? 0
									 : err("no memory left");
}

static struct trace_phase_sums sums_of(const struct track_sums *sums)
{
	return (struct trace_phase_sums){ sums->start, sums->end, sums->peak };
}

static struct trace_phase_count count_of(const struct phase *phase, const struct track_count *count)
{
	if (phase->cut)
		return (struct trace_phase_count){ TRACE_NONE, TRACE_NONE };
	return (struct trace_phase_count){ count->bytes, count->count };
}

/* The step in which the time lies, or one at the end. */
static const struct phase *step_at(const struct phases *steps, uint64_t t)
{
	size_t low = 0;
	size_t high = steps->count - 1;

	while (low < high) {
		size_t middle = (low + high + 1) / 2;

		if (steps->list[middle].start <= t)
			low = middle;
		else
			high = middle - 1;
	}
	return &steps->list[low];
}

/* Do ranges of the program stand for half of the steps already, each about as long as its own? */
static bool are_named(const struct trace *trace, const struct phases *steps)
{
	size_t like = 0;

	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];
		uint64_t ns = phase->end == TRACE_NONE ? 0 : phase->end - phase->start;
		const struct phase *step = step_at(steps, phase->start + ns / 2);
		uint64_t length = step->end - step->start;

		like += ns >= length / 2 && ns <= 2 * length;
	}
	return like >= steps->count / 2;
}

/* Where there are several devices, each one's share: NULL without memory. */
static struct trace_phase_device *shares_of(struct trace *trace, const struct phases *steps,
					    const struct phase *phase)
{
	struct trace_phase_device *shares =
		arena_alloc(&trace->arena, phase->devices * sizeof(*shares) + 1);

	for (uint32_t i = 0; shares && i < phase->devices; i++) {
		int device;
		const struct track_part *part = phases_part(steps, phase, i, &device);

		shares[i] = (struct trace_phase_device){
			.device = device,
			.allocated = sums_of(&part->allocated),
			.reserved = sums_of(&part->reserved),
			.born = count_of(phase, &part->born),
			.freed = count_of(phase, &part->freed),
			.outliving = count_of(phase, &part->outliving),
		};
	}
	return shares;
}

/* No thread of its own: it lies on the main one. */
static struct trace_phase phase_of(struct trace *trace, const struct phases *steps,
				   const struct phase *phase)
{
	return (struct trace_phase){
		.name = "inferred step",
		.thread = trace->process.pid,
		.start = phase->start,
		.end = phase->end,
		.allocated = sums_of(&phase->all.allocated),
		.reserved = sums_of(&phase->all.reserved),
		.born = count_of(phase, &phase->all.born),
		.freed = count_of(phase, &phase->all.freed),
		.outliving = count_of(phase, &phase->all.outliving),
		.devices = shares_of(trace, steps, phase),
		.devices_n = phase->devices,
	};
}

/* Among the program's own, by start; of two that start together the longer one is around. */
static int take(struct trace *trace, const struct phases *steps)
{
	size_t count = trace->phases_n + steps->count;
	struct trace_phase *list = arena_alloc(&trace->arena, count * sizeof(*list));
	size_t own = 0;
	size_t step = 0;

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < count; i++) {
		const struct trace_phase *mine = &trace->phases[own];
		const struct phase *found = &steps->list[step];

		if (step == steps->count ||
		    (own < trace->phases_n &&
		     (mine->start < found->start ||
		      (mine->start == found->start && mine->end > found->end))))
			list[i] = trace->phases[own++];
		else
			list[i] = phase_of(trace, steps, &steps->list[step++]);
		if (!list[i].devices && list[i].devices_n)
			return err("no memory left");
	}
	trace->phases = list;
	trace->phases_n = count;
	return 0;
}

int steps_put(struct trace *trace, const struct steps_found *found)
{
	struct phases phases;
	int error;

	phases_start(&phases);
	error = steps_read(trace->path, measure, &(struct measuring){ &phases, found });
	if (!error && phases.count && !are_named(trace, &phases))
		error = take(trace, &phases);
	phases_clear(&phases);
	return error;
}
