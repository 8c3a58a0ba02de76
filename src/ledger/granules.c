/* What the driver rounds allocations up to. */
#include "ledger/granules.h"

#include <string.h>
#include <sys/mman.h>

#include "base/guest/hot.h"
#include "base/guest/signals.h"
#include "codec/event.h"
#include "ledger/live.h"

enum { SHIFT = 21, FIRST_SIZE = 4096 };

static const uint64_t GRANULE = 1ull << SHIFT;
static const uint64_t SHARED_MOST = 1ull << 20;

struct granule {
	uint64_t key; /* 1 + device and address; a key stays when its count is 0 */
	uint64_t count;
};

static struct granule *new_table(uint64_t size)
{
	void *table = mmap(NULL, size * sizeof(struct granule), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return table == MAP_FAILED ? NULL : table;
}

static struct granule *slot_of(const struct granules *granules, uint64_t key)
{
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 20;

	while (granules->table[at & (granules->size - 1)].key &&
	       granules->table[at & (granules->size - 1)].key != key)
		at++;
	return &granules->table[at & (granules->size - 1)];
}

static bool grow_undisturbed(struct granules *granules)
{
	struct granules old = *granules;

	granules->size = old.size ? old.size * 2 : FIRST_SIZE;
	granules->table = new_table(granules->size);
	if (!granules->table) {
		*granules = old;
		return false;
	}
	granules->used = 0;
	granules->last = NULL;
	for (uint64_t i = 0; i < old.size; i++) {
		/* Those that nobody lives in any more need no place here. */
		if (!old.table[i].count)
			continue;
		*slot_of(granules, old.table[i].key) = old.table[i];
		granules->used++;
	}
	if (old.table)
		munmap(old.table, old.size * sizeof(struct granule));
	return true;
}

/* A handler that jumped out of it would leave a size without a table. */
static bool grow(struct granules *granules)
{
	struct signals_deferred deferred;
	bool grown;

	signals_defer(&deferred);
	grown = grow_undisturbed(granules);
	signals_deliver(&deferred);
	return grown;
}

/* Is this the granule's first inhabitant, or was it the last? Without memory it is neither. */
static bool share(struct granules *granules, int device, uint64_t number, bool born)
{
	uint64_t key = 1 + ((uint64_t)device << 48 | number);
	struct granule *granule = granules->last;

	/* Small ones come and go in the same few. */
	if (!granule || granule->key != key) {
		if (granules->used * 2 >= granules->size && !grow(granules))
			return false;
		granule = slot_of(granules, key);
		granules->last = granule;
	}
	if (!granule->key) {
		granule->key = key;
		granules->used++;
	}
	if (born)
		return !granule->count++;
	return granule->count && !--granule->count;
}

/* The granules that it is the only one in: those between its first and its last, these if alone. */
static uint64_t own_granules(struct granules *granules, const struct spool_node *node, bool born)
{
	uint64_t first = node->address >> SHIFT;
	uint64_t last = (node->address + (node->size ? node->size - 1 : 0)) >> SHIFT;
	uint64_t count = share(granules, node->device, first, born);

	if (last > first)
		count += last - first - 1 + share(granules, node->device, last, born);
	return count;
}

HOT_CODE void granules_count(struct granules *granules, const struct spool_node *node, bool born)
{
	bool array = node->kind == NODE_ARRAY;
	uint64_t bytes;

	if (!(array || (node->kind == NODE_ADDRESS && node->space == SPACE_DEVICE)) ||
	    node->device < 0 || node->device >= GRANULES_DEVICES || (node->flags & NODE_FOREIGN) ||
	    live_is_ordered(node))
		return;
	/* Where a small array lies nobody tells. */
	if (array && node->size <= SHARED_MOST)
		return;
	bytes = array ? (node->size + GRANULE - 1) & ~(GRANULE - 1)
		      : own_granules(granules, node, born) * GRANULE;
	bytes -= node->size; /* the part of a shared granule may be less than nothing */
	granules->rounding[node->device] += born ? (int64_t)bytes : -(int64_t)bytes;
}

void granules_clear(struct granules *granules)
{
	if (granules->table)
		munmap(granules->table, granules->size * sizeof(struct granule));
	memset(granules, 0, sizeof(*granules));
}
