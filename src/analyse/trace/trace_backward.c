/*
 * Appends to the stacks of autograd's threads the Python frames that the backward pass belongs to,
 * with "[backward]" or "[via backward()]" after their names.
 *
 * This is done once, before the trace is used, so that every table shows a backward pass at a line
 * of Python, and none shows this line as the thread's own.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "analyse/trace/trace_parts.h"
#include "base/mem/map.h"

enum { FORWARD, CALL };

struct copies {
	struct trace *trace;
	struct map known; /* 1 + position of a frame's copy, by 2 * frame + FORWARD or CALL */
	size_t room;
};

static int which_of(const struct trace_stack *stack)
{
	return stack->via && !strcmp(stack->via, "forward") ? FORWARD : CALL;
}

static const char *named(struct trace *trace, const char *function, int which)
{
	static const char *const kinds[] = { "[backward]", "[via backward()]" };
	const char *name = function ? function : "?";
	size_t size = strlen(name) + 24;
	char *text = need(&trace->arena, size);

	snprintf(text, size, "%s %s", name, kinds[which]);
	return text;
}

struct trace_frame *trace_add_frame(struct trace *trace, size_t *room, uint32_t like)
{
	if (trace->frames_n == *room) {
		struct trace_frame *frames;

		*room = *room * 2 + 64;
		frames = need(&trace->arena, *room * sizeof(*frames));
		if (trace->frames_n)
			memcpy(frames, trace->frames, trace->frames_n * sizeof(*frames));
		trace->frames = frames;
	}
	trace->frames[trace->frames_n] = trace->frames[like];
	return &trace->frames[trace->frames_n++];
}

static uint32_t copy_of(struct copies *copies, uint32_t frame, int which)
{
	struct trace *trace = copies->trace;
	uint64_t key = (uint64_t)frame * 2 + (uint64_t)which;
	uint32_t known = map_get(&copies->known, key);
	struct trace_frame *to;

	if (known)
		return known - 1;
	to = trace_add_frame(trace, &copies->room, frame);
	to->function = named(trace, to->function, which);
	NEED(map_put(&copies->known, key, (uint32_t)trace->frames_n));
	return (uint32_t)trace->frames_n - 1;
}

static void extend(struct copies *copies, struct trace_stack *stack)
{
	struct trace *trace = copies->trace;
	const struct trace_stack *via = &trace->stacks[stack->via_stack];
	size_t own = stack->frames_n;
	uint32_t *frames = need(&trace->arena, (own + via->frames_n + 1) * sizeof(*frames));

	if (own)
		memcpy(frames, stack->frames, own * sizeof(*frames));
	for (size_t i = 0; i < via->frames_n; i++) {
		if (trace->frames[via->frames[i]].language == TRACE_PYTHON)
			frames[own++] = copy_of(copies, via->frames[i], which_of(stack));
	}
	stack->frames = frames;
	stack->frames_n = own;
}

void trace_extend_backward(struct trace *trace)
{
	struct copies copies = { .trace = trace, .room = trace->frames_n };

	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];

		/* via_stack: the Python stack that a backward pass belongs to. It is not appended
		 * if it has a via_stack itself, so that no chains arise. */
		if (stack->via_stack == UINT32_MAX ||
		    trace->stacks[stack->via_stack].via_stack != UINT32_MAX)
			continue;
		extend(&copies, &trace->stacks[i]);
	}
	map_clear(&copies.known);
}
