/* A trace in the words of PyTorch's memory snapshot: which segments live, and where. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "analyse/input/error.h"
#include "render/export/snapshot_parts.h"

static const uint64_t page = 512;

uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size)
{
	uint64_t address = snapshot->next_address;

	snapshot->next_address += (size + 2 * page - 1) / page * page; /* no two side by side */
	return address;
}

/* --- segments that live --- */

/* Two that overlap are equal, so what is found at an address is what lies there. */
static int by_range(const void *a, const void *b)
{
	const struct snapshot_segment *x = a;
	const struct snapshot_segment *y = b;

	if (x->address + x->size <= y->address)
		return -1;
	return x->address >= y->address + y->size;
}

struct snapshot_segment *snapshot_segment_at(const struct snapshot_device *device, uint64_t address,
					     uint64_t size)
{
	const struct snapshot_segment like = { .address = address, .size = size };
	void *found = tfind(&like, &device->tree, by_range);

	return found ? *(struct snapshot_segment **)found : NULL;
}

int snapshot_add_segment(struct snapshot *snapshot, struct snapshot_device *device,
			 struct snapshot_segment segment)
{
	struct snapshot_segment *own = malloc(sizeof(*own));
	void *node;

	if (!own)
		return err_no_memory(snapshot->trace->path);
	*own = segment;
	node = tsearch(own, &device->tree, by_range);
	if (node && *(struct snapshot_segment **)node == own)
		return 0;
	free(own); /* no memory; or it overlaps another, which callers rule out */
	return node ? 0 : err_no_memory(snapshot->trace->path);
}

void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment)
{
	tdelete(segment, &device->tree, by_range);
	free(segment);
}

/* --- segments of pools --- */

/* Nothing outlives the segment it lies in; a trace that says so all the same was cut or made up. */
static int end_blocks_inside(struct snapshot *snapshot, struct snapshot_device *device,
			     const struct event *event, uint64_t from, uint64_t size)
{
	struct blocks *blocks = &snapshot->lives.blocks;
	int error = 0;

	for (uint32_t i = 0; i < blocks->used && !error; i++) {
		struct block block = blocks->list[i];

		if (block.state != BLOCK_LIVE || block.kind != BLOCK_HANDED || !block.size ||
		    block.device != device->device || i >= snapshot->places_n ||
		    snapshot->places[i].own || !snapshot->places[i].address || block.ptr < from ||
		    block.ptr - from >= size)
			continue;
		blocks_end(blocks, i + 1);
		error = snapshot_end_block(snapshot, device, event, &block, snapshot->places[i]);
	}
	return error;
}

/* Mapped addresses side by side are one segment, as the viewer takes them. */
static void join(struct snapshot_device *device, struct snapshot_segment *segment)
{
	struct snapshot_segment *before =
		segment->address ? snapshot_segment_at(device, segment->address - 1, 1) : NULL;
	struct snapshot_segment *behind =
		snapshot_segment_at(device, segment->address + segment->size, 1);

	if (before && before->mapped) {
		segment->address = before->address;
		segment->size += before->size;
		snapshot_drop_segment(device, before);
	}
	if (behind && behind->mapped) {
		segment->size += behind->size;
		snapshot_drop_segment(device, behind);
	}
}

int snapshot_begin_segment(struct snapshot *snapshot, struct snapshot_device *device,
			   const struct event *event)
{
	const struct block *block = &snapshot->lives.begun;
	struct snapshot_segment segment = { .address = block->ptr,
					    .size = block->size,
					    .stack = block->stack,
					    .mapped = block->kind == BLOCK_MAPPING };
	int error;

	if (block->handle || !snapshot_is_address(block->ptr, block->size) ||
	    snapshot_segment_at(device, block->ptr, block->size))
		return 0;
	error = snapshot_enter(snapshot, device, event,
			       segment.mapped ? SNAPSHOT_SEGMENT_MAP : SNAPSHOT_SEGMENT_ALLOC,
			       &segment);
	if (segment.mapped)
		join(device, &segment);
	return error ? error : snapshot_add_segment(snapshot, device, segment);
}

/* What a mapping's end leaves of the segment that it was a part of. */
static int cut(struct snapshot *snapshot, struct snapshot_device *device,
	       struct snapshot_segment *segment, uint64_t from, uint64_t size)
{
	struct snapshot_segment left = *segment;
	struct snapshot_segment right = *segment;
	int error = 0;

	left.size = from - segment->address;
	right.address = from + size;
	right.size = segment->address + segment->size - right.address;
	snapshot_drop_segment(device, segment);
	if (left.size)
		error = snapshot_add_segment(snapshot, device, left);
	if (right.size && !error)
		error = snapshot_add_segment(snapshot, device, right);
	return error;
}

int snapshot_end_segment(struct snapshot *snapshot, struct snapshot_device *device,
			 const struct event *event)
{
	const struct block block = snapshot->lives.ended;
	struct snapshot_segment where = { .address = block.ptr, .size = block.size };
	struct snapshot_segment *segment;
	int error;

	if (!block.pool || block.handle || !snapshot_is_address(block.ptr, block.size))
		return 0;
	segment = snapshot_segment_at(device, block.ptr, 1);
	if (!segment || segment->mapped != (block.kind == BLOCK_MAPPING) ||
	    (!segment->mapped && (segment->address != block.ptr || segment->size != block.size)) ||
	    block.ptr + block.size > segment->address + segment->size) {
		/* It was there before the first event: elsewhere, since what lies in it is not. */
		where.address = snapshot_address(snapshot, block.size);
		return snapshot->lives.unseen ? snapshot_enter(snapshot, device, event,
							       SNAPSHOT_SEGMENT_FREE, &where)
					      : 0;
	}
	error = end_blocks_inside(snapshot, device, event, block.ptr, block.size);
	if (!error)
		error = snapshot_enter(
			snapshot, device, event,
			segment->mapped ? SNAPSHOT_SEGMENT_UNMAP : SNAPSHOT_SEGMENT_FREE, &where);
	return error ? error : cut(snapshot, device, segment, block.ptr, block.size);
}
