/* A trace in the words of PyTorch's memory snapshot: what happened. */
#include "render/snapshot.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/error.h"

enum { PAGE = 512 };

/*
 * Where nothing of a program lies: above 57-bit addresses there is none, but the viewer's numbers
 * are doubles, exact below 2^53. User space of x86-64 ends at 2^47, that of arm64 at 2^48.
 */
static const uint64_t first_address = (uint64_t)1 << 50;

static int no_memory(const struct snapshot *snapshot)
{
	return err("%s: no memory left", snapshot->trace->path);
}

uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size)
{
	uint64_t address = snapshot->next_address;

	snapshot->next_address += (size + 2 * PAGE - 1) / PAGE * PAGE; /* no two side by side */
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

static struct snapshot_segment *segment_at(const struct snapshot_device *device, uint64_t address,
					   uint64_t size)
{
	const struct snapshot_segment like = { .address = address, .size = size };
	void *found = tfind(&like, &device->tree, by_range);

	return found ? *(struct snapshot_segment **)found : NULL;
}

/* Sizes beyond are nobody's memory, and would be no number for the viewer. */
static bool is_size(uint64_t size)
{
	return size && size < first_address;
}

static bool is_address(uint64_t address, uint64_t size)
{
	return address && address < first_address && is_size(size);
}

static int add_segment(struct snapshot *snapshot, struct snapshot_device *device,
		       struct snapshot_segment segment)
{
	struct snapshot_segment *own = malloc(sizeof(*own));
	void *node;

	if (!own)
		return no_memory(snapshot);
	*own = segment;
	node = tsearch(own, &device->tree, by_range);
	if (node && *(struct snapshot_segment **)node == own)
		return 0;
	free(own); /* no memory; or it overlaps another, which callers rule out */
	return node ? 0 : no_memory(snapshot);
}

static void drop_segment(struct snapshot_device *device, struct snapshot_segment *segment)
{
	tdelete(segment, &device->tree, by_range);
	free(segment);
}

/* --- entries --- */

static int add_entry(struct snapshot *snapshot, struct snapshot_device *device,
		     struct snapshot_entry entry)
{
	if (device->entries_n == device->entries_size) {
		size_t size = device->entries_size * 2 + 1024;
		struct snapshot_entry *entries =
			reallocarray(device->entries, size, sizeof(*entries));

		if (!entries)
			return no_memory(snapshot);
		device->entries = entries;
		device->entries_size = size;
	}
	device->entries[device->entries_n++] = entry;
	return 0;
}

static int enter(struct snapshot *snapshot, struct snapshot_device *device,
		 const struct trace_event *event, enum snapshot_action action,
		 const struct snapshot_segment *where)
{
	return add_entry(snapshot, device,
			 (struct snapshot_entry){
				 .address = where->address,
				 .size = where->size,
				 .stream = event->stream,
				 .t = event->t,
				 .stack = event->stack,
				 .api = event->api,
				 .action = (uint8_t)action,
			 });
}

static struct snapshot_device *device_of(struct snapshot *snapshot, int ordinal)
{
	size_t count = (size_t)ordinal + 1;

	if (ordinal < 0)
		return NULL;
	if (count > snapshot->devices_n) {
		struct snapshot_device *devices =
			reallocarray(snapshot->devices, count, sizeof(*devices));

		if (!devices)
			return NULL;
		for (size_t i = snapshot->devices_n; i < count; i++)
			devices[i] =
				(struct snapshot_device){ .device = (int)i, .summed = true };
		snapshot->devices = devices;
		snapshot->devices_n = count;
	}
	return &snapshot->devices[ordinal];
}

static struct snapshot_place *place_of(struct snapshot *snapshot, uint32_t id)
{
	if (id > snapshot->places_n) {
		size_t size = snapshot->pair.blocks.size;
		struct snapshot_place *places =
			reallocarray(snapshot->places, size, sizeof(*places));

		if (!places)
			return NULL;
		memset(places + snapshot->places_n, 0,
		       (size - snapshot->places_n) * sizeof(*places));
		snapshot->places = places;
		snapshot->places_n = size;
	}
	return &snapshot->places[id - 1];
}

/* --- blocks --- */

/* Where a segment of the block's own may lie: at its address, if it has one and nothing is there.
 */
static struct snapshot_segment own_segment(struct snapshot *snapshot,
					   const struct snapshot_device *device,
					   const struct block *block)
{
	struct snapshot_segment segment = { .address = block->ptr,
					    .size = block->size,
					    .stack = block->stack };

	if (block->handle || block->space == SPACE_ARRAY || !is_address(block->ptr, block->size) ||
	    segment_at(device, block->ptr, block->size))
		segment.address = snapshot_address(snapshot, block->size);
	return segment;
}

static bool lies_in_segment(const struct snapshot_device *device, const struct block *block)
{
	const struct snapshot_segment *segment;

	if (!block->pool || !is_address(block->ptr, block->size))
		return false;
	segment = segment_at(device, block->ptr, 1);
	return segment && block->ptr >= segment->address &&
	       block->ptr + block->size <= segment->address + segment->size;
}

static int begin_block(struct snapshot *snapshot, struct snapshot_device *device,
		       const struct trace_event *event)
{
	const struct block *block = &snapshot->pair.begun;
	struct snapshot_segment where = { .address = block->ptr, .size = block->size };
	struct snapshot_place *place;
	bool own = !lies_in_segment(device, block);
	int error = 0;

	if (!is_size(block->size) || !snapshot->pair.begun_id)
		return 0;
	place = place_of(snapshot, snapshot->pair.begun_id);
	if (!place)
		return no_memory(snapshot);
	if (own) {
		where = own_segment(snapshot, device, block);
		error = add_segment(snapshot, device, where);
		if (!error)
			error = enter(snapshot, device, event, SNAPSHOT_SEGMENT_ALLOC, &where);
	}
	*place = (struct snapshot_place){ where.address, own };
	return error ? error : enter(snapshot, device, event, SNAPSHOT_ALLOC, &where);
}

static int end_block(struct snapshot *snapshot, struct snapshot_device *device,
		     const struct trace_event *event, const struct block *block,
		     struct snapshot_place place)
{
	struct snapshot_segment where = { .address = place.address, .size = block->size };
	struct snapshot_segment *own = place.own ? segment_at(device, place.address, 1) : NULL;
	int error = enter(snapshot, device, event, SNAPSHOT_FREE, &where);

	if (!error && place.own)
		error = enter(snapshot, device, event, SNAPSHOT_SEGMENT_FREE, &where);
	if (own)
		drop_segment(device, own);
	return error;
}

/* It lived before the first event: so did a segment around it. */
static int end_unseen(struct snapshot *snapshot, struct snapshot_device *device,
		      const struct trace_event *event)
{
	const struct block *block = &snapshot->pair.ended;
	struct snapshot_place place = { .address = block->ptr };

	if (!is_size(block->size) || !block->ptr)
		return 0;
	if (!lies_in_segment(device, block)) {
		place.address = own_segment(snapshot, device, block).address;
		place.own = true;
	}
	return end_block(snapshot, device, event, block, place);
}

/* --- segments of pools --- */

/* Nothing outlives the segment it lies in; a trace that says so all the same was cut or made up. */
static int end_blocks_inside(struct snapshot *snapshot, struct snapshot_device *device,
			     const struct trace_event *event, uint64_t from, uint64_t size)
{
	struct blocks *blocks = &snapshot->pair.blocks;
	int error = 0;

	for (uint32_t i = 0; i < blocks->used && !error; i++) {
		struct block block = blocks->list[i];

		if (block.state != BLOCK_LIVE || block.kind != BLOCK_HANDED || !block.size ||
		    block.device != device->device || i >= snapshot->places_n ||
		    snapshot->places[i].own || !snapshot->places[i].address || block.ptr < from || block.ptr - from >= size)
			continue;
		blocks_end(blocks, i + 1);
		error = end_block(snapshot, device, event, &block, snapshot->places[i]);
	}
	return error;
}

/* Mapped addresses side by side are one segment, as the viewer takes them. */
static void join(struct snapshot_device *device, struct snapshot_segment *segment)
{
	struct snapshot_segment *before =
		segment->address ? segment_at(device, segment->address - 1, 1) : NULL;
	struct snapshot_segment *behind = segment_at(device, segment->address + segment->size, 1);

	if (before && before->mapped) {
		segment->address = before->address;
		segment->size += before->size;
		drop_segment(device, before);
	}
	if (behind && behind->mapped) {
		segment->size += behind->size;
		drop_segment(device, behind);
	}
}

static int begin_segment(struct snapshot *snapshot, struct snapshot_device *device,
			 const struct trace_event *event)
{
	const struct block *block = &snapshot->pair.begun;
	struct snapshot_segment segment = { .address = block->ptr,
					    .size = block->size,
					    .stack = block->stack,
					    .mapped = block->kind == BLOCK_MAPPING };
	int error;

	if (block->handle || !is_address(block->ptr, block->size) ||
	    segment_at(device, block->ptr, block->size))
		return 0;
	error = enter(snapshot, device, event,
		      segment.mapped ? SNAPSHOT_SEGMENT_MAP : SNAPSHOT_SEGMENT_ALLOC, &segment);
	if (segment.mapped)
		join(device, &segment);
	return error ? error : add_segment(snapshot, device, segment);
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
	drop_segment(device, segment);
	if (left.size)
		error = add_segment(snapshot, device, left);
	if (right.size && !error)
		error = add_segment(snapshot, device, right);
	return error;
}

static int end_segment(struct snapshot *snapshot, struct snapshot_device *device,
		       const struct trace_event *event)
{
	const struct block block = snapshot->pair.ended;
	struct snapshot_segment where = { .address = block.ptr, .size = block.size };
	struct snapshot_segment *segment;
	int error;

	if (block.handle || !is_address(block.ptr, block.size))
		return 0;
	segment = segment_at(device, block.ptr, 1);
	if (!segment || segment->mapped != (block.kind == BLOCK_MAPPING) ||
	    (!segment->mapped && (segment->address != block.ptr || segment->size != block.size)) ||
	    block.ptr + block.size > segment->address + segment->size) {
		/* It was there before the first event: elsewhere, since what lies in it is not. */
		where.address = snapshot_address(snapshot, block.size);
		return snapshot->pair.unseen ? enter(snapshot, device, event,
						     SNAPSHOT_SEGMENT_FREE, &where)
					     : 0;
	}
	error = end_blocks_inside(snapshot, device, event, block.ptr, block.size);
	if (!error)
		error = enter(snapshot, device, event,
			      segment->mapped ? SNAPSHOT_SEGMENT_UNMAP : SNAPSHOT_SEGMENT_FREE,
			      &where);
	return error ? error : cut(snapshot, device, segment, block.ptr, block.size);
}

/* --- events --- */

static int take_end(struct snapshot *snapshot, struct snapshot_device *device,
		    const struct trace_event *event)
{
	const struct pair *pair = &snapshot->pair;
	uint32_t id = pair->ended_id;

	if (!pair_counts(&pair->ended))
		return 0;
	if (pair->ended.kind != BLOCK_HANDED)
		return end_segment(snapshot, device, event);
	if (pair->unseen)
		return end_unseen(snapshot, device, event);
	if (!is_size(pair->ended.size) || id > snapshot->places_n)
		return 0;
	return end_block(snapshot, device, event, &pair->ended, snapshot->places[id - 1]);
}

static int take_begin(struct snapshot *snapshot, struct snapshot_device *device,
		      const struct trace_event *event)
{
	const struct pair *pair = &snapshot->pair;

	if (!pair_counts(&pair->begun))
		return 0;
	if (pair->begun.kind != BLOCK_HANDED)
		return pair->begun.pool ? begin_segment(snapshot, device, event) : 0;
	return begin_block(snapshot, device, event);
}

static int take_oom(struct snapshot *snapshot, struct snapshot_device *device,
		    const struct trace_event *event)
{
	const struct trace_device *row = trace_device(snapshot->trace, event->device);
	struct snapshot_segment what = { .size = event->size };

	if (row && row->total_bytes && event->reserved != TRACE_NONE &&
	    row->total_bytes > event->reserved)
		what.address = row->total_bytes - event->reserved;
	return enter(snapshot, device, event, SNAPSHOT_OOM, &what);
}

/* Events are missing: what is known begins here. */
static void forget(struct snapshot *snapshot, const struct trace_event *event)
{
	for (size_t i = 0; i < snapshot->devices_n; i++) {
		struct snapshot_device *device = &snapshot->devices[i];

		device->entries_n = 0;
		device->summed = false;
		tdestroy(device->tree, free);
		device->tree = NULL;
	}
	snapshot->from = event->t;
}

static int take(struct snapshot *snapshot, const struct trace_event *event)
{
	const struct event effect = { .op = event->op,
				      .size = event->size,
				      .pool = event->pool,
				      .device = event->device,
				      .space = event->space,
				      .flags = event->foreign ? EVENT_FOREIGN : 0 };
	struct snapshot_device *device;
	int64_t allocated, reserved;
	int error;

	if (pair_gap(&snapshot->pair, event))
		forget(snapshot, event);
	error = pair_take(&snapshot->pair, event);
	if (error || event->device < 0 ||
	    !export_wants(snapshot->trace, snapshot->options, event->device, event->pool))
		return error;
	device = device_of(snapshot, event->device);
	if (!device)
		return no_memory(snapshot);
	event_effect(&effect, &allocated, &reserved);
	device->allocated += (uint64_t)allocated;
	device->reserved += (uint64_t)reserved;
	if (snapshot->pair.ends)
		error = take_end(snapshot, device, event);
	if (!error && snapshot->pair.begins)
		error = take_begin(snapshot, device, event);
	if (!error && event->op == EVENT_OOM)
		error = take_oom(snapshot, device, event);
	return error;
}

/* What the devices held behind the last event, whatever is missing: unless only a pool is asked
 * for, which events do not tell. */
static void take_sums(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->trace->summary.devices_n; i++) {
		const struct trace_device *row = &snapshot->trace->summary.devices[i];
		struct snapshot_device *device = device_of(snapshot, row->device);
		const struct pair_device *told = &snapshot->pair.devices[i];

		if (!device || snapshot->options->pool ||
		    (snapshot->options->device != NO_DEVICE &&
		     snapshot->options->device != row->device))
			continue;
		device->summed = true;
		device->allocated = told->allocated;
		device->reserved = told->reserved;
		if (!snapshot->options->at && row->allocated.exit_bytes != TRACE_NONE &&
		    row->reserved.exit_bytes != TRACE_NONE) {
			device->allocated = row->allocated.exit_bytes;
			device->reserved = row->reserved.exit_bytes;
		}
	}
}

int snapshot_read(struct snapshot *snapshot, struct trace *trace,
		  const struct format_options *options)
{
	struct trace_event event;
	struct export_end end;
	int more = 1;
	int error;

	*snapshot = (struct snapshot){ .trace = trace,
				       .options = options,
				       .next_address = first_address };
	error = pair_start(&snapshot->pair, trace);
	if (!error)
		error = export_find_end(&end, trace, options);
	while (!error && (more = trace_next(trace, &event)) == 1 && !export_is_behind(&end, &event))
		error = take(snapshot, &event);
	if (error || more < 0)
		return error ? error : -EINVAL;
	take_sums(snapshot);
	return 0;
}

void snapshot_clear(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->devices_n; i++) {
		tdestroy(snapshot->devices[i].tree, free);
		free(snapshot->devices[i].entries);
		free(snapshot->devices[i].segments);
		free(snapshot->devices[i].blocks);
	}
	free(snapshot->devices);
	free(snapshot->places);
	pair_clear(&snapshot->pair);
	*snapshot = (struct snapshot){ 0 };
}
