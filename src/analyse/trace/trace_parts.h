/* Declarations that the files trace*.c share. */
#pragma once

#include "analyse/input/json.h"
#include "analyse/input/string_table.h"
#include "analyse/trace/trace.h"

/* The state of the reader of a trace. */
struct trace_reader {
	struct json json;
	struct trace_spool *from; /* NULL if the trace is read from JSON */
	int fd;
	bool in_events;
	const char *section; /* key of the member being read, for messages */
	uint8_t order[32];   /* the last event's keys, in order: positions in keys[] */
	uint32_t last_text[32];
	struct texts texts; /* the texts of events */
};

/* Reads the next JSON value into the member of the trace that `row` names. Returns 0 or -EINVAL. */
int trace_read(struct trace *trace, const struct row *row);

/* After a failed read: sets err_text() anew if the file is truncated or badly compressed.
 * Returns -EINVAL. */
int trace_broken(struct trace *trace);

/* Opens the spool at the trace's path and fills in the trace's facts. Returns 0 or -errno. */
int trace_spool_open(struct trace *trace);
void trace_spool_close(struct trace_spool *from);

/* An event in which every member has its value for "unknown". */
extern const struct event trace_no_event;

/* Writes the next event as JSON to `out` or, if `out` is NULL, into *event, which must be a copy of
 * trace_no_event. Returns the same as trace_next(). */
int trace_spool_next(struct trace *trace, struct event *event, struct out *out);

/* Returns the id of a text, which is added if it is new. */
uint32_t trace_enter_text(struct trace *trace, const char *text, size_t length);

/* Checks positions and curves, fills site_of[] and missing names, and extends stacks by
 * trace_extend_backward(). Returns 0 or -EINVAL. */
int trace_check(struct trace *trace);

/* Replaces a sampled trace's sums with estimates. To be called after trace_check(). */
void trace_estimate(struct trace *trace);

/* Appends a copy of frame `like` to frames[]. *room is the allocated length, at first frames_n. */
struct trace_frame *trace_add_frame(struct trace *trace, size_t *room, uint32_t like);

/* Appends to each stack the Python frames of its via_stack, if any, with marks after the names. */
void trace_extend_backward(struct trace *trace);
