/*
 * Places the code and data of recording an event side by side in memory (src/libmemtrace.ld).
 *
 * Between two events the traced program fills the caches with its own data. An event then costs
 * mostly the cache lines and pages that must be fetched again, so as few as possible are used, with
 * nothing else in them.
 */
#pragma once

/* For functions that run at each event from a known call site. Inline functions do not need it. */
#define HOT_CODE __attribute__((hot))

/* For a small variable that each event reads or writes. */
#define HOT_DATA __attribute__((section(".data.hot")))

/* For a thread-local variable that each event uses; it must be all zeros at first. */
#define HOT_THREAD __attribute__((section(".tbss.hot")))

/* For a large variable of which each event uses only the first fields. */
#define HOT_LARGE __attribute__((section(".data.hot.large")))
