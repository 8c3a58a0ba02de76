/* Shared by the formats: a selection's events, and when the process began. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "render/export/formats.h"

struct block;

/* The bounds of the events to export, by time and by number, both inclusive. */
struct export_end {
	uint64_t to, last;
};

/* Finds the moment of --at as the end of the events; without --at there is no end. "peak" and
 * "phase:NAME" read the file a second time. 0 or -errno with err_text(). */
int export_find_end(struct export_end *end, const struct trace *trace,
		    const struct selection_options *options);

static inline bool export_is_behind(const struct export_end *end, const struct event *event)
{
	return event->t > end->to || event->seq > end->last;
}

/* True if the event is of the selected device and pool (a text's number). */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);

/* process.start_time in ns since 1970; 0 if it cannot be read. */
uint64_t export_epoch_ns(const struct trace *trace);
