/*
 * Places the code and data that record an event side by side in memory (src/libmemtrace.ld).
 *
 * Between two events the traced program fills the caches with its own data. Most of an event's cost
 * is then to fetch cache lines and pages again. So everything that recording uses lies close
 * together, in as few cache lines and pages as possible.
 */
#pragma once

/* For functions (not inline) that run for every event, even if its call stack is stored already. */
#define HOT_CODE __attribute__((hot))

/* For a function that is always inlined. */
#define INLINED inline __attribute__((always_inline))

/* For a small variable that each event reads or writes. */
#define HOT_DATA __attribute__((section(".data.hot")))

/* For a thread-local variable that each event uses; it must start as all zeros. */
#define HOT_THREAD __attribute__((section(".tbss.hot")))

/* For a large variable of which each event uses only the first fields. */
#define HOT_LARGE __attribute__((section(".data.hot.large")))
