/*
 * Any bytes as a trace: read, reported on, compared and exported without harm.
 *
 * What is printed must hold nothing that steers a terminal, and what is printed as JSON must be
 * JSON: so the sanitizers are not the only judges. The length of the input picks what the report is
 * asked for, which leaves inputs plain documents.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/compare/diff.h"
#include "analyse/input/error.h"
#include "analyse/input/json.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/export/formats.h"
#include "render/report/report.h"
#include "render/values/values.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	int in, out;
	char path[64];
	struct out printed;
	char buffer[1 << 16];
} state;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	state.in = memfd_create("trace", MFD_CLOEXEC);
	state.out = memfd_create("printed", MFD_CLOEXEC);
	if (state.in < 0 || state.out < 0)
		abort();
	snprintf(state.path, sizeof(state.path), "/proc/self/fd/%d", state.in);
	return 0;
}

static void begin(void)
{
	if (ftruncate(state.out, 0) || lseek(state.out, 0, SEEK_SET))
		abort();
	out_init(&state.printed, state.out, state.buffer, sizeof(state.buffer));
}

/* What was printed, in memory of its own. */
static char *printed(size_t *length)
{
	char *text;

	if (out_flush(&state.printed))
		abort();
	*length = state.printed.written;
	text = malloc(*length + 1);
	if (!text || pread(state.out, text, *length, 0) != (ssize_t)*length)
		abort();
	text[*length] = '\0';
	return text;
}

/* Made safe again, each line is as it was: nothing was left to make safe. */
static void check_safe(void)
{
	size_t length;
	char *text = printed(&length);
	char *line = text;

	if (strlen(text) != length)
		abort();
	while (*line) {
		size_t end = strcspn(line, "\n");
		char *safe = malloc(end + 8);
		char last = line[end];

		line[end] = '\0';
		show_safe(safe, end + 8, line, (unsigned)end + 8);
		if (strcmp(safe, line) != 0)
			abort();
		free(safe);
		line += end + (last != '\0');
	}
	free(text);
}

/* Documents, one a line or one in all. */
static void check_json(bool lines)
{
	size_t length;
	char *text = printed(&length);

	for (size_t at = 0; at < length;) {
		const char *line = lines ? memchr(text + at, '\n', length - at) : NULL;
		size_t part = line ? (size_t)(line - text) - at : length - at;
		int fd = memfd_create("printed", MFD_CLOEXEC);
		struct json json;

		if (pwrite(fd, text + at, part, 0) != (ssize_t)part ||
		    json_open(&json, fd, "printed") || json_skip(&json, json_next(&json)) ||
		    json_next(&json) != JSON_END)
			abort();
		json_close(&json);
		close(fd);
		at += part + (line != NULL);
	}
	free(text);
}

static struct report_options options_of(size_t size)
{
	static const char *const moments[] = { NULL, "peak", "exit", "12.5s", "seq:1", "phase:*" };
	static const char *const filters[] = { NULL, NULL, "a", "*(*" };
	struct report_options options = { .select = { .device = NO_DEVICE, .space = SPACES },
					  .limit = 3 };

	options.full = size & 1;
	options.limit = size % 5;
	options.select.by = (int)(size / 2 % TRACE_BYS);
	options.select.stacks = (int)(size / 3 % 3);
	options.select.at = moments[size / 5 % 6];
	options.select.filter = filters[size / 7 % 4];
	options.select.device = size % 11 ? NO_DEVICE : 0;
	options.show = size % 3 ? 0 : UINT32_MAX;
	return options;
}

static void report(size_t size)
{
	struct report_options options = options_of(size);
	struct trace trace;

	for (int json = 0; json < 2; json++) {
		if (trace_open(&trace, state.path))
			return;
		begin();
		if (!report_write(&trace, &state.printed, &options, json)) {
			if (json)
				check_json(false);
			else
				check_safe();
		}
		trace_close(&trace);
	}
	if (trace_open(&trace, state.path))
		return;
	begin();
	if (!report_brief(&trace, &state.printed, "memtrace: "))
		check_safe();
	trace_close(&trace);
}

static void export(void)
{
	const struct selection_options options = { .metric = TRACE_ALLOCATED };

	for (const struct format *format = formats; format->name; format++) {
		struct trace trace;

		if (trace_open(&trace, state.path))
			return;
		begin();
		if (!format->write(&trace, &state.printed, &options) &&
		    (!strcmp(format->extension, "ndjson") || !strcmp(format->extension, "json")))
			check_json(!strcmp(format->extension, "ndjson"));
		trace_close(&trace);
	}
}

static bool side_of_input(struct diff_side *side)
{
	*side = (struct diff_side){ .runs = calloc(1, sizeof(*side->runs)) };
	if (!side->runs)
		abort();
	side->count = !run_open(side->runs, state.path, NO_DEVICE);
	return side->count;
}

static void compare_as(struct diff *diff, const struct diff_format *format, size_t size)
{
	const struct diff_options options = { .limit = size % 4, .full = size & 1 };

	begin();
	format->write(diff, &state.printed, &options);
	if (!strcmp(format->name, "json") || !strcmp(format->name, "sarif") ||
	    !strcmp(format->name, "benchmark") || !strcmp(format->name, "bencher"))
		check_json(false);
	else
		check_safe();
}

/* With itself: the rows match, and whatever is wrong with them comes twice. */
static void compare(size_t size)
{
	struct diff_side base = { NULL, 0, 0 };
	struct diff_side head = { NULL, 0, 0 };
	struct diff diff = { .base = { NULL, 0, 0 } };
	struct gate gate = { .kind = GATE_GROWTH };
	struct gate *const gates[] = { &gate };
	bool opened = side_of_input(&base) & side_of_input(&head);

	if (gate_parse(&gate, GATE_GROWTH, GATE_DEFAULT))
		abort();
	diff.base = base;
	diff.head = head;
	if (opened && !diff_make(&diff, &base, &head, NO_DEVICE)) {
		diff_judge(&diff, gates, 1);
		for (const struct diff_format *format = diff_formats; format->name; format++)
			compare_as(&diff, format, size);
	}
	diff_clear(&diff);
}

static void events(void)
{
	struct trace trace;
	struct event event;

	if (trace_open(&trace, state.path))
		return;
	while (trace_next(&trace, &event) == 1) {
		if (event.stack != UINT32_MAX && event.stack >= trace.stacks_n)
			abort();
	}
	trace_close(&trace);
	if (trace_open(&trace, state.path))
		return;
	while (trace_next_of(&trace, EVENT_OOM, &event) == 1)
		;
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (ftruncate(state.in, (off_t)size) || pwrite(state.in, data, size, 0) != (ssize_t)size)
		abort();
	events();
	report(size);
	export();
	compare(size);
	return 0;
}
