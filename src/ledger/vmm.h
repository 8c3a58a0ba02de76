/*
 * Virtual memory management: memory is held from cuMemCreate until its references (create, retain,
 * import: +1, each release: -1) and its mappings are all gone. Maps and unmaps move no sum.
 *
 * A handle is entered with ledger_enter(NODE_HANDLE); calls are serialised as ledger.h says.
 */
#pragma once

#include "ledger/ledger.h"

/*
 * The driver gave the number of a handle away again, so its last release was not seen; but it is
 * still mapped, and its memory held: it lives on under its mappings alone.
 */
void vmm_hold(struct ledger *ledger, uint32_t id);

/*
 * Handles (NODE_HANDLE), and memory of another process that is opened by address (NODE_ADDRESS with
 * EVENT_FOREIGN): as often as it was opened it must be closed.
 *
 * One reference more. False if it is unknown.
 */
bool vmm_retain(struct ledger *ledger, enum node_kind kind, uint64_t address);

/*
 * The same for the memory that is mapped around the address: it may have been released already and
 * be held by its mappings alone. Without such a mapping it is the handle's.
 */
bool vmm_retain_mapped(struct ledger *ledger, uint64_t address, uint64_t handle);

/*
 * One reference less of what event->ptr says; with the last one, and no mapping left, it ends, and
 * `event` is the free. *was is what to hand to vmm_unrelease() should the call fail. False, and
 * nothing happens, if it is unknown.
 */
bool vmm_release(struct ledger *ledger, enum node_kind kind, struct event *event,
		 struct spool_node *was);
void vmm_unrelease(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* event->ptr and event->size are mapped to the handle. */
void vmm_map(struct ledger *ledger, struct event *event, uint64_t handle);

/* Every mapping that begins in [event->ptr, event->ptr + event->size) ends, after the real call. */
void vmm_unmap(struct ledger *ledger, const struct event *event);
