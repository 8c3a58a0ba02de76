/*
 * A trace (memtrace/1), opened: its facts in memory, its events read one by one.
 *
 * facts/trace.def lists its members, facts/trace_model.h makes structs of them.
 *
 * Everything before `events` is read at once into arrays that live until trace_close(), however
 * many events follow. Positions that the file refers to have been checked.
 * include/memtrace/trace.schema.json explains each member; its names are used here.
 *
 * Functions that can fail return 0 or -errno and set err_text(). A spool is accepted wherever a
 * trace is.
 */
#pragma once

#include "codec/event.h"
#include "facts/trace_model.h"

struct out;

enum {
	TRACE_FEW = 500000, /* events that are read in a few tenths of a second: few enough to be
			       read unasked */
};

/* The dropped events that gave way to newer ones: a larger MEMTRACE_MAX_EVENTS would keep them. */
static inline uint64_t trace_crowded_out(const struct trace_capture *capture)
{
	uint64_t others = capture->events_stopped + capture->events_filtered;

	return capture->events_dropped > others ? capture->events_dropped - others : 0;
}

/* "-" is standard input. The path must outlive the trace. After a failure nothing is open. */
int trace_open(struct trace *trace, const char *path);

void trace_close(struct trace *trace);

/*
 * Reads the next event: its texts are ids for trace_text(), its stack is UINT32_MAX when it has
 * none, and members that the trace does not have are TRACE_NONE, NO_DEVICE, EVENT_OPS and SPACES.
 * Returns 1 with an event, 0 after the last one, -EINVAL when the file is broken there.
 */
int trace_next(struct trace *trace, struct event *event);

/* Reads the next event of one kind, skipping the lines of others unread. */
int trace_next_of(struct trace *trace, enum event_op op, struct event *event);

/* Writes the next event as in the file, without a line break; returns as trace_next(). */
int trace_copy(struct trace *trace, struct out *out);

/* The text with the id, NULL for 0. */
const char *trace_text(const struct trace *trace, uint32_t id);

/* All texts that were read so far, by id - 1. */
const char **trace_texts(const struct trace *trace, size_t *count);

/* True if the file begins as a spool. False as well when it cannot be read. */
bool trace_is_spool(const char *path);

/* The innermost phase at a time, on whatever thread: of those open the one that began last. Times
 * come in order. */
struct trace_phase_walk {
	uint32_t *open;    /* phases that began, without those that ended on top */
	uint32_t *parents; /* by phase: 1 + the one that was open when it began */
	size_t open_n, next;
};

/* The memory is the trace's. */
void trace_phase_walk(struct trace_phase_walk *walk, struct trace *trace);

/* 1 + its position, 0 for none. */
uint32_t trace_phase_at(struct trace_phase_walk *walk, const struct trace *trace, uint64_t t);

/* The newest thread with the number, NULL when the trace does not name it. */
const struct trace_thread *trace_thread(const struct trace *trace, uint64_t thread);

/* The number, 0 where the trace has none. */
static inline uint64_t trace_known(uint64_t number)
{
	return number == TRACE_NONE ? 0 : number;
}

/* The position among the summary's devices; that after the last one for memory of no device. */
size_t trace_position(const struct trace *trace, int device, unsigned space);

/* The device's row, the peak, the curve; NULL when the trace has none. */
const struct trace_device *trace_device(const struct trace *trace, int device);
const struct trace_peak *trace_peak(const struct trace *trace, int device, const char *pool,
				    enum trace_metric metric);
const struct trace_curve *trace_curve(const struct trace *trace, int device, const char *pool);

/* The value of the curve's column at time t, TRACE_NONE when it does not reach there. */
uint64_t trace_curve_at(const struct trace_curve *curve, const uint64_t *column, uint64_t t);

/* --- what of a stack to show: trace_frames.c --- */

/* True for code that every allocation runs through (CUDA, c10, libc, the interpreter). */
bool trace_frame_internal(const struct trace *trace, const struct trace_frame *frame);

/* The rank of a frame for its user: 0 for their own code, more for everybody's code. */
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

/* True for the user's own code, and for Python of a package that is no framework. */
bool trace_frame_own(const struct trace *trace, const struct trace_frame *frame);

/* The frame of the stack that matters to its user: the first that is their own code, else the first
 * that is anybody's Python, else the first that is not internal; UINT32_MAX without frames. */
uint32_t trace_line(const struct trace *trace, uint32_t stack);

/* Up to `most` frames worth showing, innermost first, trace_line() among them; how many. */
size_t trace_lines(const struct trace *trace, uint32_t stack, uint32_t *frames, size_t most);

/* "Net.forward (train.py:12)", "decode<...> (libdecode.so)", "0x1a2b in libx.so"; cut to size. */
void trace_frame_text(const struct trace *trace, uint32_t frame, char *to, size_t size);

/* Writes the name of a site; where rows are sites, the line of the stack that holds most of it. */
void trace_site_text(const struct trace *trace, uint32_t site, char *to, size_t size);

/* The owner of a Python file; the smaller, the more it says to its user. */
enum place_kind {
	PLACE_OWN,
	PLACE_PACKAGE,
	PLACE_FRAMEWORK,
};

/* The owner by the path as the interpreter has it: "<stdin>" is one, too. */
enum place_kind place_kind(const char *path);

/* True for a name that stands for no code: "[not recorded]", a pool's growth. */
bool trace_frame_named(const struct trace_frame *frame);

/* --- the reader's choice of stacks and rows: trace_choice.c --- */

enum trace_stacks { TRACE_STACKS_MERGED, TRACE_STACKS_NATIVE, TRACE_STACKS_PYTHON };

/* The property that stacks are grouped by. Line, function and module are of the same frame, that of
 * trace_line(), with ever larger groups; a stack without frames has a name of its own. */
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

/* The memory is the trace's. */
void trace_keys_find(struct trace_keys *keys, struct trace *trace, enum trace_by by);

/*
 * Keeps the frames of one kind in stacks[], and makes sites[] rows of `by`, for all later readers.
 * Stacks without a frame of the kind get one that stands for none. To be called once, after
 * trace_open(); the sums of sites then come from the figures of stacks.
 */
void trace_choose(struct trace *trace, enum trace_stacks stacks, enum trace_by by);

/* trace_gather_sites(), in memory of the trace. */
void trace_set_sites(struct trace *trace, const struct trace_place *places);
