/* Functions that the recorder and the hooks call for work in other folders. capture/life defines
 * these functions, so that the recorder depends on none of those folders. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "spool/layout.h"

/* False in a copy of the library that was not preloaded, and in a process with raised rights
 * (AT_SECURE): nothing is recorded there. */
extern bool guest_preloaded;

/* Called once, by record_wake(): reads the settings for call stacks. Calls no other library. */
void guest_wake(void);

/* Called once by record_prepare(), through loader_call(): finds libunwind, Python, PyTorch and, for
 * a compressed trace, its compression library; registers handlers for the end of the process. */
void guest_prepare(void *unused);

/* Called after libraries were loaded, with no lock held: looks for PyTorch and Python again. */
void guest_loaded(void);

/* Called before the first event, with no lock held: stores the driver's version. */
void guest_ask(void);

/* Writes the facts about the process to a new spool. Called with the recorder's lock held. */
void guest_open(void);

/* Records a device's name and size, once. Calls the driver, so no lock may be held. */
void guest_device(int device);

/* The last handled value of `asked` in the spool's header; UINT32_MAX after a signal. */
extern _Atomic uint32_t guest_control_seen;

/* True if there is a request by a tool (memtrace ctl) or a signal (MEMTRACE_SIGNAL). Called for
 * each memory event; costs two loads and a comparison. */
static inline bool guest_control_asked(const struct spool_header *header)
{
	return atomic_load_explicit(&header->asked, memory_order_relaxed) !=
	       atomic_load_explicit(&guest_control_seen, memory_order_relaxed);
}

/* Carries out all requests by tools and signals. Takes the recorder's lock; needs a spool. */
void guest_control(void);
