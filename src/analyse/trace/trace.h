/*
 * Opens a trace (memtrace/1): reads all but its events into memory, and its events one by one.
 *
 * facts/trace.def lists the members of a trace, facts/trace_model.h declares structs for them.
 *
 * Everything before `events` is read at once into arrays that exist until trace_close(). Positions
 * that refer to other arrays have been checked. include/memtrace/trace.schema.json explains each
 * member under the name used here.
 *
 * Functions that can fail return 0 or -errno and set err_text(). A spool (the file that a recording
 * is written to) is accepted wherever a trace is.
 */
#pragma once

#include "base/mem/each.h"
#include "codec/event.h"
#include "facts/trace_model.h"

struct out;

enum {
	TRACE_FEW = 500000, /* a trace with at most this many events is read completely even if no
			       option needs that: it takes a few tenths of a second */
};

/* The number of events dropped for lack of room: by MEMTRACE_MAX_EVENTS or MEMTRACE_KEEP. */
static inline uint64_t trace_crowded_out(const struct trace_capture *capture)
{
	uint64_t others = capture->events_stopped + capture->events_filtered;

	return capture->events_dropped > others ? capture->events_dropped - others : 0;
}

/* Opens a file ("-": standard input); on failure opens nothing. The path must outlive the trace. */
int trace_open(struct trace *trace, const char *path);

void trace_close(struct trace *trace);

/*
 * Reads the next event. Its texts are ids for trace_text(), its stack is UINT32_MAX if it has none,
 * and members that the file does not have are as in trace_no_event (trace_parts.h). Returns 1 with
 * an event, 0 after the last event, -EINVAL if the file is damaged.
 */
int trace_next(struct trace *trace, struct event *event);

/* Like trace_next(), but returns only events with this op; in JSON, others are not parsed. */
int trace_next_of(struct trace *trace, enum event_op op, struct event *event);

/* Writes the next event in JSON, without a line break. Returns as trace_next(). */
int trace_copy(struct trace *trace, struct out *out);

/* Returns the text with this id from the events read so far, NULL for id 0. */
const char *trace_text(const struct trace *trace, uint32_t id);

/* Returns all texts from the events read so far; the text with the id n is at n - 1. */
const char **trace_texts(const struct trace *trace, size_t *count);

/* True if the file begins as a spool does; false also if it cannot be read. */
bool trace_is_spool(const char *path);

/* A walk through time that finds the innermost phase: of all phases that are open, on any thread,
 * the phase that began last. Times must not decrease from one trace_phase_at() to the next. */
struct trace_phase_walk {
	uint32_t *open;    /* phases that have begun and may still be open, oldest first */
	uint32_t *parents; /* by phase: 1 + the innermost phase when it began, 0 for none */
	size_t open_n, next;
};

/* Starts a walk, whose lists are in the trace's arena. */
void trace_phase_walk(struct trace_phase_walk *walk, struct trace *trace);

/* Returns 1 + the position of the innermost phase at time t, 0 for none. */
uint32_t trace_phase_at(struct trace_phase_walk *walk, const struct trace *trace, uint64_t t);

/* Returns the newest thread with this kernel thread id, NULL if the trace has none. */
const struct trace_thread *trace_thread(const struct trace *trace, uint64_t thread);

static inline uint64_t trace_known(uint64_t number)
{
	return number == TRACE_NONE ? 0 : number;
}

/* Stores the name of the program and, if that is Python, of its script or module, without folders;
 * returns the number of names. Two programs count as the same if the last names are equal. */
size_t trace_program(const struct trace *trace, const char *names[2]);

/* Returns the process's start in ns since 1970; TRACE_NONE if the trace has no valid time. */
uint64_t trace_start_ns(const struct trace *trace);

/* Counts the allocations that failed for lack of memory, on a device or (NO_DEVICE) on all. */
uint64_t trace_ooms(const struct trace *trace, int device);

/* Returns the device's position in summary.devices; devices_n if the memory is on none of them. */
size_t trace_position(const struct trace *trace, int device, unsigned space);

/* Look up a device's summary, a peak, a kind of memory, a curve. NULL if the trace has none. */
const struct trace_device *trace_device(const struct trace *trace, int device);
const struct trace_peak *trace_peak(const struct trace *trace, int device, const char *pool,
				    enum trace_metric metric);
const struct trace_space *trace_space(const struct trace *trace, unsigned space);
const struct trace_curve *trace_curve(const struct trace *trace, int device, const char *pool);

/* Returns the device with the highest peak of allocated memory, NULL if there is none. `wanted`:
 * the only device that counts, NO_DEVICE for all. */
const struct trace_device *trace_worst_device(const struct trace *trace, int wanted);

