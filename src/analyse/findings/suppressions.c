/* Suppressions: globs from a file against what a stack is called. */
#include "analyse/findings/suppressions.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"

/* --- the file --- */

/* The line without its comment and the blanks around it. */
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

static int add_pattern(struct suppressions *to, const char *pattern, unsigned line)
{
	if (!GROW(to->list, to->count, to->size, 16))
		return -ENOMEM;
	to->list[to->count] = (struct suppression){ strdup(pattern), line, 0 };
	return to->list[to->count++].pattern ? 0 : -ENOMEM;
}

int suppressions_read(struct suppressions *suppressions, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	unsigned number = 0;
	int error = 0;

	*suppressions = (struct suppressions){ 0 };
	if (!file)
		return err("%s: %s", path, strerror(errno));
	while (!error && getline(&line, &size, file) >= 0) {
		const char *pattern = trim(line);

		number++;
		if (*pattern)
			error = add_pattern(suppressions, pattern, number);
	}
	if (!error && ferror(file))
		error = -EIO;
	free(line);
	fclose(file);
	if (!error)
		return 0;
	suppressions_clear(suppressions);
	return err("%s: %s", path, strerror(-error));
}

void suppressions_clear(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->count; i++)
		free(suppressions->list[i].pattern);
	free(suppressions->list);
	*suppressions = (struct suppressions){ 0 };
}

/* --- what it fits --- */

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
	for (size_t i = 0; i < stack->frames_n; i++) {
		if (fits_frame(pattern, trace, stack->frames[i]))
			return true;
	}
	return false;
}

bool suppressions_fit(struct suppressions *suppressions, const struct trace *trace, uint32_t stack)
{
	bool any = false;

	for (size_t i = 0; i < suppressions->count; i++) {
		if (!fits_stack(suppressions->list[i].pattern, trace, stack))
			continue;
		suppressions->list[i].used++;
		any = true;
	}
	return any;
}
