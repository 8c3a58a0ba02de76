/*
 * Tests the conditions of rules about stacks. Each frame is tested once, not once for each stack.
 *
 * The frames that trace_backward.c appends to a backward pass's stack are used only for key `line`.
 * They are from forward code, and would make the backward pass look like the forward of a module.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/categories/categories_parts.h"
#include "analyse/categories/glob.h"
#include "analyse/input/grow.h"
#include "base/text/text.h"
#include "facts/spool_model.h"

enum { LONGEST = 2048 };

struct stack_matcher {
	const struct trace *trace;
	const struct rules *rules;
	struct arena *arena;
	size_t words;        /* number of 64-bit words for one bit per condition about frames */
	uint64_t *bits;      /* for each frame, a bit for each condition that it meets */
	uint8_t *stages;     /* for each frame, its enum stage, or STAGES if no stage rule fits */
	uint64_t *seen;      /* conditions met by some frame of the current stack */
	uint64_t *line_seen; /* conditions met by the frame that reports show for the stack */
	struct stack_views *views;
	size_t used, size; /* entries of `candidates` that are used, allocated */
};

/* --- frames --- */

static bool is_path(const char *patterns, const char *path)
{
	return path &&
	       (pattern_any_fits(patterns, path) || pattern_any_fits(patterns, text_base(path)));
}

struct frame_texts {
	const char *function, *symbol, *file, *module;
	char whole[LONGEST];
};

static void read_frame(const struct stack_matcher *matcher, size_t i, struct frame_texts *texts)
{
	const struct trace_frame *frame = &matcher->trace->frames[i];

	texts->function = frame->function;
	texts->symbol = frame->symbol;
	texts->file = frame->language == TRACE_PYTHON ? frame->file : NULL;
	texts->module =
		frame->language == TRACE_NATIVE ? trace_module(matcher->trace, frame) : NULL;
	if (texts->function && !strncmp(texts->function, "_Z", 2)) {
		texts->symbol = texts->function;
		texts->function = symbols_demangle(texts->function, SYMBOLS_LOAD, matcher->arena);
	}
	snprintf(texts->whole, sizeof(texts->whole), "%s (%s)",
		 texts->function ? texts->function : "?",
		 texts->file     ? texts->file
		 : texts->module ? texts->module
				 : "?");
}

static bool frame_fits(const struct rule_condition *condition, const struct frame_texts *texts)
{
	switch (condition->key) {
	case RULE_FUNCTION:
		return pattern_any_fits(condition->patterns, texts->function) ||
		       pattern_any_fits(condition->patterns, texts->symbol);
	case RULE_FILE:
		return is_path(condition->patterns, texts->file);
	case RULE_MODULE:
		return is_path(condition->patterns, texts->module);
	default:
		return pattern_any_fits(condition->patterns, texts->whole);
	}
}

