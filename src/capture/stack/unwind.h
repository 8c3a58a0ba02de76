/*
 * This thread's native return addresses.
 *
 * By libunwind where it is there: 388 ns for 30 frames inside PyTorch, against 3,820 by glibc's
 * backtrace(). It is loaded RTLD_LOCAL and never linked: Debian's exports _Unwind_*, and if a
 * preloaded library linked it, every C++ exception of the host would go to it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)
/*
 * True if this thread has called unwind(). The first call allocates (watch_walk), so it should not
 * come in a handler that has interrupted malloc(): it is made when the thread makes its first
 * event, whether it is needed or not.
 */
extern _Thread_local bool unwind_met;
extern _Atomic int unwind_cares;
#pragma GCC visibility pop

/* Loads the unwinder when CUDA starts. Takes the loader's lock: never inside PyTorch's report. */
void unwind_prepare(void);

/* Fills in return addresses, innermost first; returns their number, at most `capacity`. */
size_t unwind(void **addresses, size_t capacity);

/* The result of a walk from here to the function that goes on at `until`. */
enum unwind_found {
	UNWIND_CAME,   /* by calls alone */
	UNWIND_SIGNAL, /* a signal interrupted that function or one further in */
	UNWIND_LOST,   /* it was not found */
};
enum unwind_found unwind_until(const void *until);

/* True if a signal interrupted this library or its callee; false if unknown. */
bool unwind_signal_in_us(void);

/*
 * After a call with true, glibc unwinds until there was a call with false for each; glibc looks up
 * each time what lies at an address.
 *
 * libunwind 1.6 remembers for each thread how to go on from an address, for ever (unw_flush_cache()
 * does not reach that memory), and reads without checking: where a library has taken the place of
 * another, it reads anywhere.
 */
void unwind_careful(bool careful);

/* True if glibc's unwinder is used. Then no result may be cached by its address. */
static inline bool unwind_is_careful(void)
{
	return atomic_load_explicit(&unwind_cares, memory_order_relaxed) > 0;
}

/* The unwinder's name: "libunwind" or "glibc"; NULL before unwind_prepare(). */
const char *unwind_name(void);
