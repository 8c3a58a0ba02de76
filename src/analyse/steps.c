/* The steps of a training loop, found in the allocations. */
#include "analyse/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "analyse/error.h"
#include "analyse/steps_parts.h"

enum {
	STEPS_LEAST = 5,  /* fewer prove no period */
	STACKS_LEAST = 3, /* that agree */
	TRIED = 16,       /* counts, those of most allocations first */
};

/* A block is born, or, of no stack, freed. */
struct change {
	uint64_t seq, bytes;
	uint32_t stack; /* NO_STACK */
};

enum { NO_STACK = UINT32_MAX };

struct finder {
	struct change *changes; /* allocations with a stack, and frees, in order */
	size_t changes_n, size;
	uint32_t *count;   /* by stack: its allocations */
	uint32_t *seen;    /* by stack: in this step */
	uint32_t *sharing; /* by count: how many stacks have it */
	size_t stacks;
	uint64_t *starts; /* seq of the first of each step */
	size_t steps;
	uint64_t end; /* seq of the last of the last step */
};

static int add_change(struct finder *finder, const struct trace_event *event)
{
	bool born = event->op == EVENT_ALLOC && event->stack < finder->stacks;

	if (!born && event->op != EVENT_FREE)
		return 0;
	if (finder->changes_n == finder->size) {
		size_t size = finder->size * 2 + 1024;
		struct change *changes =
			reallocarray(finder->changes, size, sizeof(*finder->changes));

		if (!changes)
			return err("no memory left");
		finder->changes = changes;
		finder->size = size;
	}
	finder->changes[finder->changes_n++] =
		(struct change){ event->seq, event->size,
				 born ? (uint32_t)event->stack : NO_STACK };
	if (born)
		finder->count[event->stack]++;
	return 0;
}

static int read_changes(struct finder *finder, const char *path)
{
	struct trace_event event;
	struct trace again;
	int more = 1;
	int error = trace_open(&again, path);

	if (error)
		return error;
	while (!error && (more = trace_next(&again, &event)) == 1)
		error = add_change(finder, &event);
	trace_close(&again);
	return error ? error : more;
}

/* How many allocations the stacks with n each have. */
static uint64_t covered(const struct finder *finder, uint32_t n)
{
	return (uint64_t)n * finder->sharing[n];
}

/* Of the counts that were not tried yet the one whose stacks allocate most; 0 for none. */
static uint32_t next_count(const struct finder *finder)
{
	uint32_t best = 0;

	for (uint32_t n = STEPS_LEAST; n <= finder->changes_n; n++) {
		if (finder->sharing[n] >= STACKS_LEAST &&
		    (!best || covered(finder, n) > covered(finder, best)))
			best = n;
	}
	return best;
}

/* Starts of steps, when stacks with n allocations each come in turns in nine steps of ten. */
static bool find_turns(struct finder *finder, uint32_t n)
{
	uint32_t first = NO_STACK;
	uint32_t members = 0;
	size_t whole = 0;

	finder->steps = 0;
	for (size_t i = 0; i < finder->stacks; i++)
		finder->seen[i] = 0;
	for (size_t i = 0; i < finder->changes_n; i++) {
		const struct change *birth = &finder->changes[i];

		if (birth->stack == NO_STACK || finder->count[birth->stack] != n)
			continue;
		if (first == NO_STACK)
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

/*
 * A step gives back about what it takes: in most of them at least half as much is freed as is
 * born. The layers of a model that is being built give nothing, those inside a step wait for its
 * end.
 */
static bool gives_back(const struct finder *finder)
{
	uint64_t born = 0;
	uint64_t freed = 0;
	size_t good = 0;
	size_t step = 0; /* 1 + that which is open */

	for (size_t i = 0; i < finder->changes_n; i++) {
		const struct change *change = &finder->changes[i];

		if (step < finder->steps && change->seq == finder->starts[step]) {
			good += step && freed >= born / 2;
			born = freed = 0;
			step++;
		}
		if (change->stack == NO_STACK)
			freed += change->bytes;
		else
			born += change->bytes;
	}
	good += freed >= born / 2;
	return good * 2 > finder->steps;
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
	finder->sharing = calloc(finder->changes_n + 1, sizeof(*finder->sharing));
	finder->starts = calloc(finder->changes_n + 1, sizeof(*finder->starts));
	if (!finder->count || !finder->sharing || !finder->starts)
		return err("no memory left");
	for (size_t i = 0; i < finder->stacks; i++)
		finder->sharing[finder->count[i]]++;
	for (unsigned i = 0; i < TRIED; i++) {
		uint32_t n = next_count(finder);
		bool turns = n && find_turns(finder, n) && gives_back(finder);
		int found = turns ? is_regular(finder) : 0;

		if (found || !n)
			return found;
		finder->sharing[n] = 0;
	}
	return 0;
}

int steps_infer(struct trace *trace)
{
	struct finder finder = { .stacks = trace->stacks_n };
	int found;

	if (!trace->stacks_n || trace->once)
		return 0;
	finder.count = calloc(finder.stacks, sizeof(*finder.count));
	finder.seen = calloc(finder.stacks, sizeof(*finder.seen));
	found = finder.count && finder.seen ? read_changes(&finder, trace->path)
					    : err("no memory left");
	if (!found)
		found = find_steps(&finder);
	if (found == 1)
		found = steps_put(trace,
				  &(struct steps_found){ finder.starts, finder.steps, finder.end });
	free(finder.changes);
	free(finder.count);
	free(finder.seen);
	free(finder.sharing);
	free(finder.starts);
	return found;
}

int steps_infer_if_few(struct trace *trace)
{
	const struct trace_capture *capture = &trace->capture;

	if (capture->events_recorded > TRACE_FEW || capture->events_dropped)
		return 0;
	return steps_infer(trace);
}
