/* The steps of a training loop, found in the allocations. */
#include "analyse/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "analyse/error.h"
#include "analyse/phases.h"

enum {
	STEPS_LEAST = 5,  /* fewer prove no period */
	STACKS_LEAST = 3, /* that agree */
	TRIED = 8,        /* counts, those of most stacks first */
};

struct birth {
	uint64_t seq;
	uint32_t stack;
};

struct finder {
	struct birth *births; /* of all allocations with a stack */
	size_t births_n, size;
	uint32_t *count;   /* by stack: its allocations */
	uint32_t *seen;    /* by stack: in this step */
	uint32_t *sharing; /* by count: how many stacks have it */
	size_t stacks;
	uint64_t *starts; /* seq of the first of each step */
	size_t steps;
	uint64_t end; /* seq of the last of the last step */
};

static int add_birth(struct finder *finder, const struct trace_event *event)
{
	if (event->op != EVENT_ALLOC || event->stack >= finder->stacks)
		return 0;
	if (finder->births_n == finder->size) {
		size_t size = finder->size * 2 + 1024;
		struct birth *births = reallocarray(finder->births, size, sizeof(*finder->births));

		if (!births)
			return err("no memory left");
		finder->births = births;
		finder->size = size;
	}
	finder->births[finder->births_n++] = (struct birth){ event->seq, event->stack };
	finder->count[event->stack]++;
	return 0;
}

static int read_births(struct finder *finder, const char *path)
{
	struct trace_event event;
	struct trace again;
	int more = 1;
	int error = trace_open(&again, path);

	if (error)
		return error;
	while (!error && (more = trace_next(&again, &event)) == 1)
		error = add_birth(finder, &event);
	trace_close(&again);
	return error ? error : more;
}

/* Of the counts that were not tried yet the one that most stacks share; 0 for none. */
static uint32_t next_count(struct finder *finder)
{
	uint32_t best = 0;

	for (uint32_t n = STEPS_LEAST; n <= finder->births_n; n++) {
		if (finder->sharing[n] >= STACKS_LEAST &&
		    (!best || finder->sharing[n] > finder->sharing[best]))
			best = n;
	}
	return best;
}

