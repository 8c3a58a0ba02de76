/* Names the stacks of a recording: by their sites, and by lines of code that users recognize. */
#include <errno.h>

#include "base/text/text.h"
#include "codec/event.h"
#include "facts/sites.h"
#include "facts/spool_model.h"

enum { NAMING_DEPTH = 1024 }; /* maximum number of frames that a stack's name is made from */

/* A stack's frames, followed by those of the Python code that its backward pass comes from. */
struct frame_naming {
	uint32_t frames[NAMING_DEPTH]; /* frame numbers in the spool */
	uint32_t count, own;           /* number of all frames, and of the stack's own among them */
	enum backward_via via;
};

struct said {
	struct site_frame frame;
	char function[SITE_LONGEST];
};

int spool_model_see(struct spool_model *recording, uint32_t first)
{
	for (uint32_t i = first; i < recording->frames; i++) {
		const struct trace_frame *frame = &recording->names[i];
		const struct spool_module *module = spool_model_module(recording, frame->module);
		bool python = frame->language == TRACE_PYTHON;
		const char *path = module ? spool_text(recording->spool, module->path) : NULL;

		if (site_frame_read(&recording->seen[i], python, frame->function,
				    python ? frame->file : path, &recording->arena))
			return -ENOMEM;
	}
	return 0;
}

static void add_frames(struct frame_naming *naming, const struct spool_model *recording,
		       const struct spool_stack *stack, uint32_t from)
{
	uint32_t depth = spool_model_depth(recording, stack);

	for (uint32_t i = from; i < depth && naming->count < NAMING_DEPTH; i++) {
		uint32_t frame = spool_model_step(recording, stack, i);

		if (frame >= recording->frames)
			continue;
		naming->frames[naming->count++] = frame;
	}
}

/* Lists the stack's frames; for a backward pass, also those of the Python code it comes from. */
static void read_stack(struct frame_naming *naming, const struct spool_model *recording,
		       const struct spool_stack *stack)
{
	struct backward backward;

	naming->count = 0;
	add_frames(naming, recording, stack, 0);
	naming->own = naming->count;
	backward_read(recording, stack, &backward);
	naming->via = backward.via;
	if (backward.via != BACKWARD_NOT) {
		const struct spool_stack *via = spool_model_stack(recording, backward.stack);

		add_frames(naming, recording, via, via->native);
	}
}

/* Returns the frame at position `at`, NULL for UINT32_MAX. If the frame is not the stack's own, its
 * function gets a mark in the returned copy: "[backward]" or "[via backward()]". */
static const struct site_frame *say(struct said *said, const struct frame_naming *naming,
				    const struct spool_model *recording, uint32_t at)
{
	if (at == UINT32_MAX)
		return NULL;
	said->frame = recording->seen[naming->frames[at]];
	if (at < naming->own)
		return &said->frame;
	text_join(said->function, SITE_LONGEST, said->frame.function ? said->frame.function : "?",
		  naming->via == BACKWARD_FORWARD ? " [backward]" : " [via backward()]");
	said->frame.function = said->function;
	return &said->frame;
}

void spool_model_site(const struct spool_model *recording, const struct spool_stack *stack,
		      char *to)
{
	struct frame_naming naming;
	struct site_pick pick;
	struct said inner;
	struct said outer;

	read_stack(&naming, recording, stack);
	pick = site_pick(recording->seen, naming.frames, naming.count);
	site_join(to, say(&inner, &naming, recording, pick.inner),
		  say(&outer, &naming, recording, pick.outer));
}

void spool_model_line(const struct spool_model *recording, uint32_t number, char *to, size_t size)
{
	const struct spool_stack *stack = spool_model_stack(recording, number);
	const struct site_frame *frame;
	struct frame_naming naming;
	struct site_pick pick;
	struct said said;

	if (stack)
		read_stack(&naming, recording, stack);
	if (!stack || !naming.count) {
		text_copy(to, size, PSEUDO_NOT_RECORDED);
		return;
	}
	pick = site_pick(recording->seen, naming.frames, naming.count);
	pick.outer = pick.outer != UINT32_MAX ? pick.outer : 0;
	frame = say(&said, &naming, recording, pick.outer);
	to[0] = '\0';
	site_append(to, size, frame,
		    frame->python ? recording->names[naming.frames[pick.outer]].line : 0);
}
