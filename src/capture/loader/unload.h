/*
 * Libraries that are unloaded: what was known by their addresses must not be said of what lies
 * there next.
 *
 * The door is dlclose. Behind it the real functions found for callers are forgotten, stacks are
 * told apart by the word, and glibc unwinds if libunwind remembers what is no more.
 */
#ifndef CAPTURE_LOADER_UNLOAD_H
#define CAPTURE_LOADER_UNLOAD_H

#include <stdatomic.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
extern _Atomic uint64_t unload_now;
#pragma GCC visibility pop

/*
 * A word that is another one whenever a library may have taken the place of another: 0 while none
 * has been unloaded. Addresses read under one word mean the same as under the same word later.
 */
static inline uint64_t unload_word(void)
{
	return atomic_load_explicit(&unload_now, memory_order_relaxed);
}

#endif
