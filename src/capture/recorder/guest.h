/*
 * The turning points of a guest, as the rooms below capture/life know them: it does there what has
 * to be done in all rooms.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "spool/layout.h"

/* True if this copy was preloaded. One that was dlopened (an injection variable outlived
 * LD_PRELOAD) is inert. */
extern bool guest_preloaded;

/* Somebody asks for the first time whether recording is on. Once in a process; no call out. */
void guest_wake(void);

/* The first call: libunwind, Python, PyTorch and the end of the process are looked for. With
 * loader_call(). */
void guest_prepare(void *unused);

/* Libraries were loaded since: what was missing until then is looked for. With no lock held. */
void guest_loaded(void);

/* Before the first event: the driver is asked for its version; with no lock held, and not under
 * PyTorch's. */
void guest_ask(void);

/* There is a new spool: what is known of the process goes into it. With the lock held. */
void guest_open(void);

/* A device is used: its name and size are recorded, once. Asks the driver, so not under PyTorch's
 * lock nor ours. */
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

/* Acts upon all that was asked. Takes the recorder's lock; there is a spool. */
void guest_control(void);
