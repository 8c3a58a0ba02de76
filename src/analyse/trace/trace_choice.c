/*
 * Applies the user's choice of the frames that stacks show, and of the groups of stacks.
 *
 * Both choices change the trace itself before any table is made from it, so that all show them.
 */
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/text/text.h"

static const struct {
	const char *name, *title;
} bys[] = {
#define BY(id, name, title) { name, title },
#include "analyse/trace/trace_by.def"
};

const char *trace_by_name(enum trace_by by)
{
	return bys[by].name;
}

const char *trace_by_title(enum trace_by by)
{
	return bys[by].title;
}

/* --- frames of one kind --- */

static bool keeps(const struct trace_frame *frame, enum trace_stacks stacks)
{
	if (trace_frame_named(frame) || stacks == TRACE_STACKS_MERGED)
		return true;
	return frame->language == (stacks == TRACE_STACKS_PYTHON ? TRACE_PYTHON : TRACE_NATIVE);
}

static uint32_t add_named_frame(struct trace *trace, const char *name)
{
	size_t count = trace->frames_n;
	struct trace_frame *frames = need(&trace->arena, (count + 1) * sizeof(*frames));

	if (count)
		memcpy(frames, trace->frames, count * sizeof(*frames));
	frames[count] = (struct trace_frame){
		.function = name,
		.module = UINT32_MAX,
		.language = TRACE_NATIVE,
	};
	trace->frames = frames;
	trace->frames_n = count + 1;
	return (uint32_t)count;
}

/* Removes frames that are not of the kind `stacks`, and corrects the positions in entries[]. */
static void filter_stack(const struct trace *trace, struct trace_stack *stack,
			 enum trace_stacks stacks)
{
	size_t kept = 0;
	size_t entry = 0;
	size_t entries = 0;

	for (size_t i = 0; i < stack->frames_n; i++) {
		bool entered = entry < stack->entries_n && stack->entries[entry] == i;

		entry += entered;
		if (!keeps(&trace->frames[stack->frames[i]], stacks))
			continue;
		if (entered)
			stack->entries[entries++] = (uint32_t)kept;
		stack->frames[kept++] = stack->frames[i];
	}
	stack->frames_n = kept;
	stack->entries_n = entries;
}

static void filter_stacks(struct trace *trace, enum trace_stacks stacks)
{
	uint32_t none = add_named_frame(
		trace, stacks == TRACE_STACKS_PYTHON ? "[no Python frames]" : "[no native frames]");

	for (size_t i = 0; i < trace->stacks_n; i++) {
		struct trace_stack *stack = &trace->stacks[i];

		filter_stack(trace, stack, stacks);
		if (stack->frames_n)
			continue;
		stack->frames = need(&trace->arena, sizeof(*stack->frames));
		stack->frames[0] = none;
		stack->frames_n = 1;
	}
}

/* --- the group of a stack --- */

static const char *file_in_package(const char *path)
{
	const char *at = strstr(path, "-packages/");

	return at ? at + strlen("-packages/") : text_base(path);
}

/* Writes the name of the frame's group, and returns a key that identifies the group. */
static uint64_t frame_key(const struct trace *trace, uint32_t number, enum trace_by by, char *to,
			  size_t size)
{
	struct trace_frame frame = trace->frames[number];
	const char *path = trace_frame_path(trace, &frame);
	uint64_t key = path ? hash_bytes(path, strlen(path)) : 0;

	if (by == TRACE_BY_MODULE && path) {
		text_copy(to, size,
			  frame.language == TRACE_PYTHON ? file_in_package(path) : text_base(path));
		return key;
	}
	if (frame.function)
		key = hash_mix(key, hash_bytes(frame.function, strlen(frame.function)));
	else
		key = hash_mix(key, ~frame.offset);
	if (by == TRACE_BY_LINE)
		key = hash_mix(key, frame.line);
	trace_frame_text(trace, number, to, size);
	if (by != TRACE_BY_LINE && frame.file && frame.line) {
		char *colon = strrchr(to, ':'); /* "f (x.py:12)" becomes "f (x.py)" */

		if (colon)
			text_copy(colon, size - (size_t)(colon - to), ")");
	}
	return key;
}

static uint64_t stack_key(const struct trace *trace, uint32_t number, enum trace_by by, char *to,
			  size_t size)
{
	const struct trace_stack *stack = &trace->stacks[number];
	uint32_t line = trace_line(trace, number);
	uint64_t key = 1;

	if (by == TRACE_BY_OWNER) {
		text_copy(to, size, stack->owner ? stack->owner : "[unknown owner]");
		return hash_bytes(to, strlen(to));
	}
	if (by == TRACE_BY_THREAD || by == TRACE_BY_PHASE || by == TRACE_BY_CATEGORY) {
		text_copy(to, size, stack->group ? stack->group : "[unknown]");
		return hash_bytes(to, strlen(to));
	}
	if (line == UINT32_MAX) {
		text_copy(to, size, "[no frames]");
		return 0;
	}
	if (by != TRACE_BY_STACK)
		return frame_key(trace, line, by == TRACE_BY_SITE ? TRACE_BY_FUNCTION : by, to,
				 size);
	trace_frame_text(trace, line, to, size);
	for (size_t i = 0; i < stack->frames_n; i++)
		key = hash_mix(key, stack->frames[i] + 1);
	return key;
}

void trace_keys_find(struct trace_keys *keys, struct trace *trace, enum trace_by by)
{
	struct map known = { NULL, 0 };
	char name[512];

	keys->count = 0;
	keys->of = need(&trace->arena, (trace->stacks_n + 1) * sizeof(*keys->of));
	keys->names = need(&trace->arena, (trace->stacks_n + 1) * sizeof(*keys->names));
	for (uint32_t i = 0; i < trace->stacks_n; i++) {
		uint64_t key = stack_key(trace, i, by, name, sizeof(name));
		uint32_t id;

		while ((id = map_get(&known, key)) && strcmp(keys->names[id - 1], name) != 0)
			key++; /* the hashes of two names are equal */
		if (!id) {
			id = (uint32_t)++keys->count;
			keys->names[id - 1] = need_text(&trace->arena, name);
			NEED(map_put(&known, key, id));
		}
		keys->of[i] = id - 1;
	}
	map_clear(&known);
}

/* --- sites from groups --- */

void trace_set_sites(struct trace *trace, const struct trace_place *places)
{
	NEED(!trace_gather_sites(trace, &trace->arena, places));
}

static void find_sites(struct trace *trace, const struct trace_keys *keys)
{
	struct trace_place *places = need(&trace->arena, (trace->stacks_n + 1) * sizeof(*places));

	for (uint32_t i = 0; i < trace->stacks_n; i++) {
		struct trace_place *place = &places[i];

		if (trace->site_of[i] == UINT32_MAX)
			continue;
		place->name = keys->names[keys->of[i]];
		place->space = trace->sites[trace->site_of[i]].space;
		place->key = trace->by == TRACE_BY_SITE
				     ? hash_bytes(place->name, strlen(place->name))
				     : keys->of[i];
	}
	trace_set_sites(trace, places);
}

void trace_choose(struct trace *trace, enum trace_stacks stacks, enum trace_by by)
{
	struct trace_keys keys;

	if (stacks != TRACE_STACKS_MERGED)
		filter_stacks(trace, stacks);
	trace->by = by;
	if (stacks == TRACE_STACKS_MERGED && by == TRACE_BY_SITE)
		return;
	trace_keys_find(&keys, trace, by);
	find_sites(trace, &keys);
}
