#include "ledger/vmm.h"

#include <stddef.h>

#include "ledger/ledger_parts.h"
#include "spool/txn.h"

static void recount(struct ledger *ledger, uint32_t id, int references, int mappings)
{
	txn_begin(ledger->spool);
	live_recount(ledger->spool, id, references, mappings);
	txn_commit(ledger->spool);
}

void vmm_hold(struct ledger *ledger, uint32_t id)
{
	recount(ledger, id, -(int)live_node(ledger->spool, id)->references, 0);
}

/* Finds a node whose references are counted: a handle, or imported memory with an address. */
static uint32_t find(const struct ledger *ledger, enum node_kind kind, uint64_t address)
{
	uint32_t id = ledger->error ? 0 : live_find(ledger->spool, kind, 0, address);

	return id && live_node(ledger->spool, id)->references ? id : 0;
}

bool vmm_retain(struct ledger *ledger, enum node_kind kind, uint64_t address)
{
	uint32_t id = find(ledger, kind, address);

	if (id)
		recount(ledger, id, 1, 0);
	return id != 0;
}

bool vmm_retain_mapped(struct ledger *ledger, uint64_t address, uint64_t handle)
{
	const struct spool *spool = ledger->spool;
	uint32_t id = ledger->error ? 0 : live_find(spool, NODE_MAPPING, 0, address);

	if (id)
		id = (uint32_t)live_node(spool, id)->link;
	else if (!ledger->error)
		id = ledger_around(ledger, address);
	if (!id || live_node(spool, id)->address != handle ||
	    live_node(spool, id)->kind == NODE_ADDRESS)
		return vmm_retain(ledger, NODE_HANDLE, handle);
	recount(ledger, id, 1, 0);
	return true;
}

bool vmm_release(struct ledger *ledger, enum node_kind kind, struct event *event,
		 struct spool_node *was)
{
	uint32_t id = find(ledger, kind, event->ptr);

	if (!id)
		return false;
	*was = *live_node(ledger->spool, id);
	if (was->references > 1 || was->mappings)
		recount(ledger, id, -1, 0);
	else
		ledger_leave_node(ledger, event, id);
	return true;
}

void vmm_unrelease(struct ledger *ledger, struct event *event, const struct spool_node *was)
{
	uint32_t held;

	if (was->references == 1 && !was->mappings) {
		ledger_undo(ledger, event, was);
		return;
	}
	if (vmm_retain(ledger, was->kind, was->address) || was->kind != NODE_HANDLE ||
	    ledger->error)
		return;
	held = live_find(ledger->spool, NODE_HELD, 0, was->address);
	if (held)
		recount(ledger, held, 1, 0);
}

/* Removes a mapping. If it is the last one of a handle without references, the memory is freed in
 * the same transaction, so that a killed process leaves no such handle without a mapping. */
static void end_mapping(struct ledger *ledger, const struct event *like, uint32_t id)
{
	struct spool *spool = ledger->spool;
	const struct spool_node *mapping = live_node(spool, id);
	uint32_t home = (uint32_t)mapping->link;
	struct spool_node held = *live_node(spool, home);
	bool ends = held.kind == NODE_HELD && held.mappings == 1;
	struct event unmap = *like;
	struct event end = *like;
	const struct touched none = { .device = { NULL, 0 } };
	const struct touched *touched = &none;

	ledger_tell_end(&unmap, mapping);
	unmap.op = EVENT_UNMAP;
	unmap.flags = like->flags;
	ledger_tell_end(&end, &held);
	if (ends)
		touched = ledger_touch(ledger, &end, held.owner);
	if (!touched || !ledger_room(ledger, 1 + ends))
		return;
	txn_begin(spool);
	ledger_put(ledger, &unmap);
	live_remove(spool, id);
	live_recount(spool, home, 0, -1);
	if (ends) {
		ledger_book(ledger, &end, held.stack, touched);
		ledger_bury(ledger, &end, home);
	}
	ledger_commit(ledger, touched);
}

void vmm_map(struct ledger *ledger, struct event *event, uint64_t handle)
{
	struct spool *spool = ledger->spool;
	uint32_t id = ledger->error ? 0 : live_find(spool, NODE_HANDLE, 0, handle);
	uint32_t stale = id ? live_find(spool, NODE_MAPPING, 0, event->ptr) : 0;
	const struct touched none = { .device = { NULL, 0 } };
	struct spool_node mapping;

	if (!id)
		return;
	if (stale)
		end_mapping(ledger, event, stale);
	mapping = *live_node(spool, id);
	event->op = EVENT_MAP;
	event->device = mapping.device;
	event->space = mapping.space;
	event->pool = mapping.pool;
	event->untold = mapping.flags & NODE_UNTOLD;
	if (!ledger_room(ledger, 1))
		return;
	mapping.kind = NODE_MAPPING;
	mapping.address = event->ptr;
	mapping.size = event->size;
	mapping.references = mapping.mappings = 0;
	mapping.stack = event->stack;
	mapping.link = id;
	txn_begin(spool);
	ledger_put(ledger, event);
	mapping.t = event->t;
	live_insert(spool, &mapping);
	live_recount(spool, id, 0, 1);
	ledger_commit(ledger, &none);
}

void vmm_unmap(struct ledger *ledger, const struct event *event)
{
	uint64_t end = event->ptr + event->size;

	for (uint64_t at = event->ptr; at < end && !ledger->error;) {
		uint32_t id = live_find(ledger->spool, NODE_MAPPING, 0, at);

		at += id ? live_node(ledger->spool, id)->size : GRANULE;
		if (id)
			end_mapping(ledger, event, id);
	}
}