/* Starts of steps, when stacks with n allocations each come in turns in nine steps of ten. */
static bool find_turns(struct finder *finder, uint32_t n)
{
	uint32_t first = UINT32_MAX;
	uint32_t members = 0;
	size_t whole = 0;

	finder->steps = 0;
	for (size_t i = 0; i < finder->stacks; i++)
		finder->seen[i] = 0;
	for (size_t i = 0; i < finder->births_n; i++) {
		const struct birth *birth = &finder->births[i];

		if (finder->count[birth->stack] != n)
			continue;
		if (first == UINT32_MAX)
			first = birth->stack;
		if (birth->stack == first) {
			whole += members == finder->sharing[n];
			members = 0;
			finder->starts[finder->steps++] = birth->seq;
		}
		if (finder->seen[birth->stack] != finder->steps) {
			finder->seen[birth->stack] = (uint32_t)finder->steps;
			members++;
		}
		finder->end = birth->seq;
	}
	whole += members == finder->sharing[n];
	return whole * 10 >= finder->steps * 9;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Steps of at most twice the median length are most of the way: 1, 0, or -ENOMEM. */
static int is_regular(const struct finder *finder)
{
	size_t n = finder->steps - 1;
	uint64_t *lengths = calloc(n, sizeof(*lengths));
	uint64_t like = 0;
	uint64_t whole = finder->starts[n] - finder->starts[0];

	if (!lengths)
		return err("no memory left");
	for (size_t i = 0; i < n; i++)
		lengths[i] = finder->starts[i + 1] - finder->starts[i];
	qsort(lengths, n, sizeof(*lengths), by_number);
	for (size_t i = 0; i < n && lengths[i] <= 2 * lengths[n / 2]; i++)
		like += lengths[i];
	free(lengths);
	return like * 10 >= whole * 6;
}

/* 1 when steps were found, 0, or -ENOMEM. */
static int find_steps(struct finder *finder)
{
	finder->sharing = calloc(finder->births_n + 1, sizeof(*finder->sharing));
	finder->starts = calloc(finder->births_n + 1, sizeof(*finder->starts));
	if (!finder->count || !finder->sharing || !finder->starts)
		return err("no memory left");
	for (size_t i = 0; i < finder->stacks; i++)
		finder->sharing[finder->count[i]]++;
	for (unsigned i = 0; i < TRIED; i++) {
		uint32_t n = next_count(finder);
		int found = n && find_turns(finder, n) ? is_regular(finder) : 0;

		if (found || !n)
			return found;
		finder->sharing[n] = 0;
	}
	return 0;
}

/* --- their figures --- */

static struct event event_of(const struct trace_event *from)
{
	return (struct event){
		.seq = from->seq,
		.t = from->t,
		.ptr = from->ptr,
		.size = from->size,
		.allocated = from->allocated,
		.reserved = from->reserved,
		.pool = from->pool,
		.device = (int16_t)(from->allocated == TRACE_NONE ? NO_DEVICE : from->device),
		.op = from->op < EVENT_OPS ? from->op : EVENT_MARK,
		.space = from->space,
		.flags = from->foreign ? EVENT_FOREIGN : 0,
	};
}

/* A step's end or begin, at the time of an event. */
static bool put(struct phases *phases, const struct trace_event *at, enum event_op op)
{
	struct event event = {
		.op = (uint8_t)op, .seq = phases->next_seq, .t = at->t, .device = NO_DEVICE
	};

	return phases_event(phases, &event);
}

/* The program's own ranges are left out: there are none that ended. */
static bool measure_event(struct phases *phases, const struct finder *finder,
			  const struct trace_event *from)
{
	struct event event = event_of(from);
	bool starts = phases->count < finder->steps && from->seq == finder->starts[phases->count];
	uint64_t gap = from->seq - phases->next_seq;

	if (starts && phases->count && !put(phases, from, EVENT_POP))
		return false;
	if (starts && !put(phases, from, EVENT_PUSH))
		return false;
	/* What was put in takes no number: only events that are missing are a hole. */
	phases->next_seq = from->seq - gap;
	if (event_is_memory(event.op) && !phases_event(phases, &event))
		return false;
	phases->next_seq = from->seq + 1;
	return from->seq != finder->end ||
	       (put(phases, from, EVENT_POP) && (phases->next_seq = from->seq + 1));
}

static int measure(struct phases *phases, const struct finder *finder, const char *path)
{
	struct trace_event event;
	struct trace again;
	int more = 1;
	int error = trace_open(&again, path);

	if (error)
		return error;
	while (!error && (more = trace_next(&again, &event)) == 1) {
		if (!measure_event(phases, finder, &event))
			error = err("no memory left");
	}
	trace_close(&again);
	return error ? error : more;
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

static int take(struct trace *trace, const struct phases *phases)
{
	struct trace_phase *list = arena_alloc(&trace->arena, phases->count * sizeof(*list));

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < phases->count; i++) {
		const struct phase *phase = &phases->list[i];

		list[i] = (struct trace_phase){
			.name = "inferred step",
			.start = phase->start,
			.end = phase->end,
			.allocated = sums_of(&phase->all.allocated),
			.reserved = sums_of(&phase->all.reserved),
			.born = count_of(phase, &phase->all.born),
			.freed = count_of(phase, &phase->all.freed),
			.outliving = count_of(phase, &phase->all.outliving),
		};
	}
	trace->phases = list;
	trace->phases_n = phases->count;
	return 0;
}

int steps_infer(struct trace *trace)
{
	struct finder finder = { .stacks = trace->stacks_n };
	struct phases phases;
	int found;

	if (trace->phases_n || !trace->stacks_n)
		return 0;
	phases_start(&phases);
	finder.count = calloc(finder.stacks, sizeof(*finder.count));
	finder.seen = calloc(finder.stacks, sizeof(*finder.seen));
	found = finder.count && finder.seen ? read_births(&finder, trace->path)
					    : err("no memory left");
	if (!found)
		found = find_steps(&finder);
	if (found == 1)
		found = measure(&phases, &finder, trace->path);
	if (!found && phases.count)
		found = take(trace, &phases);
	phases_clear(&phases);
	free(finder.births);
	free(finder.count);
	free(finder.seen);
	free(finder.sharing);
	free(finder.starts);
	return found;
}
