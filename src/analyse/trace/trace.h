/*
 * A trace (memtrace/1), opened: its facts in memory, its events pulled one by one.
 *
 * facts/trace.def lists its members, facts/trace_model.h makes structs of them.
 *
 * Everything in front of `events` is read at once into arrays that live until trace_close(),
 * however many events follow. What the file refers to by position has been checked.
 * include/memtrace/trace.schema.json says what each member means; its names are used here.
 *
 * Functions that can fail return 0 or -errno and leave a sentence in err_text(). A spool is taken
 * where a trace is.
 */
#pragma once

#include "codec/event.h"
#include "facts/trace_model.h"

struct out;

enum {
	TRACE_FEW = 500000, /* events that are read in a few tenths of a second: unasked, too */
};

/* Those that gave way to newer ones, and so would be there with a larger MEMTRACE_MAX_EVENTS. */
static inline uint64_t trace_crowded_out(const struct trace_capture *capture)
{
	uint64_t others = capture->events_stopped + capture->events_filtered;

	return capture->events_dropped > others ? capture->events_dropped - others : 0;
}

/* "-" is standard input. The path must outlive the trace. After a failure nothing is open. */
int trace_open(struct trace *trace, const char *path);

void trace_close(struct trace *trace);

/*
 * The next event: its texts are ids for trace_text(), its stack UINT32_MAX when it has none, what
 * the trace does not tell of it TRACE_NONE, NO_DEVICE, EVENT_OPS and SPACES. 1 and the event, 0
 * behind the last one, -EINVAL when the file is broken there.
 */
int trace_next(struct trace *trace, struct event *event);

/* The next event of one kind, passing over the lines of others without reading them. */
int trace_next_of(struct trace *trace, enum event_op op, struct event *event);

/* The next event as it stands in the file, on one line and without a line break: as trace_next().
 */
int trace_copy(struct trace *trace, struct out *out);

/* The text with the id, NULL for 0. */
const char *trace_text(const struct trace *trace, uint32_t id);

/* All of them that were read so far, by id - 1. */
const char **trace_texts(const struct trace *trace, size_t *count);

/* Does the file begin as a spool? False as well when it cannot be read. */
bool trace_is_spool(const char *path);

/*
 * The innermost phase at a time, on whatever thread: of those open the one that began last. Times
 * come in order.
 */
struct trace_phase_walk {
	uint32_t *open;    /* phases that began, those that ended on top taken away */
	uint32_t *parents; /* by phase: 1 + the one that was open when it began */
	size_t open_n, next;
};

/* The memory is the trace's. 0 or -errno. */
int trace_phase_walk(struct trace_phase_walk *walk, struct trace *trace);

/* 1 + its position, 0 for none. */
uint32_t trace_phase_at(struct trace_phase_walk *walk, const struct trace *trace, uint64_t t);

/* The newest thread with the number, NULL when the trace does not name it. */
const struct trace_thread *trace_thread(const struct trace *trace, uint64_t thread);

/* A number, 0 where the trace tells none. */
static inline uint64_t trace_known(uint64_t number)
{
	return number == TRACE_NONE ? 0 : number;
}

/* The position among the summary's devices, that behind the last for memory of none. */
size_t trace_position(const struct trace *trace, int device, unsigned space);

/* The device's row, the peak, the curve; NULL when the trace has none. */
const struct trace_device *trace_device(const struct trace *trace, int device);
const struct trace_peak *trace_peak(const struct trace *trace, int device, const char *pool,
				    enum trace_metric metric);
const struct trace_curve *trace_curve(const struct trace *trace, int device, const char *pool);

/* What the curve's column says at time t, TRACE_NONE when it does not reach there. */
uint64_t trace_curve_at(const struct trace_curve *curve, const uint64_t *column, uint64_t t);

/* --- what of a stack to show: trace_frames.c --- */

/* Is it the machinery that everybody's allocation runs through (CUDA, c10, libc, the interpreter)?
 */
bool trace_frame_internal(const struct trace *trace, const struct trace_frame *frame);

/* How little it says to its user: 0 for their own code, more for what everybody runs through. */
unsigned trace_frame_rank(const struct trace *trace, const struct trace_frame *frame);

/* The path of the module that the frame is in; NULL for none. */
static inline const char *trace_module(const struct trace *trace, const struct trace_frame *frame)
{
	return frame->module == UINT32_MAX ? NULL : trace->modules[frame->module].path;
}

/* Where a frame is: its source in Python, its module elsewhere; NULL when unknown. */
static inline const char *trace_frame_path(const struct trace *trace,
					   const struct trace_frame *frame)
{
	return frame->language == TRACE_PYTHON ? frame->file : trace_module(trace, frame);
}

/* Is it the user's own code, or Python of a package that is no framework? */
bool trace_frame_own(const struct trace *trace, const struct trace_frame *frame);

/*
 * The frame of the stack that matters to its user: the first that is their own code, else the first
 * that is anybody's Python, else the first that is not internal; UINT32_MAX without frames.
 */
uint32_t trace_line(const struct trace *trace, uint32_t stack);

/* Up to `most` frames worth showing, innermost first, trace_line() among them; how many. */
size_t trace_lines(const struct trace *trace, uint32_t stack, uint32_t *frames, size_t most);

/* "Net.forward (train.py:12)", "decode<...> (libdecode.so)", "0x1a2b in libx.so"; cut to size. */
void trace_frame_text(const struct trace *trace, uint32_t frame, char *to, size_t size);

/* A site's name; where rows are sites, the line of that of its stacks which holds most. */
void trace_site_text(const struct trace *trace, uint32_t site, char *to, size_t size);

/* Whose code a Python file is; the smaller, the more it says. */
enum place_kind {
	PLACE_OWN,
	PLACE_PACKAGE,
	PLACE_FRAMEWORK,
};

/* Of a path as the interpreter has it: "<stdin>" is one too. */
enum place_kind place_kind(const char *path);

/* A name that stands for no code: "[not recorded]", a pool's growth. */
bool trace_frame_named(const struct trace_frame *frame);

/* --- the reader's choice of stacks and rows: trace_choice.c --- */

enum trace_stacks { TRACE_STACKS_MERGED, TRACE_STACKS_NATIVE, TRACE_STACKS_PYTHON };

/*
 * What stacks are put together by. Line, function and module are of the same frame, that of
 * trace_line(), ever more coarsely; a stack without frames has a name that says so.
 */
enum trace_by {
#define BY(id, name, title) TRACE_BY_##id,
#include "analyse/trace/trace_by.def"
#undef BY
	TRACE_BYS
};

/* "line"; "Lines" for a heading. */
const char *trace_by_name(enum trace_by by);
const char *trace_by_title(enum trace_by by);

/* Each stack's row, and the rows, in the order in which stacks come. */
struct trace_keys {
	uint32_t *of; /* by stack */
	const char **names;
	size_t count;
};

/* The memory is the trace's. 0 or -errno. */
int trace_keys_find(struct trace_keys *keys, struct trace *trace, enum trace_by by);

/*
 * Makes stacks[] hold the frames of one kind only, and sites[] rows of `by`: what reads those
 * follows. Stacks without a frame of the kind get one that says so. To be called once, behind
 * trace_open(); sums of sites come from the figures of stacks then. 0 or -errno.
 */
int trace_choose(struct trace *trace, enum trace_stacks stacks, enum trace_by by);

/* trace_gather_sites(), in memory of the trace: 0 or -errno with err_text(). */
int trace_set_sites(struct trace *trace, const struct trace_place *places);
