/*
 * The lines of source that hold memory in a spool that is being written. Each line's name is found
 * once; its sums are read again at each look (live_view.h).
 */
#pragma once

#include <math.h>

#include "analyse/input/string_table.h"
#include "analyse/live/follow.h"
#include "base/mem/map.h"
#include "facts/spool_model.h"
#include "facts/trace_model.h"

enum live_view_order {
#define ORDER(name, key, by, what) LOOK_ORDER_##name,
#include "analyse/live/live_view_orders.def"
	LOOK_ORDERS
};

/* The memory of a line of source on one device, or in one kind of memory outside devices. */
struct live_view_line {
	const char *name;
	const char *space;     /* "device" for memory of a device */
	int device;            /* NO_DEVICE for other memory */
	uint64_t bytes, count; /* live bytes and blocks of the line's stacks */
	/* Bytes that the line holds, has allocated until now, and had allocated until the last
	 * look. In a sampled recording (MEMTRACE_SAMPLE) they are estimated from the samples. */
	uint64_t holds, allocated, before;
	uint64_t estimated; /* `holds` in a sampled recording, else TRACE_NONE */
	double rate;        /* bytes allocated per second, NAN if unknown */
};

struct live_view_lines {
	struct live_view_line *list;   /* in the order in which they were added */
	struct live_view_line *sorted; /* copies of lines that hold memory or have a `rate` > 0 */
	size_t list_n, list_size, sorted_n;
	uint64_t allocated; /* bytes allocated since process start, by all stacks */

	struct spool_model recording;
	uint64_t named_at, naming_cost; /* ns: time and duration of the last naming */
	struct texts names;
	struct map places; /* from name and scope to 1 + position in list[] */
	uint32_t *name_of; /* by stack: number of the name in `names` */
	uint32_t name_of_n;
};

/* The increase of a count per second; NAN if `seconds` is 0, as at the first look. */
static inline double live_view_rate(uint64_t now, uint64_t before, double seconds)
{
	if (!(seconds > 0))
		return NAN;
	return now > before ? (double)(now - before) / seconds : 0;
}

/* Updates `lines`, which is all 0 at first, `seconds` after the last call. Returns 0 or -ENOMEM. */
int live_view_lines_read(struct live_view_lines *lines, const struct spool *spool, double seconds);
void live_view_lines_clear(struct live_view_lines *lines);

void live_view_lines_sort(struct live_view_lines *lines, enum live_view_order order);
