/*
 * Lists this thread's native return addresses by libunwind, or by glibc's backtrace() if libunwind
 * is not installed. For 30 frames inside PyTorch they take 388 and 3,820 ns.
 *
 * libunwind is loaded RTLD_LOCAL and never linked: Debian's exports _Unwind_*, and if a preloaded
 * library linked it, it would handle every C++ exception of the host.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)
/*
 * True if this thread has called unwind(). A thread's first call allocates memory (watch_walk), so
 * it should not be made by a signal handler that has interrupted malloc(). It is therefore made at
 * the thread's first event, even if rules would suffice for that walk.
 */
extern _Thread_local bool unwind_met;
extern _Atomic int unwind_cares;
#pragma GCC visibility pop

/* Loads the unwinder, when CUDA starts; not inside PyTorch's report: it takes the loader's lock. */
void unwind_prepare(void);

/* Lists return addresses, innermost first; returns their number, at most `capacity`. */
size_t unwind(void **addresses, size_t capacity);

/* The result of a search outwards through this thread's stack for the return address `until`. */
enum unwind_found {
	UNWIND_CAME,   /* `until` was found, and no signal handler's frame before it */
	UNWIND_SIGNAL, /* a signal handler's frame was found before `until` */
	UNWIND_LOST,   /* neither was found */
};
enum unwind_found unwind_until(const void *until);

/* True if a signal handler runs that interrupted this library or its callee; false if unknown. */
bool unwind_signal_in_us(void);

/*
 * unwind_careful(true) replaces libunwind by glibc's unwinder, which caches nothing by address,
 * until unwind_careful(false) was called as often.
 *
 * libunwind 1.6 caches for each thread, for ever, how to walk on from an address (unw_flush_cache()
 * does not reach that memory), and reads without checking. If another library was loaded at the
 * address, it reads at any address.
 */
void unwind_careful(bool careful);

/* True while libunwind is not to be used. Then nothing may be cached by address. */
static inline bool unwind_is_careful(void)
{
	return atomic_load_explicit(&unwind_cares, memory_order_relaxed) > 0;
}

/* The unwinder's name: "libunwind" or "glibc"; NULL before unwind_prepare(). */
const char *unwind_name(void);
