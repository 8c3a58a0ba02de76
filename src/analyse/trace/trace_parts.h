/* What the files of trace_*.c share. */
#ifndef ANALYSE_TRACE_TRACE_PARTS_H
#define ANALYSE_TRACE_TRACE_PARTS_H

#include "analyse/input/json.h"
#include "analyse/trace/trace.h"
#include "facts/trace_rows.h"

/* The reader's own state. */
struct trace_reader {
	struct json json;
	int fd;
	bool in_events;
	const char *section; /* being read */
	uint8_t order[32];   /* keys of the last event, by position */
	uint32_t last_text[8];
};

/* Reads the value of a row of `trace` that follows: 0 or -EINVAL. */
int trace_read(struct trace *trace, const struct row *row);

/* The reader has failed: says it in the words for a trace if the file ends too early. -EINVAL. */
int trace_broken(struct trace *trace);

/* Positions within their arrays, and site_of[]: 0 or -EINVAL. */
int trace_check(struct trace *trace);

/* Of a sampled trace, checked: stacks, sites and shares of peaks become what is estimated. */
void trace_estimate(struct trace *trace);

/* Gives stacks with a via_stack its Python frames, named as such: 0 or -EINVAL. */
int trace_extend_backward(struct trace *trace);

#endif
