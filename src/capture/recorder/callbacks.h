/*
 * Functions that the recorder calls when other folders have work to do. capture/life defines them,
 * so that the recorder depends on none of those folders.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "spool/layout.h"

/* True if this copy of the library was preloaded. A copy loaded by dlopen() records nothing. */
extern bool guest_preloaded;

/* Called once, by record_wake(): reads the settings of stacks. Calls no other library. */
void guest_wake(void);

/* Called by loader_call() at the first hooked call: finds libunwind, Python and PyTorch, and
 * registers handlers for the end of the process. */
void guest_prepare(void *unused);

/* After libraries were loaded: looks again for what was not found. Called with no lock held. */
void guest_loaded(void);

/* Before the first event: reads the driver's version, with no lock held. */
void guest_ask(void);

/* Writes the facts about the process to a new spool. Called with the recorder's lock held. */
void guest_open(void);

/* Records a device's name and size, once. Calls the driver, so no lock may be held. */
void guest_device(int device);

/* The last value of `asked` in the spool's header that was acted on (life/control.c). */
extern _Atomic uint32_t guest_control_seen;

/* True if there is a request by a tool (memtrace ctl) or a signal (MEMTRACE_SIGNAL). Called for
 * each memory event; costs two loads and a comparison. */
static inline bool guest_control_asked(const struct spool_header *header)
{
	return atomic_load_explicit(&header->asked, memory_order_relaxed) !=
	       atomic_load_explicit(&guest_control_seen, memory_order_relaxed);
}

/* Carries out all requests. Takes the recorder's lock; there must be a spool. */
void guest_control(void);
