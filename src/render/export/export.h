/* What the formats of formats.def share: which events belong, and what time it was. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "render/export/formats.h"

struct block;

/* The last event that belongs, by time and by number: both hold. */
struct export_end {
	uint64_t to, last;
};

/*
 * What --at asks for as the end of the events: no end without it. "peak" and "phase:NAME" read the
 * file once more to find it. 0 or -errno with err_text().
 */
int export_find_end(struct export_end *end, const struct trace *trace,
		    const struct selection_options *options);

static inline bool export_is_behind(const struct export_end *end, const struct event *event)
{
	return event->t > end->to || event->seq > end->last;
}

/* Is it of the device and the pool that were asked for? `pool` is a text of the trace. */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);

/* process.start_time in ns since 1970, 0 when it makes no sense. */
uint64_t export_epoch_ns(const struct trace *trace);
