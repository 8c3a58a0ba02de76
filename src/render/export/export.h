/* Shared by the export formats: the last event to export, the selected events, the start time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "render/export/formats.h"

struct block;

/* The last event to export: bounds of its time (ns) and its number, both inclusive. */
struct export_end {
	uint64_t to, last;
};

/* Sets *end to the time given by --at, or to no bound without --at. "peak" and "phase:NAME" read
 * the file a second time. Returns 0 or -errno with err_text(). */
int export_find_end(struct export_end *end, const struct trace *trace,
		    const struct selection_options *options);

static inline bool export_is_behind(const struct export_end *end, const struct event *event)
{
	return event->t > end->to || event->seq > end->last;
}

/* True if an event's device and pool (the number of a text) are selected by the options. */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);

/* The process's start time in ns since 1970, 0 if the trace has no valid one. */
uint64_t export_epoch_ns(const struct trace *trace);
