/*
 * Any bytes as a trace, for what fuzz_trace.c leaves out: the page and its history, anonymous or
 * not, a baseline and what it says when it is read again, the ranks of a job, the curves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/compare/run_totals.h"
#include "analyse/ranks/ranks.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/page/page.h"
#include "render/ranks/ranks.h"
#include "render/timeline/timeline.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In the place of the page's program. */
const char page_bundle[] = "<html><!--data--></html>";
const uint64_t page_bundle_size = sizeof(page_bundle) - 1;

static struct {
	int in, out;
	char path[64], written[64];
	struct out to;
	char buffer[1 << 16];
} state;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	state.in = memfd_create("trace", MFD_CLOEXEC);
	state.out = memfd_create("written", MFD_CLOEXEC);
	if (state.in < 0 || state.out < 0)
		abort();
	snprintf(state.path, sizeof(state.path), "/proc/self/fd/%d", state.in);
	snprintf(state.written, sizeof(state.written), "/proc/self/fd/%d", state.out);
	return 0;
}

static void begin(void)
{
	if (ftruncate(state.out, 0) || lseek(state.out, 0, SEEK_SET))
		abort();
	out_init(&state.to, state.out, state.buffer, sizeof(state.buffer));
}

static void page(size_t size)
{
	const struct page_input inputs[] = { { state.path, "a" }, { state.path, "b" } };
	const struct page_options options = { .anonymize = size & 1, .max_events = size / 2 % 5 };

	begin();
	page_write(inputs, 1 + size / 3 % 2, &state.to, &options);
	out_flush(&state.to);
}

/* What was written as a baseline can be read. */
static void baseline(void)
{
	struct run run;

	if (run_open(&run, state.path, NO_DEVICE))
		return;
	begin();
	baseline_write(&run, &state.to);
	run_close(&run);
	if (out_flush(&state.to))
		return;
	if (run_open(&run, state.written, NO_DEVICE))
		abort();
	run_close(&run);
}

static void merge(size_t size)
{
	const struct merge_options options = { .limit = size % 3, .full = size & 1 };
	struct merge job = { .ranks = NULL };

	if (!merge_add(&job, state.path) && !merge_add(&job, state.path) &&
	    !merge_end(&job, true)) {
		for (const struct merge_format *format = merge_formats; format->name; format++) {
			begin();
			format->write(&job, &state.to, &options);
			out_flush(&state.to);
		}
	}
	merge_clear(&job);
}

static void timeline(size_t size)
{
	static const char *const moments[] = { NULL, "0.01s", "phase:*", "phase:step", "12.5s" };
	const struct timeline_options options = {
		.device = NO_DEVICE,
		.from = moments[size % 5],
		.to = moments[size / 5 % 5],
		.width = TIMELINE_NARROWEST + (unsigned)(size % 50),
		.height = TIMELINE_LOWEST + (unsigned)(size % 7),
		.ascii = size & 1,
	};
	struct trace trace;

	if (trace_open(&trace, state.path))
		return;
	begin();
	timeline_text(&trace, &state.to, &options);
	out_flush(&state.to);
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (ftruncate(state.in, (off_t)size) || pwrite(state.in, data, size, 0) != (ssize_t)size)
		abort();
	page(size);
	baseline();
	merge(size);
	timeline(size);
	return 0;
}
