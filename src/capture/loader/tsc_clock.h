/*
 * CLOCK_MONOTONIC in ns, by the processor's own clock where that runs at one rate: about 8 ns
 * instead of the vDSO's 25.
 *
 * Each thread looks at the real clock once in about a millisecond and counts ticks from there, at
 * the rate seen since the process began. So an answer is at most half a microsecond from the truth,
 * never goes back within a thread, and may be that much older than another thread's.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/guest/clock.h"

enum { NOW_WINDOW = 1 << 21 }; /* ticks between two looks at the clock */

/* The last look; `ticks` is 0 while it is taken, for a signal handler that comes in between. */
struct tsc_thread {
	uint64_t ticks, ns;
};

extern _Thread_local struct tsc_thread tsc_thread;
extern _Atomic uint64_t tsc_rate; /* 2^32 times the ns of a tick, a little less; 0: not known */

/* For the constructor: returns the time by the real clock. */
uint64_t tsc_init(void);

/* The time by a system call alone, which touches no page (base/guest/raw_call.h). */
uint64_t tsc_asked(void);

/* True if the processor's ticks run at one rate. Asked once, when it is needed: in a virtual
 * machine the question (cpuid) goes to its monitor, and took 13 us. */
enum { TICKS_NOT_ASKED, TICKS_STEADY, TICKS_NOT_STEADY };
extern atomic_int tsc_ticks; /* the answer */
bool tsc_ticks_steady(void);

/* 2^32 times the ns of a tick, measured since the constructor; 2^32 where ticks are not steady, for
 * then a ns is counted as a tick. */
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
