/*
 * What each event runs and touches, side by side in memory (src/libmemtrace.ld).
 *
 * A program that computes has the caches full of its own when a block comes and goes: what that
 * costs us there is mostly lines and pages to be fetched, and whatever else lies in them comes,
 * too.
 */
#pragma once

/* A function on the way of an event that repeats one before; what is inlined into it needs none. */
#define HOT_CODE __attribute__((hot))

/* A variable, small, that each event reads or writes. */
#define HOT_DATA __attribute__((section(".data.hot")))

/* The same of a thread: all zeros at first. */
#define HOT_THREAD __attribute__((section(".tbss.hot")))

/* A large variable, whose first fields are such: behind the small ones. */
#define HOT_LARGE __attribute__((section(".data.hot.large")))
