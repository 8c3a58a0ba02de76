/*
 * Counts of hooked calls, and the time spent in them: those of calls.def, and of hooks.def.
 *
 * Of calls that nest only the outermost is counted. Counts lie in the spool, a row for each call
 * and shard of threads, made when it is first needed, so that a killed process leaves them. No
 * event is made; in the common case no lock is taken, the processor's included, and no cache line
 * is shared.
 */
#pragma once

#include <stdbool.h>

#include "base/guest/clock.h"
#include "capture/loader/hooks.h"

/* Once, before the first call is counted. */
void calls_init(void);

/* 0 when calls are not counted. */
uint64_t calls_begin(void);

/* A call that was the outermost, from calls_begin() until now; `status` is not 0 when it failed. */
void calls_note(enum hook_id id, uint64_t begin, int status);

/*
 * With the recorder's lock held, when the spool is there and when recording ends: what was counted
 * without it goes into it, and what a tick is, as exactly as is known by now.
 */
void calls_settle(void);

/* In a forked child: what the parent counted is the parent's. */
void calls_clear(void);
