/* Chooses which frames of a stack are shown: the user's own lines rather than library code. */
#include <stdio.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "facts/sites.h"

/* The kinds of code that a frame can be in, the most useful to the user first. */
enum kin {
	KIN_OWN,       /* the user's own code */
	KIN_PACKAGE,   /* Python code in an installed package, or without a file */
	KIN_FRAMEWORK, /* Python code of frameworks and the standard library */
	KIN_VENDOR,    /* native code in a vendor's library or an installed package */
	KIN_INSIDE,    /* native code in a framework */
	KIN_INTERNAL,  /* native code that frameworks call: CUDA, libc, allocators */
	KIN_UNKNOWN,   /* a frame with neither a name nor a module */
};

enum place_kind place_kind(const char *path)
{
#define PLACE(part, kind)                                                                     \
	if (part[0] == '<' ? !strncmp(path, part, strlen(part)) : strstr(path, part) != NULL) \
		return PLACE_##kind;
#include "analyse/trace/python_file_kinds.def"
#undef PLACE
	return PLACE_OWN;
}

static enum kin kin_of_module(const char *path)
{
	enum site_kind kind = site_library(text_base(path));

	if (kind >= SITE_FRAMEWORK)
		return kind == SITE_FRAMEWORK ? KIN_INSIDE : KIN_INTERNAL;
	return kind == SITE_VENDOR || place_kind(path) != PLACE_OWN ? KIN_VENDOR : KIN_OWN;
}

static enum kin kin_of(const struct trace *trace, const struct trace_frame *frame)
{
	const char *path;

	if (frame->language == TRACE_PYTHON) {
		static const enum kin kins[] = { [PLACE_OWN] = KIN_OWN,
						 [PLACE_PACKAGE] = KIN_PACKAGE,
						 [PLACE_FRAMEWORK] = KIN_FRAMEWORK };

		return frame->file ? kins[place_kind(frame->file)] : KIN_PACKAGE;
	}
	path = frame->module == UINT32_MAX ? NULL : trace->modules[frame->module].path;
	if (frame->inlined) /* the function that it is inlined into is more useful to the user */
		return KIN_VENDOR;
	if (frame->function && site_linked_in(frame->function))
		return KIN_INTERNAL;
	if (path && path[0])
		return kin_of_module(path);
	return frame->function ? KIN_OWN : KIN_UNKNOWN;
}

bool trace_frame_named(const struct trace_frame *frame)
{
	return frame->language == TRACE_NATIVE && frame->module == UINT32_MAX && !frame->offset;
}

unsigned trace_frame_rank(const struct trace *trace, const struct trace_frame *frame)
{
	return kin_of(trace, frame);
}

bool trace_frame_internal(const struct trace *trace, const struct trace_frame *frame)
{
	return kin_of(trace, frame) >= KIN_INSIDE;
}

bool trace_frame_own(const struct trace *trace, const struct trace_frame *frame)
{
	return kin_of(trace, frame) <= KIN_PACKAGE;
}

uint32_t trace_line(const struct trace *trace, uint32_t stack)
{
	uint32_t best = UINT32_MAX;
	enum kin best_kin = KIN_UNKNOWN;

	if (stack >= trace->stacks_n)
		return UINT32_MAX;
	for (size_t i = 0; i < trace->stacks[stack].frames_n; i++) {
		uint32_t frame = trace->stacks[stack].frames[i];
		enum kin kin = kin_of(trace, &trace->frames[frame]);

		if (best == UINT32_MAX || kin < best_kin) {
			best = frame;
			best_kin = kin;
		}
	}
	return best;
}

size_t trace_lines(const struct trace *trace, uint32_t stack, uint32_t *frames, size_t most)
{
	uint32_t line = trace_line(trace, stack);
	const struct trace_stack *all = &trace->stacks[stack];
	size_t shown = 0;
	bool seen = false;

	if (line == UINT32_MAX || !most)
		return 0;
	for (size_t i = 0; i < all->frames_n && shown < most; i++) {
		uint32_t frame = all->frames[i];

		/* Of the frames that `line` calls, lists only the innermost, which allocates. */
		if (frame == line)
			seen = true;
		else if ((!seen && (shown || most == 1)) ||
			 trace_frame_internal(trace, &trace->frames[frame]))
			continue;
		frames[shown++] = frame;
	}
	return shown;
}

/* --- texts --- */

void trace_frame_text(const struct trace *trace, uint32_t number, char *to, size_t size)
{
	const struct trace_frame *frame;
	const char *module = NULL;
	char name[256];

	if (number >= trace->frames_n) {
		text_copy(to, size, "?");
		return;
	}
	frame = &trace->frames[number];
	if (frame->module != UINT32_MAX && trace->modules[frame->module].path)
		module = text_base(trace->modules[frame->module].path);
	if (frame->function && frame->language == TRACE_NATIVE)
		names_short(frame->function, name, sizeof(name));
	else if (frame->function)
		text_copy(name, sizeof(name), frame->function);
	else
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)frame->offset);
	if (frame->file && frame->line)
		snprintf(to, size, "%s (%s:%u)", name, names_path(frame->file), frame->line);
	else if (frame->file)
		snprintf(to, size, "%s (%s)", name, names_path(frame->file));
	else if (module)
		snprintf(to, size, frame->function ? "%s (%s)" : "%s in %s", name, module);
	else
		text_copy(to, size, name);
}

static bool holds_more(const struct trace_stack *stack, const struct trace_stack *than)
{
	if (stack->live_bytes != than->live_bytes)
		return stack->live_bytes > than->live_bytes;
	return stack->peak_bytes > than->peak_bytes;
}

void trace_site_text(const struct trace *trace, uint32_t number, char *to, size_t size)
{
	const struct trace_site *site = &trace->sites[number];
	uint32_t line = UINT32_MAX;
	uint32_t best;

	if (trace->by == TRACE_BY_SITE && site->stacks_n) {
		best = site->stacks[0];
		for (size_t i = 1; i < site->stacks_n; i++) {
			if (holds_more(&trace->stacks[site->stacks[i]], &trace->stacks[best]))
				best = site->stacks[i];
		}
		line = trace_line(trace, best);
	}
	if (line == UINT32_MAX)
		text_copy(to, size, site->site);
	else
		trace_frame_text(trace, line, to, size);
}
