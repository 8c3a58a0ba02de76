/* What a report says, before it is said: the same for people and for programs. */
#ifndef RENDER_REPORT_REPORT_FACTS_H
#define RENDER_REPORT_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"

struct event;
struct trace;
struct trace_device;
struct trace_peak;
struct trace_share;

/* A call site's part of a peak. */
struct report_group {
	const char *name;
	uint64_t bytes, count;
	const struct trace_share *shares; /* its stacks, largest first */
	size_t shares_n;
};

/* A peak by call site, largest first. The memory is its own. */
struct report_groups {
	struct report_group *list;
	size_t count;
	struct trace_share *shares;
};

int report_groups_of(struct report_groups *groups, const struct trace *trace,
		     const struct trace_peak *peak);
void report_groups_clear(struct report_groups *groups);

/* Sites that still hold memory, by live bytes: positions in trace->sites. NULL without memory. */
uint32_t *report_live(const struct trace *trace, size_t *count, uint64_t *bytes);

/* The device whose allocated peak is the highest, among those wanted; NULL when there is none. */
const struct trace_device *report_worst(const struct trace *trace, int wanted);

/* Reserved when allocated was at its peak; TRACE_NONE when the timeline does not tell. */
uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device);

/* "Peak 1.23 GiB allocated of ..., at 12.3 s; most of it 812.00 MiB from Net.forward
 * (train.py:12)." */
int report_answer(const struct trace *trace, int wanted, char *to, size_t size);

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
