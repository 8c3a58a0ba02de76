/*
 * The turning points of a guest, for the rooms below capture/life, which does there what all rooms
 * need.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "spool/layout.h"

/* True if this copy was preloaded. One that was dlopened is inert. */
extern bool guest_preloaded;

/* When it is first asked whether recording is on. Once in a process; makes no call of others. */
void guest_wake(void);

/* The first call: finds libunwind, Python, PyTorch, registers for the end. loader_call(). */
void guest_prepare(void *unused);

/* After libraries were loaded: looks for those that were missing. With no lock held. */
void guest_loaded(void);

/* Before the first event: asks the driver for its version, without any lock held. */
void guest_ask(void);

/* There is a new spool: the facts about the process go into it. With the lock held. */
void guest_open(void);

/* Records a device's name and size, once. Asks the driver: not under anybody's lock. */
void guest_device(int device);

/* The value of `asked` in the spool's header when it was last looked at (life/control.c). */
extern _Atomic uint32_t guest_control_seen;

/* True if a tool (memtrace ctl) or a signal (MEMTRACE_SIGNAL) has asked for something. Each memory
 * event looks, with a load and a compare. */
static inline bool guest_control_asked(const struct spool_header *header)
{
	return atomic_load_explicit(&header->asked, memory_order_relaxed) !=
	       atomic_load_explicit(&guest_control_seen, memory_order_relaxed);
}

/* Carries out all requests. Takes the recorder's lock; there must be a spool. */
void guest_control(void);
