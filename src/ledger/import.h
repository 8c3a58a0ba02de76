/*
 * Memory of another process that is opened by address: as often as it was opened it must be closed.
 *
 * It is entered with ledger_enter(NODE_ADDRESS) and EVENT_FOREIGN at its first opening; calls are
 * serialised as ledger.h says.
 */
#ifndef LEDGER_IMPORT_H
#define LEDGER_IMPORT_H

#include "ledger/ledger.h"

/* One opening more of what is open. False, and nothing happens, if it is not. */
bool import_again(struct ledger *ledger, uint64_t address);

/*
 * One opening less. With the last one the entry ends: `event` is the free and the answer is true.
 * *was is what to hand to import_unclose() should the call fail; its kind is NODE_FREE if nothing
 * is known there.
 */
bool import_close(struct ledger *ledger, struct event *event, struct spool_node *was);
void import_unclose(struct ledger *ledger, struct event *event, const struct spool_node *was);

#endif
