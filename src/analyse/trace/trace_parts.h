/* Declarations that the files of trace_*.c share. */
#pragma once

#include "analyse/input/json.h"
#include "analyse/input/texts.h"
#include "analyse/trace/trace.h"

/* The reader's own state. */
struct trace_reader {
	struct json json;
	struct trace_spool *from; /* NULL: from JSON */
	int fd;
	bool in_events;
	const char *section; /* being read */
	uint8_t order[32];   /* keys of the last event, by position */
	uint32_t last_text[32];
	struct texts texts; /* of events */
};

/* Reads the value of a row of `trace` that follows: 0 or -EINVAL. */
int trace_read(struct trace *trace, const struct row *row);

/* For a failed reader: sets the text for a cut trace if the file ends too early. -EINVAL. */
int trace_broken(struct trace *trace);

/* trace_spool.c: facts of the spool at the trace's path. 0 or -errno. */
int trace_spool_open(struct trace *trace);
void trace_spool_close(struct trace_spool *from);

/* An event without any member. */
extern const struct event trace_no_event;

/* The next event, cleared before, or written where `out` is one: as trace_next(). */
int trace_spool_next(struct trace *trace, struct event *event, struct out *out);

/* The id of a text, entered if it is new. */
uint32_t trace_enter_text(struct trace *trace, const char *text, size_t length);

/* Checks that positions are within their arrays, and fills site_of[]: 0 or -EINVAL. */
int trace_check(struct trace *trace);

/* After trace_check(): replaces figures of a sampled trace with estimates. */
void trace_estimate(struct trace *trace);

/* Gives stacks with a via_stack its Python frames, named as such. */
void trace_extend_backward(struct trace *trace);
