/* Functions that the export formats share: they choose the events to export. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyse/lifetimes/replay.h"
#include "render/export/formats.h"

/* Fills *end, whose bound replay_is_behind() applies: the time of --at, or none without --at. Reads
 * the file again for the time of a peak, phase or mark. Returns 0, or -errno with err_text(). */
int export_find_end(struct replay_wish *end, const struct trace *trace,
		    const struct selection_options *options);

/* True if the options select both the device and the pool, given as the id of its name's text. */
bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool);
