/* Shared by the export formats: the last event to export and the selected events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyse/lifetimes/replay.h"
#include "render/export/formats.h"

/* Fills `end`, for replay_is_behind(), with the moment of --at, or with no bound without --at.
 * A peak, phase or mark makes it read the file once more. Returns 0 or -errno with err_text(). */
int export_find_end(struct replay_wish *end, const struct trace *trace,
		    const struct selection_options *options);

/* True if an event's device and pool (the number of a text) are selected by the options. */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);
