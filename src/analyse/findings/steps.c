#include "analyse/findings/steps.h"

#include <stdlib.h>

#include "analyse/findings/growth.h"
#include "analyse/input/error.h"
#include "analyse/input/grow.h"

enum {
	STEPS_LEAST = 5,   /* fewer steps do not count as a period */
	STACKS_LEAST = 3,  /* fewer stacks with the same number of allocations show no loop */
	TRIED = 16,        /* maximum of different numbers of steps that are tried */
	LEADERS = 4,       /* maximum of stacks that are tried as the first of a step */
	REGULAR = 60,      /* percent of the events that must lie in steps of similar length */
	VERY_REGULAR = 90, /* if this many percent do, no loop around the steps is tried */
};

struct change {
	uint64_t seq, bytes;
	uint32_t stack; /* NO_STACK for a free */
};

enum { NO_STACK = UINT32_MAX };

struct stack_turns {
	uint32_t count;               /* number of the stack's allocations */
	uint32_t seen;                /* number of the last step in which the stack allocated */
	uint32_t steps_in, births_in; /* steps in which it allocates; its allocations in steps */
};

struct step_finder {
	struct change *changes; /* allocations with a stack, and frees, in the order of events */
	size_t changes_n, size;
	struct stack_turns *of; /* by the stack's position in the trace */
	uint32_t *sharing; /* [n]: number of stacks with n allocations; 0 once n was rejected */
	size_t stacks;
	uint64_t *starts; /* for each step, the number of its first event */
	size_t steps;
	uint64_t end; /* the number of the last step's last event */
	struct arena arena;
};

static int add_change(void *context, const struct event *event)
{
	struct step_finder *finder = context;
	bool born = event->op == EVENT_ALLOC && event->stack < finder->stacks;

	if (!born && event->op != EVENT_FREE)
		return 0;
	NEED(GROW(finder->changes, finder->changes_n, finder->size, 1024));
	finder->changes[finder->changes_n++] =
		(struct change){ event->seq, event->size,
				 born ? (uint32_t)event->stack : NO_STACK };
	if (born)
		finder->of[event->stack].count++;
	return 0;
}

int steps_read(const char *path, steps_take_fn *take, void *context)
{
	struct event event;
	struct trace again;
	int more = 1;
	int error = trace_open(&again, path);

	if (error)
		return error;
	while (!error && (more = trace_next(&again, &event)) == 1)
		error = take(context, &event);
	trace_close(&again);
	return error ? error : more;
}

static uint64_t covered(const struct step_finder *finder, uint32_t n)
{
	return (uint64_t)n * finder->sharing[n];
}

/* Returns the n, not yet rejected, for which the stacks with n allocations each make the most
 * allocations in total; 0 if all n were rejected. */
static uint32_t next_count(const struct step_finder *finder)
{
	uint32_t best = 0;

	for (uint32_t n = STEPS_LEAST; n <= finder->changes_n; n++) {
		if (finder->sharing[n] >= STACKS_LEAST &&
		    (!best || covered(finder, n) > covered(finder, best)))
			best = n;
	}
	return best;
}

/* True if nearly all of the stacks, which have equally many allocations, allocated in a step. A
 * tenth of them, and one more, may be missing: some have that number of allocations by chance, such
 * as those of a model's layers, if there are as many layers as steps. */
static bool are_most(size_t members, size_t all)
{
	return members >= STACKS_LEAST && members + 1 + all / 10 >= all;
}

/* Lets each allocation by stack `first` begin a step. True if, in nine of ten steps, nearly all of
 * the stacks that have n allocations in the trace allocate. */
static bool find_turns_of(struct step_finder *finder, uint32_t n, uint32_t first)
{
	uint32_t members = 0;
	size_t whole = 0;

	finder->steps = 0;
	foreach (turns, finder->of, finder->stacks)
		turns->seen = 0;
	foreach (birth, finder->changes) {
		if (birth->stack == NO_STACK || finder->of[birth->stack].count != n)
			continue;
		if (birth->stack == first) {
			whole += finder->steps && are_most(members, finder->sharing[n]);
			members = 0;
			finder->starts[finder->steps++] = birth->seq;
		}
		if (!finder->steps)
			continue;
		if (finder->of[birth->stack].seen != finder->steps) {
			finder->of[birth->stack].seen = (uint32_t)finder->steps;
			members++;
		}
		finder->end = birth->seq;
	}
	whole += are_most(members, finder->sharing[n]);
	return whole * 10 >= finder->steps * 9;
}

static bool find_turns(struct step_finder *finder, uint32_t n)
{
	uint32_t tried[LEADERS];
	unsigned count = 0;

	for (size_t i = 0; i < finder->changes_n && count < LEADERS; i++) {
		uint32_t stack = finder->changes[i].stack;
		bool again = stack == NO_STACK || finder->of[stack].count != n;

		for (unsigned k = 0; k < count && !again; k++)
			again = tried[k] == stack;
		if (again)
			continue;
		tried[count++] = stack;
		if (find_turns_of(finder, n, stack))
			return true;
	}
	return false;
}

