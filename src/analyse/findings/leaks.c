#include "analyse/findings/leaks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/mem/sort.h"
#include "base/text/text.h"

static const struct {
	const char *part, *what;
} held_rows[] = {
#define HELD(part, what) { part, what },
#include "analyse/findings/expected_leaks.def"
#undef HELD
};

static const char *held_by(const struct trace *trace, const struct trace_frame *frame)
{
	const char *module = trace_module(trace, frame);

	foreach (kind, held_rows, COUNT_OF(held_rows)) {
		const char *part = kind->part;

		if (!strncmp(part, "lib", 3)
			    ? module && !strncmp(text_base(module), part, strlen(part))
			    : frame->function && strstr(frame->function, part))
			return kind->what;
	}
	return NULL;
}

const char *leaks_held(const struct trace *trace, uint32_t number)
{
	const struct trace_stack *stack = &trace->stacks[number];
	const char *what = NULL;

	for (size_t i = 0; !what && i < stack->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[stack->frames[i]];

		/* Memory from Python code is the program's, even if a library called that code. */
		if (frame->language == TRACE_PYTHON)
			break;
		what = held_by(trace, frame);
	}
	return what;
}

/* --- suppressions: the file --- */

/* Returns the line without its comment, and without blanks at either end. */
static char *trim(char *line)
{
	char *end;

	for (char *p = strchr(line, '#'); p; p = strchr(p + 1, '#')) {
		if (p > line && p[-1] != ' ' && p[-1] != '\t')
			continue;
		*p = '\0';
		break;
	}
	line += strspn(line, " \t\r\n");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r\n", end[-1]))
		end--;
	*end = '\0';
	return line;
}

static void add_pattern(struct suppressions *to, const char *pattern, unsigned line)
{
	NEED(GROW(to->list, to->count, to->size, 16));
	to->list[to->count++] = (struct suppression){ need_text(&to->arena, pattern), line, 0 };
}

int suppressions_read(struct suppressions *suppressions, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	unsigned number = 0;
	bool failed;

	*suppressions = (struct suppressions){ 0 };
	if (!file)
		return err("%s: %s", path, strerror(errno));
	while (getline(&line, &size, file) >= 0) {
		const char *pattern = trim(line);

		number++;
		if (*pattern)
			add_pattern(suppressions, pattern, number);
	}
	failed = ferror(file);
	free(line);
	fclose(file);
	if (!failed)
		return 0;
	suppressions_clear(suppressions);
	return err("%s: %s", path, strerror(EIO));
}

void suppressions_clear(struct suppressions *suppressions)
{
	free(suppressions->list);
	arena_clear(&suppressions->arena);
	*suppressions = (struct suppressions){ 0 };
}

/* --- suppressions: matching --- */

static bool fits_text(const char *pattern, const char *text)
{
	return text && !fnmatch(pattern, text, 0);
}

static bool fits_path(const char *pattern, const char *path)
{
	return path && (fits_text(pattern, path) || fits_text(pattern, text_base(path)));
}

static bool fits_frame(const char *pattern, const struct trace *trace, uint32_t number)
{
	const struct trace_frame *frame = &trace->frames[number];
	char text[512];

	trace_frame_text(trace, number, text, sizeof(text));
	return fits_text(pattern, text) || fits_text(pattern, frame->function) ||
	       fits_path(pattern, frame->file) || fits_path(pattern, trace_module(trace, frame));
}

static bool fits_stack(const char *pattern, const struct trace *trace, uint32_t number)
{
	const struct trace_stack *stack = &trace->stacks[number];
	uint32_t site = trace->site_of[number];

	if (site != UINT32_MAX && fits_text(pattern, trace->sites[site].site))
		return true;
	foreach (frame, stack->frames) {
		if (fits_frame(pattern, trace, *frame))
			return true;
	}
	return false;
}

bool suppressions_fit(struct suppressions *suppressions, const struct trace *trace, uint32_t stack)
{
	bool any = false;

	foreach (suppression, suppressions->list, suppressions->count) {
		if (!fits_stack(suppression->pattern, trace, stack))
			continue;
		suppression->used++;
		any = true;
	}
	return any;
}

/* --- leaks by site --- */

static void leak_add_stack(struct leaks *leaks, struct leak *leak, const struct trace *trace,
			   uint32_t number, struct suppressions *suppressions)
{
	const struct trace_stack *stack = &trace->stacks[number];

	if (!stack->live_bytes)
		return;
	if (leaks_held(trace, number)) {
		leaks->held += stack->live_bytes;
		return;
	}
	if (suppressions && suppressions_fit(suppressions, trace, number)) {
		leaks->suppressed += stack->live_bytes;
		return;
	}
	leak->bytes += stack->live_bytes;
	leak->count += stack->live_count;
	leak->allocations += stack->allocations;
	leak->frees += stack->frees;
	if (stack->live_bytes > leak->most) {
		leak->most = stack->live_bytes;
		leak->stack = number;
	}
}

void leaks_find(struct leaks *leaks, const struct trace *trace, struct suppressions *suppressions)
{
	static const struct sort_key by_bytes[] = { SORT_DOWN(struct leak, bytes), { 0 } };

	*leaks = (struct leaks){ .list = calloc(trace->sites_n + 1, sizeof(*leaks->list)) };
	NEED(leaks->list);
	for (uint32_t i = 0; i < trace->sites_n; i++) {
		const struct trace_site *site = &trace->sites[i];
		struct leak leak = { .site = i, .stack = UINT32_MAX };

		foreach (stack, site->stacks)
			leak_add_stack(leaks, &leak, trace, *stack, suppressions);
		if (!leak.bytes)
			continue;
		leaks->bytes += leak.bytes;
		leaks->blocks += leak.count;
		leaks->list[leaks->count++] = leak;
	}
	sort_rows(leaks->list, leaks->count, sizeof(*leaks->list), by_bytes);
}

void leaks_clear(struct leaks *leaks)
{
	free(leaks->list);
	*leaks = (struct leaks){ 0 };
}
