/*
 * Puts code and data that each event uses side by side in memory (src/libmemtrace.ld).
 *
 * A program that computes fills the caches with its own data between two events. The cost of an
 * event is then mostly the lines and pages that must be fetched again, so as few as possible are
 * used, with nothing else in them.
 */
#pragma once

/* For functions on the path of a repeated event. Inlined ones need no mark. */
#define HOT_CODE __attribute__((hot))

/* For a small variable that each event reads or writes. */
#define HOT_DATA __attribute__((section(".data.hot")))

/* For a variable of a thread, which is all zeros at first. */
#define HOT_THREAD __attribute__((section(".tbss.hot")))

/* For a large variable whose first fields are such: they lie after the small ones. */
#define HOT_LARGE __attribute__((section(".data.hot.large")))
