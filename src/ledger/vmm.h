/*
 * Virtual memory management: memory is held from cuMemCreate until its references (create, retain,
 * import: +1, each release: -1) and its mappings are all gone. Maps and unmaps move no sum.
 *
 * A handle is entered with ledger_enter(NODE_HANDLE); calls are serialised as ledger.h says.
 */
#ifndef LEDGER_VMM_H
#define LEDGER_VMM_H

#include "ledger/ledger.h"

/*
 * The driver gave the number of a handle away again, so its last release was not seen; but it is
 * still mapped, and its memory held: it lives on under its mappings alone.
 */
void vmm_hold(struct ledger *ledger, uint32_t id);

/* One reference more. False if the handle is unknown. */
bool vmm_retain(struct ledger *ledger, uint64_t handle);

/*
 * The same for the memory that is mapped around the address: it may have been released already and
 * be held by its mappings alone. Without such a mapping it is the handle's.
 */
bool vmm_retain_mapped(struct ledger *ledger, uint64_t address, uint64_t handle);

/*
 * One reference less; with the last one, and no mapping left, the memory ends: `event` is the free,
 * *was its entry, and the answer is true. Without it the answer is false and *was is what to hand
 * to vmm_unrelease() should the call fail (its kind is NODE_FREE if the handle is unknown).
 */
bool vmm_release(struct ledger *ledger, struct event *event, struct spool_node *was);
void vmm_unrelease(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* event->ptr and event->size are mapped to the handle. */
void vmm_map(struct ledger *ledger, struct event *event, uint64_t handle);

/* Every mapping that begins in [event->ptr, event->ptr + event->size) ends, after the real call. */
void vmm_unmap(struct ledger *ledger, const struct event *event);

/*
 * Memory of another process that is opened by address: as often as it was opened it must be closed.
 * It is entered with ledger_enter(NODE_ADDRESS) and EVENT_FOREIGN at its first opening.
 */

/* One opening more of what is open. False, and nothing happens, if it is not. */
bool vmm_import_again(struct ledger *ledger, uint64_t address);

/*
 * One opening less. With the last one the entry ends: `event` is the free and the answer is true.
 * *was is what to hand to vmm_import_unclose() should the call fail; its kind is NODE_FREE if
 * nothing is known there.
 */
bool vmm_import_close(struct ledger *ledger, struct event *event, struct spool_node *was);
void vmm_import_unclose(struct ledger *ledger, struct event *event, const struct spool_node *was);

#endif
