/* Adds and removes live segments of PyTorch's memory snapshot, and finds addresses for new ones. */
#include <search.h>
#include <stdlib.h>

#include "analyse/input/grow.h"
#include "render/export/torch_snapshot.h"

static const uint64_t page = 512;

uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size)
{
	uint64_t address = snapshot->next_address;

	/* Leaves at least 512 unused bytes after each segment. */
	snapshot->next_address += (size + 2 * page - 1) / page * page;
	return address;
}

/* --- live segments --- */

/* Overlapping ranges compare as equal, so a search for an address finds the segment that has it. */
static int by_range(const void *a, const void *b)
{
	const struct snapshot_segment *x = a;
	const struct snapshot_segment *y = b;

	if (x->address + x->size <= y->address)
		return -1;
	return x->address >= y->address + y->size;
}

struct snapshot_segment *snapshot_segment_at(const struct snapshot *snapshot, uint64_t address,
					     uint64_t size)
{
	const struct snapshot_segment like = { .address = address, .size = size };
	void *found = tfind(&like, &snapshot->device->tree, by_range);

	return found ? *(struct snapshot_segment **)found : NULL;
}

void snapshot_add_segment(struct snapshot *snapshot, struct snapshot_segment segment)
{
	struct snapshot_segment *own = malloc(sizeof(*own));
	void *node;

	NEED(own);
	*own = segment;
	node = tsearch(own, &snapshot->device->tree, by_range);
	NEED(node);
	if (*(struct snapshot_segment **)node != own)
		free(own); /* overlaps another segment; callers should prevent this */
}

void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment)
{
	tdelete(segment, &device->tree, by_range);
	free(segment);
}

/* --- segments of pools --- */

/* Frees the blocks in a segment that is freed. Programs free blocks first, so this is only needed
 * for traces that are truncated or forged. */
static void end_blocks_inside(struct snapshot *snapshot, uint64_t from, uint64_t size)
{
	struct blocks *blocks = &snapshot->lives.blocks;

	for (uint32_t i = 0; i < blocks->used; i++) {
		const struct block block = blocks->list[i];

		if (block.state != BLOCK_LIVE || block.kind != BLOCK_HANDED || !block.size ||
		    block.device != snapshot->device->device || i >= snapshot->places_n ||
		    snapshot->places[i].own || !snapshot->places[i].address || block.ptr < from ||
		    block.ptr - from >= size)
			continue;
		blocks_end(blocks, i + 1);
		snapshot_end_block(snapshot, block.size, snapshot->places[i]);
	}
}

/* Merges a mapped range with the mapped segments next to it, as the viewer does. */
static void join(struct snapshot *snapshot, struct snapshot_segment *segment)
{
	struct snapshot_segment *before =
		segment->address ? snapshot_segment_at(snapshot, segment->address - 1, 1) : NULL;
	struct snapshot_segment *behind =
		snapshot_segment_at(snapshot, segment->address + segment->size, 1);

	if (before && before->mapped) {
		segment->address = before->address;
		segment->size += before->size;
		snapshot_drop_segment(snapshot->device, before);
	}
	if (behind && behind->mapped) {
		segment->size += behind->size;
		snapshot_drop_segment(snapshot->device, behind);
	}
}

void snapshot_begin_segment(struct snapshot *snapshot)
{
	const struct block *block = &snapshot->lives.begun;
	struct snapshot_segment segment = { .address = block->ptr,
					    .size = block->size,
					    .stack = block->stack,
					    .mapped = block->kind == BLOCK_MAPPING };

	if (!block->pool || block->handle || !snapshot_is_address(block->ptr, block->size) ||
	    snapshot_segment_at(snapshot, block->ptr, block->size))
		return;
	snapshot_enter(snapshot, segment.mapped ? SNAPSHOT_SEGMENT_MAP : SNAPSHOT_SEGMENT_ALLOC,
		       &segment);
	if (segment.mapped)
		join(snapshot, &segment);
	snapshot_add_segment(snapshot, segment);
}

