/*
 * The lines of source that hold memory in a followed spool. Names are looked up once, figures are
 * read at each look.
 */
#pragma once

#include <math.h>

#include "analyse/input/texts.h"
#include "analyse/live/follow.h"
#include "base/mem/map.h"
#include "facts/spool_model.h"
#include "facts/trace_model.h"

enum live_view_order {
#define ORDER(name, key, what) LOOK_ORDER_##name,
#include "analyse/live/live_view_orders.def"
#undef ORDER
	LOOK_ORDERS
};

/* The memory of a line in one place: on a device, or in a space outside of devices. */
struct live_view_line {
	const char *name;
	const char *space;     /* "device" for memory of a device */
	int device;            /* NO_DEVICE in another space */
	uint64_t bytes, count; /* booked under its stacks */
	/* Bytes that it holds, has allocated by now, and had allocated at the last look. In a
	 * sampled recording (MEMTRACE_SAMPLE) they are estimated from the samples. */
	uint64_t holds, allocated, before;
	uint64_t estimated; /* holds, in a sampled recording; else TRACE_NONE */
	double rate;        /* allocated, bytes a second; NAN when unknown */
};

struct live_view_lines {
	struct live_view_line *list;   /* in the order they came */
	struct live_view_line *sorted; /* copies of those that hold something or allocate */
	size_t list_n, list_size, sorted_n;
	uint64_t allocated; /* bytes since process start, by all lines */

	struct spool_model recording;
	uint64_t named_at, naming_cost; /* ns */
	struct texts names;
	struct map places; /* 1 + line, by name and place */
	uint32_t *name_of; /* by stack: its name, 0 for none yet */
	uint32_t name_of_n;
};

/* The increase of a count a second; NAN when the seconds are 0, as at the first look. */
static inline double live_view_rate(uint64_t now, uint64_t before, double seconds)
{
	if (!(seconds > 0))
		return NAN;
	return now > before ? (double)(now - before) / seconds : 0;
}

/* Of a table that is all 0 or of this spool: 0 or -ENOMEM. `seconds` since the last look. */
int live_view_lines_read(struct live_view_lines *lines, const struct spool *spool, double seconds);
void live_view_lines_clear(struct live_view_lines *lines);

void live_view_lines_sort(struct live_view_lines *lines, enum live_view_order order);
