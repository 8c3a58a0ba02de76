/*
 * Memory of CUDA's virtual memory management. It exists from cuMemCreate() until it has neither
 * references (create, retain, import: +1, release: -1) nor mappings. Mapping changes no sum.
 *
 * ledger_enter() with NODE_HANDLE adds a handle. The caller serialises all calls, as in ledger.h.
 */
#pragma once

#include "ledger/ledger.h"

/* To be called when a new handle has the number of one that is live in the ledger, as its release
 * was not seen. Removes the old handle's references: it then lives until its mappings end. */
void vmm_hold(struct ledger *ledger, uint32_t id);

/*
 * Adds one reference; false if the address is unknown. vmm_retain(), vmm_release() and
 * vmm_unrelease() are for handles (NODE_HANDLE) and for memory of another process that was opened
 * by address (NODE_ADDRESS with EVENT_FOREIGN), which must be closed as often as it was opened.
 */
bool vmm_retain(struct ledger *ledger, enum node_kind kind, uint64_t address);

/* Adds a reference to the handle `handle` that is mapped at the address, even if it was released
 * before; if none is mapped there, to the live handle of this number. False if there is none. */
bool vmm_retain_mapped(struct ledger *ledger, uint64_t address, uint64_t handle);

/*
 * Removes one reference from the handle or memory at event->ptr. If that was the last and no
 * mapping is left, records that the memory is freed, and fills `event`. If the program's call then
 * fails, vmm_unrelease() undoes this with *was. False, with nothing done, if event->ptr is unknown.
 */
bool vmm_release(struct ledger *ledger, enum node_kind kind, struct event *event,
		 struct spool_node *was);
void vmm_unrelease(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Records that event->size bytes at event->ptr are mapped to the handle's memory. */
void vmm_map(struct ledger *ledger, struct event *event, uint64_t handle);

/* Records the end of all mappings that begin in the event->size bytes from event->ptr on. */
void vmm_unmap(struct ledger *ledger, const struct event *event);
