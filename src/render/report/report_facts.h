/* What a report says, before it is said: the same for people and for programs. */
#ifndef RENDER_REPORT_REPORT_FACTS_H
#define RENDER_REPORT_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"

struct emit_rows;
struct event;

/* What a stack holds, to be put together with others of the same key. */
struct report_share {
	uint64_t key, bytes, count, stack;
};

/* Shares of one key. */
struct report_group {
	uint64_t key, bytes, count;
	const char *name;                  /* of a call site; NULL: it has none */
	const struct report_share *shares; /* largest first */
	size_t shares_n;
};

/*
 * Groups of shares, which are sorted for it, the largest first; those of a peak, NULL for none, by
 * call site. The memory is the trace's. 0 or -errno.
 */
int report_group(struct emit_rows *groups, struct trace *trace, const struct emit_rows *shares);
int report_group_peak(struct emit_rows *groups, struct trace *trace, const struct trace_peak *peak);

/* The device whose allocated peak is the highest, among those wanted; NULL when there is none. */
const struct trace_device *report_worst(const struct trace *trace, int wanted);

/* Reserved when allocated was at its peak; TRACE_NONE when the timeline does not tell. */
uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device);

/* "Peak 1.23 GiB allocated of ..., at 12.3 s; most of it 812.00 MiB from Net.forward
 * (train.py:12)." */
int report_answer(struct trace *trace, int wanted, char *to, size_t size);

/* The failed allocations: up to `most` of them; the number, or -EINVAL. */
int report_failures(struct trace *trace, int wanted, struct event *events, size_t most);

/* "12 of 20 MiB ... failed" as a sentence. */
void report_failure_text(const struct trace *trace, const struct event *event, char *to,
			 size_t size);

/* The explained failure that ended the program, on the device wanted (NO_DEVICE: any); NULL. */
const struct trace_oom *report_fatal(const struct trace *trace, int wanted);

/* It in a sentence, and why: false, and nothing written, when there is none. */
bool report_fatal_text(const struct trace *trace, int wanted, char *to, size_t size);

/* How many allocations failed for want of memory on the devices wanted. */
uint64_t report_ooms(const struct trace *trace, int wanted);

/* The whole line of a stack that matters, or its site, or what else is known. */
void report_line_text(const struct trace *trace, uint32_t stack, char *to, size_t size);

#endif