static bool is_set(const uint64_t *bits, unsigned bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static bool is_stage(const struct rule *rule, const uint64_t *bits)
{
	foreach (condition, rule->conditions) {
		if (is_set(bits, condition->bit) != (condition->test == TEST_IS))
			return false;
	}
	return true;
}

static void see_frame(const struct stack_matcher *matcher, size_t number)
{
	uint64_t *bits = matcher->bits + number * matcher->words;
	const struct rules *rules = matcher->rules;
	struct frame_texts texts;

	read_frame(matcher, number, &texts);
	matcher->stages[number] = STAGES;
	foreach (rule, rules->list, rules->count) {
		foreach (condition, rule->conditions) {
			if (rule_keys[condition->key].kind == RULE_KIND_FRAME &&
			    frame_fits(condition, &texts))
				bits[condition->bit / 64] |= 1ull << condition->bit % 64;
		}
		if (rule->stage != STAGES && matcher->stages[number] == STAGES &&
		    is_stage(rule, bits))
			matcher->stages[number] = rule->stage;
	}
}

/* --- stacks --- */

/* Returns the number of the stack's own frames, without those that trace_backward.c appended. */
static size_t own_frames(const struct trace *trace, const struct trace_stack *stack)
{
	size_t python = 0;
	const struct trace_stack *via;

	if (stack->via_stack >= trace->stacks_n)
		return stack->frames_n;
	via = &trace->stacks[stack->via_stack];
	if (via->via_stack != UINT32_MAX)
		return stack->frames_n;
	foreach (frame, via->frames)
		python += trace->frames[*frame].language == TRACE_PYTHON;
	return python <= stack->frames_n ? stack->frames_n - python : stack->frames_n;
}

/* Returns "addmm" for "at::_ops::addmm::call(at::Tensor const&, ...)", NULL for other functions. */
static const char *operator_of(const struct trace_frame *frame, char *to, size_t size)
{
	static const char begin[] = "at::_ops::";
	const char *name = frame->function;
	char *end;

	if (!name || strncmp(name, begin, sizeof(begin) - 1) != 0)
		return NULL;
	text_copy(to, size, name + sizeof(begin) - 1);
	end = strstr(to, "::");
	if (!end)
		return NULL;
	*end = '\0';
	return to;
}

static bool stack_fits(const struct stack_matcher *matcher, const struct rule_condition *condition,
		       const struct trace_stack *stack, const char *op)
{
	bool fits;

	switch (condition->key) {
	case RULE_OP:
		fits = pattern_any_fits(condition->patterns, op);
		break;
	case RULE_NODE:
		fits = stack && pattern_any_fits(condition->patterns, stack->node);
		break;
	case RULE_OWNER:
		fits = stack && pattern_any_fits(condition->patterns, stack->owner);
		break;
	case RULE_LINE:
		fits = is_set(matcher->line_seen, condition->bit);
		break;
	default:
		fits = is_set(matcher->seen, condition->bit);
	}
	return fits == (condition->test == TEST_IS);
}

static void find_candidates(struct stack_matcher *matcher, struct stack_view *view,
			    const struct trace_stack *stack, const char *op)
{
	const struct rules *rules = matcher->rules;

	view->first = (uint32_t)matcher->used;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->list[i];
		bool fits = rule->stage == STAGES;

		for (size_t k = 0; fits && k < rule->conditions_n; k++)
			fits = rule_keys[rule->conditions[k].key].kind > RULE_KIND_STACK ||
			       stack_fits(matcher, &rule->conditions[k], stack, op);
		if (!fits)
			continue;
		NEED(GROW(matcher->views->candidates, matcher->used, matcher->size, 1024));
		matcher->views->candidates[matcher->used++] = (uint16_t)i;
	}
	view->count = (uint32_t)matcher->used - view->first;
}

static void see_stack(struct stack_matcher *matcher, uint32_t number)
{
	const struct trace *trace = matcher->trace;
	const struct trace_stack *stack = number < trace->stacks_n ? &trace->stacks[number] : NULL;
	struct stack_view *view = &matcher->views->list[number];
	size_t frames = stack ? own_frames(trace, stack) : 0;
	uint32_t line = stack ? trace_line(trace, number) : UINT32_MAX;
	const char *op = NULL;
	char name[96];

	memset(matcher->seen, 0, matcher->words * sizeof(*matcher->seen));
	memset(matcher->line_seen, 0, matcher->words * sizeof(*matcher->line_seen));
	*view = (struct stack_view){ .marked = STAGES, .inside = stack && stack->via };
	for (size_t i = 0; i < frames; i++) {
		uint32_t frame = stack->frames[i];
		char found[96];

		for (size_t k = 0; k < matcher->words; k++)
			matcher->seen[k] |= matcher->bits[frame * matcher->words + k];
		if (view->marked == STAGES)
			view->marked = matcher->stages[frame];
		view->called = view->called || matcher->stages[frame] == STAGE_FORWARD;
		view->inside = view->inside || matcher->stages[frame] == STAGE_BACKWARD;
		if (operator_of(&trace->frames[frame], found, sizeof(found))) {
			text_copy(name, sizeof(name), found);
			op = name;
		}
	}
	if (line < trace->frames_n)
		memcpy(matcher->line_seen, matcher->bits + line * matcher->words,
		       matcher->words * sizeof(*matcher->line_seen));
	find_candidates(matcher, view, stack, op);
}

void stack_views_find(struct stack_views *views, struct trace *trace, const struct rules *rules,
		      struct arena *arena)
{
	struct stack_matcher matcher = {
		.trace = trace,
		.rules = rules,
		.arena = arena,
		.words = rules->frame_conditions / 64u + 1,
		.views = views,
	};

	matcher.bits = need(arena, (trace->frames_n + 1) * matcher.words * sizeof(*matcher.bits));
	matcher.stages = need(arena, trace->frames_n + 1);
	matcher.seen = need(arena, matcher.words * sizeof(*matcher.seen));
	matcher.line_seen = need(arena, matcher.words * sizeof(*matcher.line_seen));
	views->list = NEED_ROOM(arena, views->list, trace->stacks_n);
	for (size_t i = 0; i < trace->frames_n; i++)
		see_frame(&matcher, i);
	for (uint32_t i = 0; i <= trace->stacks_n; i++)
		see_stack(&matcher, i);
}
