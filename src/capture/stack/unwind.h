/*
 * This thread's native return addresses.
 *
 * libunwind when it is there: 388 ns for 30 frames inside PyTorch against 3,820 of glibc's
 * backtrace(). It is loaded RTLD_LOCAL and never linked: Debian's exports _Unwind_*, and linked
 * into a preloaded library it would be handed every C++ exception of the host.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)
/*
 * Has this thread called unwind()? The first time allocates (watch_walk), so it should not be in a
 * handler that has interrupted malloc(): be it needed or not, it is called once when the thread
 * makes its first event.
 */
extern _Thread_local bool unwind_met;
extern _Atomic int unwind_cares;
#pragma GCC visibility pop

/* Loads the unwinder: when CUDA starts, never inside PyTorch's report (it takes the loader's lock).
 */
void unwind_prepare(void);

/* Return addresses from the caller outwards, innermost first: how many of at most `capacity`. */
size_t unwind(void **addresses, size_t capacity);

/* The result of a walk from here to the function that goes on at `until`. */
enum unwind_found {
	UNWIND_CAME,   /* calls alone */
	UNWIND_SIGNAL, /* one has interrupted what follows, that function or another */
	UNWIND_LOST,   /* it was not found */
};
enum unwind_found unwind_until(const void *until);

/* Has a signal interrupted a function of this library, or what one has called? False also if that
 * cannot be told. */
bool unwind_signal_in_us(void);

/*
 * Until as many calls say so with false, glibc unwinds, which asks each time what lies at an
 * address.
 *
 * libunwind 1.6 remembers for each thread how to go on from an address, for ever (unw_flush_cache()
 * does not reach that memory), and does not look where it reads: where a library has taken the
 * place of another, it reads anywhere.
 */
void unwind_careful(bool careful);

/* Does glibc, for that reason or another? Then nothing may be known by its address. */
static inline bool unwind_is_careful(void)
{
	return atomic_load_explicit(&unwind_cares, memory_order_relaxed) > 0;
}

/* What does it: "libunwind", "glibc", or NULL before unwind_prepare(). */
const char *unwind_name(void);
