/*
 * Virtual memory management: memory exists from cuMemCreate until its references (create, retain,
 * import: +1, each release: -1) and its mappings are all gone. Maps and unmaps change no sum.
 *
 * A handle is added with ledger_enter(NODE_HANDLE); the caller serialises calls as ledger.h says.
 */
#pragma once

#include "ledger/ledger.h"

/* To be called when the driver has reused the number of a live handle, whose last release thus was
 * not seen. The old handle's memory exists as long as its mappings. */
void vmm_hold(struct ledger *ledger, uint32_t id);

/*
 * Adds one reference. vmm_retain(), vmm_release() and vmm_unrelease() are for handles (NODE_HANDLE)
 * and for memory of another process that was opened by address (NODE_ADDRESS with EVENT_FOREIGN),
 * which must be closed as often as it was opened. False if the address is unknown.
 */
bool vmm_retain(struct ledger *ledger, enum node_kind kind, uint64_t address);

/* Adds a reference to the memory that is mapped at the address, which may have been released
 * already. Without such a mapping, the handle gets the reference. False if neither is known. */
bool vmm_retain_mapped(struct ledger *ledger, uint64_t address, uint64_t handle);

/*
 * Removes one reference from the handle or memory at event->ptr. The memory is freed with its last
 * reference if no mapping is left; `event` becomes the free. If the call fails, vmm_unrelease()
 * undoes this with *was. False, with nothing done, if event->ptr is unknown.
 */
bool vmm_release(struct ledger *ledger, enum node_kind kind, struct event *event,
		 struct spool_node *was);
void vmm_unrelease(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Maps event->size bytes at event->ptr to the handle. */
void vmm_map(struct ledger *ledger, struct event *event, uint64_t handle);

/* Removes all mappings that begin in the event->size bytes from event->ptr on. */
void vmm_unmap(struct ledger *ledger, const struct event *event);
