/* A trace in the words of PyTorch's memory snapshot: what happened. */
#include "render/export/snapshot_parts.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"

/* --- entries --- */

static int add_entry(struct snapshot *snapshot, struct snapshot_device *device,
		     struct snapshot_entry entry)
{
	if (!GROW(device->entries, device->entries_n, device->entries_size, 1024))
		return err_no_memory(snapshot->trace->path);
	device->entries[device->entries_n++] = entry;
	return 0;
}

int snapshot_enter(struct snapshot *snapshot, struct snapshot_device *device,
		   const struct event *event, enum snapshot_action action,
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
			devices[i] = (struct snapshot_device){ .device = (int)i, .summed = true };
		snapshot->devices = devices;
		snapshot->devices_n = count;
	}
	return &snapshot->devices[ordinal];
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

	if (block->handle || block->space == SPACE_ARRAY ||
	    !snapshot_is_address(block->ptr, block->size) ||
	    snapshot_segment_at(device, block->ptr, block->size))
		segment.address = snapshot_address(snapshot, block->size);
	return segment;
}

static bool lies_in_segment(const struct snapshot_device *device, const struct block *block)
{
	const struct snapshot_segment *segment;

	if (!block->pool || !snapshot_is_address(block->ptr, block->size))
		return false;
	segment = snapshot_segment_at(device, block->ptr, 1);
	return segment && block->ptr >= segment->address &&
	       block->ptr + block->size <= segment->address + segment->size;
}

static int begin_block(struct snapshot *snapshot, struct snapshot_device *device,
		       const struct event *event)
{
	const struct block *block = &snapshot->lives.begun;
	struct snapshot_segment where = { .address = block->ptr, .size = block->size };
	bool own = !lies_in_segment(device, block);
	int error = 0;

	if (!snapshot_is_size(block->size) || !snapshot->lives.begun_id)
		return 0;
	if (!GROW_TO(snapshot->places, snapshot->lives.blocks.size, snapshot->places_n))
		return err_no_memory(snapshot->trace->path);
	if (own) {
		where = own_segment(snapshot, device, block);
		if (block->pool)
			error = snapshot_place(snapshot, device, event, block->size);
		if (!error)
			error = snapshot_add_segment(snapshot, device, where);
		if (!error)
			error = snapshot_enter(snapshot, device, event, SNAPSHOT_SEGMENT_ALLOC,
					       &where);
	}
	snapshot->places[snapshot->lives.begun_id - 1] =
		(struct snapshot_place){ where.address, own };
	return error ? error : snapshot_enter(snapshot, device, event, SNAPSHOT_ALLOC, &where);
}

int snapshot_end_block(struct snapshot *snapshot, struct snapshot_device *device,
		       const struct event *event, const struct block *block,
		       struct snapshot_place place)
{
	struct snapshot_segment where = { .address = place.address, .size = block->size };
	struct snapshot_segment *own =
		place.own ? snapshot_segment_at(device, place.address, 1) : NULL;
	int error = snapshot_enter(snapshot, device, event, SNAPSHOT_FREE, &where);

	if (!error && place.own)
		error = snapshot_enter(snapshot, device, event, SNAPSHOT_SEGMENT_FREE, &where);
	if (own)
		snapshot_drop_segment(device, own);
	return error;
}

/* It lived before the first event: so did a segment around it. */
static int end_unseen(struct snapshot *snapshot, struct snapshot_device *device,
		      const struct event *event)
{
	const struct block *block = &snapshot->lives.ended;
	struct snapshot_place place = { .address = block->ptr };

	if (!snapshot_is_size(block->size))
		return 0;
	if (!lies_in_segment(device, block)) {
		place.address = own_segment(snapshot, device, block).address;
		place.own = true;
	}
	return snapshot_end_block(snapshot, device, event, block, place);
}

/* --- blocks without an address: a pool tells only that it handed out more, or less --- */

static int begin_nameless(struct snapshot *snapshot, struct snapshot_device *device,
			  const struct event *event, uint32_t stack, uint64_t size)
{
	struct snapshot_segment where = { .size = size, .stack = stack };
	int error;

	if (!snapshot_is_size(size))
		return 0;
	if (!GROW(device->nameless, device->nameless_n, device->nameless_size, 16))
		return err_no_memory(snapshot->trace->path);
	where.address = snapshot_address(snapshot, size);
	device->nameless[device->nameless_n++] =
		(struct snapshot_block){ where.address, size, stack, true };
	error = snapshot_place(snapshot, device, event, size);
	if (!error)
		error = snapshot_add_segment(snapshot, device, where);
	if (!error)
		error = snapshot_enter(snapshot, device, event, SNAPSHOT_SEGMENT_ALLOC, &where);
	return error ? error : snapshot_enter(snapshot, device, event, SNAPSHOT_ALLOC, &where);
}

/* The latest of the same stack end, until so much is gone; what is too much begins again. */
static int end_nameless(struct snapshot *snapshot, struct snapshot_device *device,
			const struct event *event, uint64_t size)
{
	int error = 0;

	for (size_t i = device->nameless_n; i-- && size && !error;) {
		const struct snapshot_block was = device->nameless[i];
		const struct block block = { .size = was.size };

		if (was.stack != event->stack)
			continue;
		memmove(&device->nameless[i], &device->nameless[i + 1],
			(device->nameless_n - i - 1) * sizeof(was));
		device->nameless_n--;
		error = snapshot_end_block(snapshot, device, event, &block,
					   (struct snapshot_place){ was.address, true });
		if (!error)
			error = snapshot_unplace(snapshot, device, event, was.size);
		if (!error && was.size > size)
			error = begin_nameless(snapshot, device, event, was.stack, was.size - size);
		size -= was.size < size ? was.size : size;
	}
	return error;
}

