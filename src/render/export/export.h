/* Functions that the export formats share: they choose the events to export. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyse/lifetimes/replay.h"
#include "render/export/formats.h"

/* Fills `end`, for replay_is_behind(), with the time of --at, or without it with no bound. Reads
 * the file again for the time of a peak, phase or mark. Returns 0, or -errno with err_text(). */
int export_find_end(struct replay_wish *end, const struct trace *trace,
		    const struct selection_options *options);

/* True if the options select the device and the pool (its name's number in the trace's texts). */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);
