/* The cost of events to the traced program. */
#include "capture/recorder/record_parts.h"

#include <stdatomic.h>

#include "base/guest/hot.h"
#include "capture/loader/tsc_clock.h"

enum {
	MOST_NS = 1 << 16, /* more is the kernel's, which ran somebody else */
	READINGS = 16,
};

HOT_THREAD _Thread_local uint32_t overhead_past;

static _Thread_local struct {
	uint64_t since, ns;
} watch;

/* ns that looking at the clock adds to what is timed. */
static _Atomic uint32_t clock_ns;

static void ask_clock(void)
{
	uint64_t least = MOST_NS;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t begin = tsc_ns();
		uint64_t took = tsc_ns() - begin;

		if (took < least)
			least = took;
	}
	atomic_store_explicit(&clock_ns, (uint32_t)least, memory_order_relaxed);
}

void overhead_start(bool first)
{
	overhead_past = COST_EVERY;
	if (first) {
		watch.ns = 0;
		if (!atomic_load_explicit(&clock_ns, memory_order_relaxed))
			ask_clock();
	}
	watch.since = tsc_ns();
}

void overhead_stop(enum spool_cost_kind kind, bool last, bool event)
{
	uint64_t took = tsc_ns() - watch.since;
	uint32_t clock = atomic_load_explicit(&clock_ns, memory_order_relaxed);

	watch.ns += took > clock ? took - clock : 0;
	if (!last)
		return;
	overhead_past = 0;
	if (!event || watch.ns >= MOST_NS)
		return;
	record_lock_only();
	if (atomic_load(&record_process.open)) {
		struct spool_cost *cost = &recorder.spool.header->costs[kind];

		cost->ns += watch.ns;
		cost->events++;
	}
	record_unlock();
}
