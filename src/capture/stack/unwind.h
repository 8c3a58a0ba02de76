/*
 * Lists this thread's native return addresses by libunwind, or by glibc's backtrace() if libunwind
 * cannot be used. For 30 frames inside PyTorch, libunwind takes 388 ns, backtrace() 3,820 ns.
 *
 * libunwind is loaded RTLD_LOCAL and never linked: Debian's libunwind exports _Unwind_*, so that,
 * linked to a preloaded library, it would handle every C++ exception of the program.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)
/*
 * True if this thread has called unwind(). A thread's first call may allocate memory
 * (watch_walk()), which a signal handler that has interrupted malloc() must not do. So unwind() is
 * called at a thread's first event, even if rules (cfi_walk.h) would suffice for that walk.
 */
extern _Thread_local bool unwind_met;
extern _Atomic int unwind_cares; /* calls of unwind_careful(true), less those with false */
#pragma GCC visibility pop

/* Loads the unwinder. Takes the loader's lock: not called while PyTorch reports an allocation. */
void unwind_prepare(void);

/* Lists this thread's return addresses, innermost first. Returns their number, which is 0 before
 * unwind_prepare() and if the loader must not be called. Takes the loader's lock. */
size_t unwind(void **addresses, size_t capacity);

/* The result of a search outwards through this thread's stack for the return address `until`. */
enum unwind_found {
	UNWIND_CAME,   /* `until` was found, with no signal handler's frame further in */
	UNWIND_SIGNAL, /* a signal handler's frame was found before `until` */
	UNWIND_LOST,   /* neither was found */
};
enum unwind_found unwind_until(const void *until);

/* True if this thread is handling a signal that interrupted this library; false if unknown. */
bool unwind_signal_in_us(void);

/*
 * unwind_careful(true) replaces libunwind by glibc's unwinder, which caches nothing by address,
 * until unwind_careful(false) has been called as many times.
 *
 * libunwind 1.6 caches for each thread, for ever, how to walk on from an address (unw_flush_cache()
 * does not reach that memory), and then reads memory unchecked. If another library lies at such an
 * address, libunwind may read anywhere.
 */
void unwind_careful(bool careful);

/* True while neither libunwind nor any data stored by code address may be used. */
static inline bool unwind_is_careful(void)
{
	return atomic_load_explicit(&unwind_cares, memory_order_relaxed) > 0;
}

/* The unwinder's name: "libunwind" or "glibc"; NULL before unwind_prepare(). */
const char *unwind_name(void);
