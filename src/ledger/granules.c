/* What the driver rounds allocations up to. */
#include "ledger/granules.h"

#include <string.h>

#include "base/guest/hot.h"
#include "codec/event.h"
#include "ledger/live.h"

enum { SHIFT = 21 };

static const uint64_t GRANULE = 1ull << SHIFT;
static const uint64_t SHARED_MOST = 1ull << 20;

/* Is this the granule's first inhabitant, or was it the last? Without memory it is neither. */
static bool share(struct granules *granules, int device, uint64_t number, bool born)
{
	uint64_t key = (uint64_t)device << 48 | number;

	/* Small ones come and go in the same few. */
	if (!granules->last_one || granules->last != key) {
		if (!map_value(&granules->shared, key) && !map_put(&granules->shared, key, 1))
			return false;
		granules->last = key;
		granules->last_one = map_value(&granules->shared, key);
	}
	if (born)
		return (*granules->last_one)++ == 1;
	return *granules->last_one > 1 && --*granules->last_one == 1;
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
	map_clear(&granules->shared);
	memset(granules, 0, sizeof(*granules));
}