/* --- events --- */

static int take_end(struct snapshot *snapshot, struct snapshot_device *device,
		    const struct event *event)
{
	const struct lives *lives = &snapshot->lives;
	uint32_t id = lives->ended_id;
	struct snapshot_place place;
	int error;

	if (!lives_counts(&lives->ended))
		return 0;
	if (lives->ended.kind != BLOCK_HANDED)
		return snapshot_end_segment(snapshot, device, event);
	if (!lives->ended.ptr)
		return end_nameless(snapshot, device, event, lives->ended.size);
	if (lives->unseen)
		return end_unseen(snapshot, device, event);
	if (!snapshot_is_size(lives->ended.size) || id > snapshot->places_n)
		return 0;
	place = snapshot->places[id - 1];
	error = snapshot_end_block(snapshot, device, event, &lives->ended, place);
	if (!error && place.own && lives->ended.pool)
		error = snapshot_unplace(snapshot, device, event, lives->ended.size);
	return error;
}

static int take_begin(struct snapshot *snapshot, struct snapshot_device *device,
		      const struct event *event)
{
	const struct lives *lives = &snapshot->lives;

	if (!lives_counts(&lives->begun))
		return 0;
	if (lives->begun.kind != BLOCK_HANDED)
		return lives->begun.pool ? snapshot_begin_segment(snapshot, device, event) : 0;
	if (!lives->begun.ptr)
		return begin_nameless(snapshot, device, event, event->stack, event->size);
	return begin_block(snapshot, device, event);
}

static int take_oom(struct snapshot *snapshot, struct snapshot_device *device,
		    const struct event *event)
{
	const struct trace_device *row = trace_device(snapshot->trace, event->device);
	struct snapshot_segment what = { .size = event->size };

	if (row && row->total_bytes && event->reserved != TRACE_NONE &&
	    row->total_bytes > event->reserved)
		what.address = row->total_bytes - event->reserved;
	return snapshot_enter(snapshot, device, event, SNAPSHOT_OOM, &what);
}

/* Events are missing: what is known begins here. */
static void forget_block(struct snapshot *snapshot, const struct event *event)
{
	for (size_t i = 0; i < snapshot->devices_n; i++) {
		struct snapshot_device *device = &snapshot->devices[i];

		device->entries_n = 0;
		device->nameless_n = 0;
		device->summed = false;
		device->unplaced = device->placed = device->spare.size = 0;
		tdestroy(device->tree, free);
		device->tree = NULL;
	}
	snapshot->from = event->t;
}

static int place_event(struct snapshot *snapshot, const struct event *event)
{
	struct lives *lives = &snapshot->lives;
	struct snapshot_device *device;
	int64_t allocated, reserved;
	int error = 0;

	if (lives_gap(lives, event))
		forget_block(snapshot, event);
	if (lives_take(lives, event, trace_text(snapshot->trace, event->api)))
		return err_no_memory(snapshot->trace->path);
	if (event->device < 0 ||
	    !export_wants(snapshot->trace, snapshot->options, event->device, event->pool))
		return 0;
	device = device_of(snapshot, event->device);
	if (!device)
		return err_no_memory(snapshot->trace->path);
	event_effect(event, &allocated, &reserved);
	device->allocated += (uint64_t)allocated;
	device->reserved += (uint64_t)reserved;
	if (event->pool && !event->ptr && !allocated)
		error = snapshot_reserve(snapshot, device, event, reserved);
	if (!error && lives->ends)
		error = take_end(snapshot, device, event);
	if (!error && lives->begins)
		error = take_begin(snapshot, device, event);
	if (!error && event->op == EVENT_OOM)
		error = take_oom(snapshot, device, event);
	return error;
}

/* What the devices held behind the last event, whatever is missing: unless only a pool is asked
 * for, which events do not tell. */
static void take_sums(struct snapshot *snapshot)
{
	const struct lives *lives = &snapshot->lives;

	for (size_t i = 0; i < snapshot->trace->summary.devices_n; i++) {
		const struct trace_device *row = &snapshot->trace->summary.devices[i];
		struct snapshot_device *device = device_of(snapshot, row->device);

		if (!device || snapshot->options->pool ||
		    (snapshot->options->device != NO_DEVICE &&
		     snapshot->options->device != row->device))
			continue;
		device->summed = true;
		if (row->device < LIVES_DEVICES) {
			device->allocated = lives->sums[row->device].allocated;
			device->reserved = lives->sums[row->device].reserved;
		}
		if (!snapshot->options->at && row->allocated.exit_bytes != TRACE_NONE &&
		    row->reserved.exit_bytes != TRACE_NONE) {
			device->allocated = row->allocated.exit_bytes;
			device->reserved = row->reserved.exit_bytes;
		}
	}
}

int snapshot_read(struct snapshot *snapshot, struct trace *trace,
		  const struct selection_options *options)
{
	struct event event;
	struct export_end end;
	int more = 1;
	int error;

	*snapshot = (struct snapshot){ .trace = trace,
				       .options = options,
				       .next_address = SNAPSHOT_ADDRESSES };
	/* What a filter left out may lie in a segment that is known: it is a gap here. */
	lives_start(&snapshot->lives, false);
	error = export_find_end(&end, trace, options);
	while (!error && (more = trace_next(trace, &event)) == 1 && !export_is_behind(&end, &event))
		error = place_event(snapshot, &event);
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
		free(snapshot->devices[i].nameless);
		free(snapshot->devices[i].segments);
		free(snapshot->devices[i].blocks);
	}
	free(snapshot->devices);
	free(snapshot->places);
	lives_clear(&snapshot->lives);
	*snapshot = (struct snapshot){ 0 };
}