/* True if the stack allocated memory of the kind `space`. All memory of a stack is of one kind. */
bool trace_is_of(const struct trace *trace, size_t stack, unsigned space);

/* Returns the peak of all memory of the kind, in the trace's arena; NULL if it is not known. */
struct trace_peak *trace_space_peak(struct trace *trace, unsigned space);

/* Returns the curve's `column` at time t; TRACE_NONE before it begins, or if `column` is NULL. */
uint64_t trace_curve_at(const struct trace_curve *curve, const uint64_t *column, uint64_t t);

/*
 * native_lines.c: gives native frames the file and line in the source, and stacks a frame for each
 * inlined function, where debug information with the module's build-id is found. Reads files that
 * the trace names and, if DEBUGINFOD_URLS is set, downloads others; call it only to show frames.
 */
void trace_find_lines(struct trace *trace);

/* --- the choice of a stack's frames to show: trace_frames.c --- */

/* True for native code of frameworks and libraries that they call (CUDA, libc), or unknown code. */
bool trace_frame_internal(const struct trace *trace, const struct trace_frame *frame);

/* Returns a frame's rank for the user: 0 for their own code, higher for code of libraries. */
unsigned trace_frame_rank(const struct trace *trace, const struct trace_frame *frame);

/* Returns the path of the program or library that has the frame's code, NULL if unknown. */
static inline const char *trace_module(const struct trace *trace, const struct trace_frame *frame)
{
	return frame->module == UINT32_MAX ? NULL : trace->modules[frame->module].path;
}

/* Returns the source file of a Python frame, and trace_module() of others; NULL if unknown. */
static inline const char *trace_frame_path(const struct trace *trace,
					   const struct trace_frame *frame)
{
	return frame->language == TRACE_PYTHON ? frame->file : trace_module(trace, frame);
}

/* True for the user's own code, and for Python code in packages that are not frameworks. */
bool trace_frame_own(const struct trace *trace, const struct trace_frame *frame);

/* Returns the position of the frame that stands for a stack in tables: of the frames with the
 * lowest trace_frame_rank(), the innermost; UINT32_MAX if there are no frames. */
uint32_t trace_line(const struct trace *trace, uint32_t stack);

/* Lists up to `most` frames to show, innermost first, with trace_line()'s. Returns their number. */
size_t trace_lines(const struct trace *trace, uint32_t stack, uint32_t *frames, size_t most);

/* Writes a frame, cut to size: "Net.forward (train.py:12)", "decode<...> (libdecode.so)". */
void trace_frame_text(const struct trace *trace, uint32_t frame, char *to, size_t size);

/* Writes a name of sites[site]: for a call site, trace_line() of its stack with most live bytes. */
void trace_site_text(const struct trace *trace, uint32_t site, char *to, size_t size);

/* The owners of Python files, from the user to frameworks. */
enum place_kind {
	PLACE_OWN,
	PLACE_PACKAGE,
	PLACE_FRAMEWORK,
};

/* Returns a Python file's owner. `path` may also be a name that Python gives, such as "<stdin>". */
enum place_kind place_kind(const char *path);

/* True for a frame that is a name for bytes without a stack, such as "[not recorded]". */
bool trace_frame_named(const struct trace_frame *frame);

/* --- the frames and groups that the user chose: trace_choice.c --- */

enum trace_stacks { TRACE_STACKS_MERGED, TRACE_STACKS_NATIVE, TRACE_STACKS_PYTHON };

/* The property by which stacks are grouped. Line, function and module are those of the frame that
 * trace_line() returns; stacks without frames form a group of their own. */
enum trace_by {
#define BY(id, name, title) TRACE_BY_##id,
#include "analyse/trace/trace_by.def"
	TRACE_BYS
};

/* Return a property's name for options ("site"), and its name in headings ("call site"). */
const char *trace_by_name(enum trace_by by);
const char *trace_by_title(enum trace_by by);

/* The groups of stacks, in the order of each group's first stack. */
struct trace_keys {
	uint32_t *of; /* by stack: position of the stack's group */
	const char **names;
	size_t count;
};

/* Groups the stacks by a property. The lists are in the trace's arena. */
void trace_keys_find(struct trace_keys *keys, struct trace *trace, enum trace_by by);

/*
 * Removes frames that are not of the kind `stacks`, and replaces sites[] with groups of stacks by
 * the property `by`, with the stacks' sums. TRACE_STACKS_MERGED with TRACE_BY_SITE changes
 * nothing. A stack without frames left gets one such as "[no Python frames]". To be called once.
 */
void trace_choose(struct trace *trace, enum trace_stacks stacks, enum trace_by by);

/* Calls trace_gather_sites() with the trace's arena; ends the tool if memory is short. */
void trace_set_sites(struct trace *trace, const struct trace_place *places);
