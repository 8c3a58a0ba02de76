/* Reads the time from the processor's tick counter, faster than the kernel's vDSO does. */
#include "capture/loader/tsc_clock.h"

#include "base/guest/hot.h"
#include "base/guest/raw_call.h"
#include "base/guest/start.h"

enum {
	FIRST_NS = 1000000, /* no rate is computed from a shorter time */
	SLOWER = 4096,      /* the rate is set 1 / SLOWER too low, so that times do not run ahead */
	DOUBT_NS = 20000,   /* ticks that lead the real clock by more are no longer used */
	TOGETHER_NS = 5000, /* longest time that reading both clocks may take */
	TRIES = 3,          /* attempts to read both clocks within TOGETHER_NS */
	KNOWN = 1 << 30,    /* tsc_look() predicts times up to this many ticks after a reading */
};

HOT_THREAD _Thread_local struct tsc_thread tsc_thread;
HOT_DATA _Atomic uint64_t tsc_rate;
HOT_DATA atomic_int tsc_ticks;

static START_DATA struct {
	uint64_t ticks, ns;
} start;
static atomic_bool distrusted; /* true once the ticks ran ahead of the real clock */

START_CODE uint64_t tsc_asked(void)
{
	struct timespec now = { 0 };

	return !raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&now), 0)
		       ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
		       : clock_now();
}

START_CODE uint64_t tsc_init(void)
{
	start.ticks = ticks_now();
	start.ns = tsc_asked();
	return start.ns;
}

bool tsc_ticks_steady(void)
{
	int known = atomic_load_explicit(&tsc_ticks, memory_order_relaxed);

	if (known == TICKS_NOT_ASKED) {
		known = ticks_steady() ? TICKS_STEADY : TICKS_NOT_STEADY;
		atomic_store_explicit(&tsc_ticks, known, memory_order_relaxed);
	}
	return known == TICKS_STEADY;
}

static double rate_since_start(uint64_t ticks, uint64_t ns)
{
	return (double)(ns - start.ns) / (double)(ticks - start.ticks) * 4294967296.0;
}

uint64_t tsc_tick_ns(void)
{
	uint64_t ticks = ticks_now();

	if (ticks == start.ticks || !tsc_ticks_steady())
		return 1ull << 32;
	return (uint64_t)rate_since_start(ticks, clock_now());
}

static uint64_t rate_at(uint64_t ticks, uint64_t ns)
{
	double rate;

	if (ns - start.ns < FIRST_NS || ticks <= start.ticks)
		return 0;
	rate = rate_since_start(ticks, ns);
	rate -= rate / SLOWER;
	return rate < 4294967296.0 * 1024 ? (uint64_t)rate : 0;
}

/* Reads both clocks at nearly the same time. If the thread is interrupted in between (by a signal,
 * another thread or another virtual machine), the ticks are older than the time, and later times
 * would be too high. False if that happens TRIES times. */
static bool read_both(uint64_t *ticks, uint64_t *ns)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = clock_now();

		*ticks = ticks_now();
		*ns = clock_now();
		if (*ns - before < TOGETHER_NS)
			return true;
	}
	return false;
}

HOT_CODE uint64_t tsc_look(void)
{
	struct tsc_thread last = tsc_thread;
	uint64_t ticks;
	uint64_t ns;
	bool together = read_both(&ticks, &ns);
	uint64_t rate = atomic_load_explicit(&tsc_rate, memory_order_relaxed);
	uint64_t told = 0;

	if (!tsc_ticks_steady() || atomic_load_explicit(&distrusted, memory_order_relaxed))
		return ns;
	if (last.ticks && ticks - last.ticks < KNOWN)
		told = last.ns + ((ticks - last.ticks) * rate >> 32);
	if (told > ns + DOUBT_NS) {
		/* The ticks run ahead of the real clock, which has another source in the kernel. */
		atomic_store(&distrusted, true);
		atomic_store(&tsc_rate, 0);
		return ns;
	}
	if (told > ns)
		ns = told;
	if (!together)
		return ns;
	tsc_thread.ticks = 0;
	atomic_signal_fence(memory_order_seq_cst);
	tsc_thread.ns = ns;
	atomic_signal_fence(memory_order_seq_cst);
	tsc_thread.ticks = ticks;
	atomic_store_explicit(&tsc_rate, rate_at(ticks, ns), memory_order_relaxed);
	return ns;
}
