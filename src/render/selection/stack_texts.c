#include "render/selection/stack_texts.h"

#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

enum { FRAMES = 12 };

static void make_one(struct stack_texts *texts, uint32_t stack)
{
	struct trace *trace = texts->trace;
	struct stack_text *to = &texts->texts[stack];
	uint32_t line = trace_line(trace, stack);
	uint32_t frames[FRAMES];
	size_t count = trace_lines(trace, stack, frames, FRAMES);
	char text[600];
	char all[FRAMES * 603] = "";

	text_copy(text, sizeof(text), "[no stack was recorded]");
	if (line != UINT32_MAX)
		trace_frame_text(trace, line, text, sizeof(text));
	utf8_clean(text);
	to->line = need_text(&trace->arena, text);
	for (size_t i = 0; i < count; i++) {
		trace_frame_text(trace, frames[i], text, sizeof(text));
		utf8_clean(text);
		text_append(all, sizeof(all), i ? " < " : "");
		text_append(all, sizeof(all), text);
	}
	to->frames = need_text(&trace->arena, all);
	to->owner = trace->stacks[stack].owner;
	if (trace->site_of && trace->site_of[stack] != UINT32_MAX)
		to->site = trace->sites[trace->site_of[stack]].site;
}

void stack_texts_make(struct stack_texts *texts, struct trace *trace)
{
	texts->trace = trace;
	texts->texts = NEED_ROOM(&trace->arena, texts->texts, trace->stacks_n);
	for (uint32_t i = 0; i < trace->stacks_n; i++)
		make_one(texts, i);
}

const struct stack_text *stack_text(const struct stack_texts *texts, uint32_t stack)
{
	/* texts[stacks_n], after the entry of the last stack, has only NULL in it. */
	return &texts->texts[stack < texts->trace->stacks_n ? stack : texts->trace->stacks_n];
}
