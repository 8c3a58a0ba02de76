/* Lists the segments and blocks after the last event: each block lies in one segment, and reserved
 * bytes that are in no known segment get a segment of their own. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/sort.h"
#include "render/export/torch_snapshot.h"

/* The device whose tree is walked. twalk_r(), which takes it as an argument, needs glibc 2.30. */
static struct snapshot_device *walked;

/* Counts a segment of `walked` and, if its segments[] is allocated, stores it there. */
static void visit(const void *node, VISIT order, int depth)
{
	(void)depth;
	if (order != postorder && order != leaf)
		return;
	if (walked->segments)
		walked->segments[walked->segments_n] = **(struct snapshot_segment *const *)node;
	walked->segments_n++;
}

static bool is_live(const struct snapshot *snapshot, const struct snapshot_device *device,
		    uint32_t at)
{
	const struct block *block = &snapshot->lives.blocks.list[at];

	return block->state == BLOCK_LIVE && block->kind == BLOCK_HANDED &&
	       block->device == device->device && lives_counts(block) && at < snapshot->places_n &&
	       snapshot->places[at].address &&
	       export_wants(snapshot->trace, snapshot->options, block->device, block->pool);
}

/* Fills blocks[] and segments[], sorted by address, and leaves room at their ends for what
 * add_own_segments() and add_filler() append. */
static void collect(struct snapshot *snapshot, struct snapshot_device *device)
{
	static const struct sort_key by_address[] = { SORT_UP(struct snapshot_block, address),
						      { 0 } };
	const struct blocks *blocks = &snapshot->lives.blocks;
	size_t count = device->nameless_n;

	for (uint32_t i = 0; i < blocks->used; i++)
		count += is_live(snapshot, device, i);
	walked = device;
	twalk(device->tree, visit);
	device->blocks = calloc(count + 2, sizeof(*device->blocks));
	device->segments = calloc(device->segments_n + count + 1, sizeof(*device->segments));
	NEED(device->blocks && device->segments);
	for (uint32_t i = 0; i < blocks->used; i++) {
		if (is_live(snapshot, device, i))
			device->blocks[device->blocks_n++] = (struct snapshot_block){
				.address = snapshot->places[i].address,
				.size = blocks->list[i].size,
				.stack = blocks->list[i].stack,
				.known = true,
			};
	}
	if (device->nameless_n)
		memcpy(device->blocks + device->blocks_n, device->nameless,
		       device->nameless_n * sizeof(*device->nameless));
	device->blocks_n += device->nameless_n;
	sort_rows(device->blocks, device->blocks_n, sizeof(*device->blocks), by_address);
	device->segments_n = 0;
	twalk(device->tree, visit);
}

/* Moves blocks that overlap the block before them, or lie in no segment, to the end of the list,
 * and gives them new addresses. Returns their number. */
static size_t set_strays_aside(struct snapshot *snapshot, struct snapshot_device *device)
{
	struct snapshot_block *blocks = device->blocks;
	struct snapshot_block *strays =
		NEED_ROOM(&snapshot->trace->arena, strays, device->blocks_n);
	size_t segment = 0;
	size_t kept = 0;
	size_t strays_n = 0;
	uint64_t from = 0;

	foreach (block, blocks, device->blocks_n) {
		const struct snapshot_segment *in;

		while (segment < device->segments_n &&
		       device->segments[segment].address + device->segments[segment].size <=
			       block->address)
			segment++;
		in = segment < device->segments_n ? &device->segments[segment] : NULL;
		if (!in || block->address < in->address || block->address < from ||
		    block->address + block->size > in->address + in->size) {
			strays[strays_n] = *block;
			strays[strays_n++].address = snapshot_address(snapshot, block->size);
			continue;
		}
		from = block->address + block->size;
		blocks[kept++] = *block;
	}
	memcpy(blocks + kept, strays, strays_n * sizeof(*strays));
	return strays_n;
}

static void add_own_segments(struct snapshot_device *device, size_t strays)
{
	for (size_t i = device->blocks_n - strays; i < device->blocks_n; i++)
		device->segments[device->segments_n++] = (struct snapshot_segment){
			.address = device->blocks[i].address,
			.size = device->blocks[i].size,
			.stack = device->blocks[i].stack,
		};
}

/*
 * Adds a segment for the reserved bytes that lie in no segment: of pools that report no addresses,
 * or reserved before missing events. Its only block has the allocated bytes that lie in no block.
 */
static void add_filler(struct snapshot *snapshot, struct snapshot_device *device)
{
	uint64_t reserved = device->reserved;
	uint64_t allocated = device->allocated;
	struct snapshot_segment segment = { .stack = UINT32_MAX };

	for (size_t i = 0; i < device->segments_n; i++)
		reserved -=
			device->segments[i].size < reserved ? device->segments[i].size : reserved;
	foreach (block, device->blocks)
		allocated -= block->size < allocated ? block->size : allocated;
	segment.size = reserved > allocated ? reserved : allocated;
	if (!device->summed || !segment.size)
		return;
	segment.address = snapshot_address(snapshot, segment.size);
	if (allocated)
		device->blocks[device->blocks_n++] = (struct snapshot_block){
			.address = segment.address, .size = allocated, .stack = UINT32_MAX
		};
	device->segments[device->segments_n++] = segment;
}

void snapshot_tile(struct snapshot *snapshot, struct snapshot_device *device)
{
	size_t block = 0;

	collect(snapshot, device);
	add_own_segments(device, set_strays_aside(snapshot, device));
	add_filler(snapshot, device);
	/* segments[] and blocks[] are still sorted: addresses from snapshot_address() rise. */
	foreach (segment, device->segments) {
		segment->first = block;
		while (block < device->blocks_n &&
		       device->blocks[block].address < segment->address + segment->size)
			block++;
		segment->count = block - segment->first;
	}
}
