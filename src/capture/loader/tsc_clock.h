/*
 * CLOCK_MONOTONIC in ns, from the processor's own clock if that runs at a constant rate: a reading
 * takes about 8 ns instead of the vDSO's 25.
 *
 * Each thread reads the real clock about once per millisecond and adds ticks counted since, at the
 * rate measured since the process began. So a time is rarely more than half a microsecond wrong,
 * never goes back within a thread, and may be earlier than a time that another thread read before.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/guest/clock.h"

enum { NOW_WINDOW = 1 << 21 }; /* ticks between two readings of the real clock */

/* A thread's last reading of the real clock. `ticks` is 0 while both members are changed, so that a
 * signal handler then reads the real clock. */
struct tsc_thread {
	uint64_t ticks, ns;
};

extern _Thread_local struct tsc_thread tsc_thread;
extern _Atomic uint64_t tsc_rate; /* ns per tick times 2^32, a little low; 0: unknown */

/* For the constructor: begins to measure the rate, and returns the real clock's time in ns. */
uint64_t tsc_init(void);

/* The real clock's time, ns, by a system call that touches no page of libc (guest/raw_call.h). */
uint64_t tsc_asked(void);

/* tsc_ticks_steady(): true if the processor's ticks have a constant rate. Its first call executes
 * cpuid to find out, which took 13 us in a virtual machine. */
enum { TICKS_NOT_ASKED, TICKS_STEADY, TICKS_NOT_STEADY };
extern atomic_int tsc_ticks; /* one of the values above */
bool tsc_ticks_steady(void);

/* ns per tick times 2^32, measured since the constructor; 2^32 if ticks have no constant rate,
 * because a tick is then one ns. */
uint64_t tsc_tick_ns(void);

uint64_t tsc_look(void);

static inline uint64_t tsc_ns(void)
{
	uint64_t rate = atomic_load_explicit(&tsc_rate, memory_order_relaxed);
	uint64_t delta;

	if (__builtin_expect(!rate, 0))
		return tsc_look();
	delta = ticks_now() - tsc_thread.ticks;
	if (__builtin_expect(delta >= NOW_WINDOW, 0))
		return tsc_look();
	return tsc_thread.ns + (delta * rate >> 32);
}