/* Removes the range from its segment, of which up to two smaller segments may remain. */
static void cut(struct snapshot *snapshot, struct snapshot_segment *segment, uint64_t from,
		uint64_t size)
{
	struct snapshot_segment left = *segment;
	struct snapshot_segment right = *segment;

	left.size = from - segment->address;
	right.address = from + size;
	right.size = segment->address + segment->size - right.address;
	snapshot_drop_segment(snapshot->device, segment);
	if (left.size)
		snapshot_add_segment(snapshot, left);
	if (right.size)
		snapshot_add_segment(snapshot, right);
}

void snapshot_end_segment(struct snapshot *snapshot)
{
	const struct block block = snapshot->lives.ended;
	struct snapshot_segment where = { .address = block.ptr, .size = block.size };
	struct snapshot_segment *segment;

	if (!block.pool || block.handle || !snapshot_is_address(block.ptr, block.size))
		return;
	segment = snapshot_segment_at(snapshot, block.ptr, 1);
	if (!segment || segment->mapped != (block.kind == BLOCK_MAPPING) ||
	    (!segment->mapped && (segment->address != block.ptr || segment->size != block.size)) ||
	    block.ptr + block.size > segment->address + segment->size) {
		/* The segment and its blocks are unknown, so any new address will do. */
		where.address = snapshot_address(snapshot, block.size);
		if (snapshot->lives.unseen)
			snapshot_enter(snapshot, SNAPSHOT_SEGMENT_FREE, &where);
		return;
	}
	end_blocks_inside(snapshot, block.ptr, block.size);
	snapshot_enter(snapshot, segment->mapped ? SNAPSHOT_SEGMENT_UNMAP : SNAPSHOT_SEGMENT_FREE,
		       &where);
	cut(snapshot, segment, block.ptr, block.size);
}

/* --- reserved bytes of pools that report no addresses --- */

/* Replaces the segment for reserved bytes that are in no block, if its size has changed. */
static void keep_unplaced(struct snapshot *snapshot)
{
	struct snapshot_device *device = snapshot->device;
	struct snapshot_segment *spare = &device->spare;
	uint64_t size = device->unplaced > device->placed ? device->unplaced - device->placed : 0;
	struct snapshot_segment *old;

	if (size == spare->size || (size && !snapshot_is_size(size)))
		return;
	if (spare->size) {
		old = snapshot_segment_at(snapshot, spare->address, 1);
		if (old)
			snapshot_drop_segment(device, old);
		snapshot_enter(snapshot, SNAPSHOT_SEGMENT_FREE, spare);
	}
	spare->size = size;
	if (!size)
		return;
	if (size > device->spare_room) {
		/* Leaves room to grow: a new address each time would use up all below 2^53. */
		device->spare_room = snapshot_is_size(size * 2) ? size * 2 : size;
		spare->address = snapshot_address(snapshot, device->spare_room);
	}
	spare->stack = snapshot->event->stack;
	snapshot_add_segment(snapshot, *spare);
	snapshot_enter(snapshot, SNAPSHOT_SEGMENT_ALLOC, spare);
}

static void lessen(uint64_t *sum, uint64_t by)
{
	*sum -= by < *sum ? by : *sum;
}

void snapshot_place(struct snapshot *snapshot, uint64_t size)
{
	snapshot->device->placed += size;
	keep_unplaced(snapshot);
}

void snapshot_unplace(struct snapshot *snapshot, uint64_t size)
{
	lessen(&snapshot->device->placed, size);
	keep_unplaced(snapshot);
}

void snapshot_reserve(struct snapshot *snapshot, int64_t change)
{
	if (change >= 0)
		snapshot->device->unplaced += (uint64_t)change;
	else
		lessen(&snapshot->device->unplaced, 0 - (uint64_t)change);
	keep_unplaced(snapshot);
}
