/* Functions that the export formats share: they choose the events to export. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyse/lifetimes/replay.h"
#include "render/export/formats.h"

/* Sets *end to a window that ends at the time of --at, or never without --at; replay_is_behind()
 * then is true for events after the window. Reads the file again if --at is a peak, phase or
 * mark. Returns 0, or -errno with err_text(). */
int export_find_end(struct replay_wish *end, const struct trace *trace,
		    const struct selection_options *options);

/* True if the options select both the device and the pool; `pool` is an id for trace_text(). */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);
