/*
 * Virtual memory management: memory is held from cuMemCreate until its references (create, retain,
 * import: +1, each release: -1) and its mappings are all gone. Maps and unmaps move no sum.
 *
 * A handle is entered with ledger_enter(NODE_HANDLE); calls are serialised as ledger.h says.
 */
#pragma once

#include "ledger/ledger.h"

/* The driver has reused the number of a handle, so its last release was not seen. It is still
 * mapped and its memory held: it lives on under its mappings alone. */
void vmm_hold(struct ledger *ledger, uint32_t id);

/*
 * Handles (NODE_HANDLE), and memory of another process that is opened by address (NODE_ADDRESS with
 * EVENT_FOREIGN), which must be closed as often as it was opened.
 *
 * Adds one reference. False if the address is unknown.
 */
bool vmm_retain(struct ledger *ledger, enum node_kind kind, uint64_t address);

/* The same for the memory that is mapped around the address: it may have been released already and
 * be held by its mappings alone. Without such a mapping, the handle gets the reference. */
bool vmm_retain_mapped(struct ledger *ledger, uint64_t address, uint64_t handle);

/*
 * Removes one reference from the handle or memory at event->ptr. With the last reference and no
 * mapping left it ends, and `event` becomes the free. vmm_unrelease() takes *was should the call
 * fail. False, and nothing happens, if it is unknown.
 */
bool vmm_release(struct ledger *ledger, enum node_kind kind, struct event *event,
		 struct spool_node *was);
void vmm_unrelease(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Maps event->size bytes at event->ptr to the handle. */
void vmm_map(struct ledger *ledger, struct event *event, uint64_t handle);

/* Ends every mapping that begins in [event->ptr, event->ptr + event->size), after the real call. */
void vmm_unmap(struct ledger *ledger, const struct event *event);
