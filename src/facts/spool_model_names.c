/* What a recording's stacks are called: their sites, and the lines that people know them by. */
#include <errno.h>
#include <string.h>

#include "base/text/text.h"
#include "codec/event.h"
#include "facts/backward.h"
#include "facts/sites.h"
#include "facts/spool_model.h"

enum { NAMING_DEPTH = 1024 }; /* frames of a stack that are looked at */

/* A stack as its names are made from it: a backward pass has the frames that it comes from, too. */
struct naming {
	struct site_frame frames[NAMING_DEPTH];
	uint32_t numbers[NAMING_DEPTH]; /* of the spool's frames */
	uint32_t order[NAMING_DEPTH];
	uint32_t count;
};

int recording_see(struct recording *recording, uint32_t first)
{
	for (uint32_t i = first; i < recording->frames; i++) {
		const struct trace_frame *frame = &recording->names[i];
		const struct spool_module *module = recording_module(recording, frame->module);
		bool python = frame->language == TRACE_PYTHON;
		const char *path = module ? spool_text(recording->spool, module->path) : NULL;

		if (site_frame_read(&recording->seen[i], python, frame->function,
				    python ? frame->file : path, &recording->arena))
			return -ENOMEM;
	}
	return 0;
}

/* Puts the frames of a stack, those from `from` on, behind those that are there. */
static void add_frames(struct naming *naming, const struct recording *recording,
		       const struct spool_stack *stack, uint32_t from)
{
	uint32_t depth = recording_depth(recording, stack);

	for (uint32_t i = from; i < depth && naming->count < NAMING_DEPTH; i++) {
		uint32_t frame = recording_step(recording, stack, i);

		if (frame >= recording->frames)
			continue;
		naming->frames[naming->count] = recording->seen[frame];
		naming->order[naming->count] = naming->count;
		naming->numbers[naming->count++] = frame;
	}
}

/* As trace_backward.c names such frames for readers. */
static const char *said_backward(struct recording *recording, const char *function,
				 enum backward_via via)
{
	char text[SITE_LONGEST];

	text_copy(text, sizeof(text), function ? function : "?");
	text_append(text, sizeof(text),
		    via == BACKWARD_FORWARD ? " [backward]" : " [via backward()]");
	return arena_text(&recording->arena, text, strlen(text));
}

/* A backward pass is named by the Python that it comes from, and said to be one. */
static void read_stack(struct naming *naming, struct recording *recording,
		       const struct spool_stack *stack)
{
	struct backward backward;
	uint32_t own;

	naming->count = 0;
	add_frames(naming, recording, stack, 0);
	own = naming->count;
	backward_read(recording, stack, &backward);
	if (backward.via != BACKWARD_NOT) {
		const struct spool_stack *via = recording_stack(recording, backward.stack);

		add_frames(naming, recording, via, via->native);
	}
	for (uint32_t i = own; i < naming->count; i++)
		naming->frames[i].function =
			said_backward(recording, naming->frames[i].function, backward.via);
}

const char *recording_site(struct recording *recording, const struct spool_stack *stack)
{
	struct naming naming;
	char name[SITE_LONGEST];

	read_stack(&naming, recording, stack);
	site_name(name, naming.frames, naming.order, naming.count);
	return recording_text(recording, name);
}

void recording_line(struct recording *recording, uint32_t number, char *to, size_t size)
{
	const struct spool_stack *stack = recording_stack(recording, number);
	const struct site_frame *frame;
	struct naming naming;
	struct site_pick pick;
	char line[24];

	if (stack)
		read_stack(&naming, recording, stack);
	if (!stack || !naming.count) {
		text_copy(to, size, PSEUDO_NOT_RECORDED);
		return;
	}
	pick = site_pick(naming.frames, naming.order, naming.count);
	pick.outer = pick.outer != UINT32_MAX ? pick.outer : 0;
	frame = &naming.frames[pick.outer];
	if (!frame->function) {
		text_copy(to, size, frame->where ? frame->where : "[unknown]");
		return;
	}
	text_copy(to, size, frame->function);
	if (!frame->where)
		return;
	text_append(to, size, " (");
	text_append(to, size, frame->where);
	text_u64(line, recording->names[naming.numbers[pick.outer]].line);
	if (frame->python && line[0] != '0') {
		text_append(to, size, ":");
		text_append(to, size, line);
	}
	text_append(to, size, ")");
}