/* True if most steps free at least half as much as they allocate. A model's layers, which look like
 * steps, do not: building a model frees nothing; a training step frees the layers' memory after the
 * last layer. */
static bool gives_back(const struct step_finder *finder)
{
	uint64_t born = 0;
	uint64_t freed = 0;
	size_t good = 0;
	size_t step = 0; /* 1 + the current step, 0 before the first */

	foreach (change, finder->changes) {
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

/* True if steps are alike: the stacks with at least n / 2 allocations in steps allocate in three of
 * four steps, on average (weighted by allocations). Calls in random order do not pass this test. */
static bool are_alike(struct step_finder *finder, uint32_t n)
{
	uint64_t all = 0;
	uint64_t present = 0; /* sum of allocations * steps in which their stack allocates */
	uint32_t step = 0;

	foreach (turns, finder->of, finder->stacks)
		*turns = (struct stack_turns){ .count = turns->count };
	foreach (change, finder->changes) {
		if (step < finder->steps && change->seq == finder->starts[step])
			step++;
		if (!step || change->stack == NO_STACK || change->seq > finder->end)
			continue;
		finder->of[change->stack].births_in++;
		finder->of[change->stack].steps_in += finder->of[change->stack].seen != step;
		finder->of[change->stack].seen = step;
	}
	for (size_t i = 0; i < finder->stacks; i++) {
		if (finder->of[i].births_in < n / 2)
			continue;
		all += (uint64_t)finder->of[i].births_in * n;
		present += (uint64_t)finder->of[i].births_in * finder->of[i].steps_in;
	}
	return present * 4 >= all * 3;
}

/* The percentage of events that lie in steps of at most twice the median length. */
static int regularity(struct step_finder *finder)
{
	size_t n = finder->steps - 1;
	uint64_t *lengths;
	uint64_t like = 0;
	uint64_t whole;

	if (finder->steps < STEPS_LEAST)
		return 0;
	whole = finder->starts[n] - finder->starts[0];
	lengths = need(&finder->arena, n * sizeof(*lengths));
	for (size_t i = 0; i < n; i++)
		lengths[i] = finder->starts[i + 1] - finder->starts[i];
	growth_sort(lengths, n);
	for (size_t i = 0; i < n && lengths[i] <= 2 * lengths[n / 2]; i++)
		like += lengths[i];
	return whole ? (int)(like * 100 / whole) : 0;
}

/* Searches for n steps. Returns their regularity() in percent, or 0 if that is below REGULAR. */
static int try_count(struct step_finder *finder, uint32_t n)
{
	int percent = 0;

	if (find_turns(finder, n) && gives_back(finder) && are_alike(finder, n))
		percent = regularity(finder);
	return percent < REGULAR ? 0 : percent;
}

/* The n steps may be passes of an inner loop, such as an optimizer's over parameters. Returns the
 * number of passes of an outer loop, of which n is a multiple; 0 if there is none. */
static uint32_t count_around(const struct step_finder *finder, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t m = STEPS_LEAST; m <= n / 2; m++) {
		if (n % m == 0 && finder->sharing[m] >= STACKS_LEAST &&
		    finder->sharing[m] >= finder->sharing[n] / 2 &&
		    (!best || finder->sharing[m] > finder->sharing[best]))
			best = m;
	}
	return best;
}

/* If the n steps are not very regular, tries the passes of an outer loop as steps instead. Leaves
 * the chosen steps in *finder, and returns their regularity() in percent. */
static int look_around(struct step_finder *finder, uint32_t n, int percent)
{
	uint32_t around = percent < VERY_REGULAR ? count_around(finder, n) : 0;
	int found = around ? try_count(finder, around) : 0;

	return found ? found : try_count(finder, n);
}

static bool find_steps(struct step_finder *finder)
{
	finder->sharing = NEED_ROOM(&finder->arena, finder->sharing, finder->changes_n);
	finder->starts = NEED_ROOM(&finder->arena, finder->starts, finder->changes_n);
	foreach (turns, finder->of, finder->stacks)
		finder->sharing[turns->count]++;
	for (unsigned i = 0; i < TRIED; i++) {
		uint32_t n = next_count(finder);
		int found = n ? try_count(finder, n) : 0;

		if (found || !n)
			return found && look_around(finder, n, found);
		finder->sharing[n] = 0;
	}
	return false;
}

int steps_infer(struct trace *trace)
{
	struct step_finder finder = { .stacks = trace->stacks_n };
	int error;

	if (!trace->stacks_n || trace->once)
		return 0;
	finder.of = need(&finder.arena, finder.stacks * sizeof(*finder.of));
	error = steps_read(trace->path, add_change, &finder);
	if (!error && find_steps(&finder))
		error = steps_put(trace,
				  &(struct steps_found){ finder.starts, finder.steps, finder.end });
	free(finder.changes);
	arena_clear(&finder.arena);
	return error;
}

int steps_infer_if_few(struct trace *trace)
{
	const struct trace_capture *capture = &trace->capture;

	if (capture->events_recorded > TRACE_FEW || capture->events_dropped)
		return 0;
	return steps_infer(trace);
}
