/* Makes the history of PyTorch's memory snapshot from a trace's events. */
#include "render/export/torch_snapshot.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"

/* --- entries of the history --- */

void snapshot_enter(struct snapshot *snapshot, enum snapshot_action action,
		    const struct snapshot_segment *where)
{
	struct snapshot_device *device = snapshot->device;
	const struct event *event = snapshot->event;

	NEED(GROW(device->entries, device->entries_n, device->entries_size, 1024));
	device->entries[device->entries_n++] = (struct snapshot_entry){
		.address = where->address,
		.size = where->size,
		.stream = event->stream,
		.t = event->t,
		.stack = event->stack,
		.api = event->api,
		.action = (uint8_t)action,
	};
}

static struct snapshot_device *device_of(struct snapshot *snapshot, int ordinal)
{
	size_t count = (size_t)ordinal + 1;

	if (ordinal < 0)
		return NULL;
	if (count > snapshot->devices_n) {
		snapshot->devices =
			reallocarray(snapshot->devices, count, sizeof(*snapshot->devices));
		NEED(snapshot->devices);
		for (size_t i = snapshot->devices_n; i < count; i++)
			snapshot->devices[i] =
				(struct snapshot_device){ .device = (int)i, .summed = true };
		snapshot->devices_n = count;
	}
	return &snapshot->devices[ordinal];
}

/* --- blocks --- */

/* Returns a segment for a block that lies in no segment: at the block's address or, if it has none
 * or another segment lies there, at a new address. */
static struct snapshot_segment own_segment(struct snapshot *snapshot, const struct block *block)
{
	struct snapshot_segment segment = { .address = block->ptr,
					    .size = block->size,
					    .stack = block->stack };

	if (block->handle || block->space == SPACE_ARRAY ||
	    !snapshot_is_address(block->ptr, block->size) ||
	    snapshot_segment_at(snapshot, block->ptr, block->size))
		segment.address = snapshot_address(snapshot, block->size);
	return segment;
}

static bool lies_in_segment(const struct snapshot *snapshot, const struct block *block)
{
	const struct snapshot_segment *segment;

	if (!block->pool || !snapshot_is_address(block->ptr, block->size))
		return false;
	segment = snapshot_segment_at(snapshot, block->ptr, 1);
	return segment && block->ptr >= segment->address &&
	       block->ptr + block->size <= segment->address + segment->size;
}

static void begin_own(struct snapshot *snapshot, const struct snapshot_segment *where, bool of_pool)
{
	if (of_pool)
		snapshot_place(snapshot, where->size);
	snapshot_add_segment(snapshot, *where);
	snapshot_enter(snapshot, SNAPSHOT_SEGMENT_ALLOC, where);
}

static void begin_block(struct snapshot *snapshot)
{
	const struct block *block = &snapshot->lives.begun;
	struct snapshot_segment where = { .address = block->ptr, .size = block->size };
	bool own = !lies_in_segment(snapshot, block);

	if (!snapshot_is_size(block->size) || !snapshot->lives.begun_id)
		return;
	NEED(GROW_TO(snapshot->places, snapshot->lives.blocks.size, snapshot->places_n));
	if (own) {
		where = own_segment(snapshot, block);
		begin_own(snapshot, &where, block->pool);
	}
	snapshot->places[snapshot->lives.begun_id - 1] =
		(struct snapshot_place){ where.address, own };
	snapshot_enter(snapshot, SNAPSHOT_ALLOC, &where);
}

void snapshot_end_block(struct snapshot *snapshot, uint64_t size, struct snapshot_place place)
{
	const struct snapshot_segment where = { .address = place.address, .size = size };
	struct snapshot_segment *own =
		place.own ? snapshot_segment_at(snapshot, place.address, 1) : NULL;

	snapshot_enter(snapshot, SNAPSHOT_FREE, &where);
	if (place.own)
		snapshot_enter(snapshot, SNAPSHOT_SEGMENT_FREE, &where);
	if (own)
		snapshot_drop_segment(snapshot->device, own);
}

/* Adds the free of a block whose allocation was not recorded and, if the block lies in no segment,
 * the free of a segment made up for it. */
static void end_unseen(struct snapshot *snapshot, const struct block *block)
{
	struct snapshot_place place = { .address = block->ptr };

	if (!snapshot_is_size(block->size))
		return;
	if (!lies_in_segment(snapshot, block)) {
		place.address = own_segment(snapshot, block).address;
		place.own = true;
	}
	snapshot_end_block(snapshot, block->size, place);
}

/* --- blocks without an address: the pool reports only by how much its bytes grew or shrank --- */

static void begin_nameless(struct snapshot *snapshot, uint32_t stack, uint64_t size)
{
	struct snapshot_device *device = snapshot->device;
	struct snapshot_segment where = { .size = size, .stack = stack };

	if (!snapshot_is_size(size))
		return;
	NEED(GROW(device->nameless, device->nameless_n, device->nameless_size, 16));
	where.address = snapshot_address(snapshot, size);
	device->nameless[device->nameless_n++] =
		(struct snapshot_block){ where.address, size, stack, true };
	begin_own(snapshot, &where, true);
	snapshot_enter(snapshot, SNAPSHOT_ALLOC, &where);
}

/* Frees `size` bytes of the blocks that the event's stack allocated, the latest first. If a block
 * is larger than the bytes that remain to be freed, its remainder is allocated again. */
static void end_nameless(struct snapshot *snapshot, uint64_t size)
{
	struct snapshot_device *device = snapshot->device;

	for (size_t i = device->nameless_n; i-- && size;) {
		const struct snapshot_block was = device->nameless[i];

		if (was.stack != snapshot->event->stack)
			continue;
		memmove(&device->nameless[i], &device->nameless[i + 1],
			(device->nameless_n - i - 1) * sizeof(was));
		device->nameless_n--;
		snapshot_end_block(snapshot, was.size,
				   (struct snapshot_place){ was.address, true });
		snapshot_unplace(snapshot, was.size);
		if (was.size > size)
			begin_nameless(snapshot, was.stack, was.size - size);
		size -= was.size < size ? was.size : size;
	}
}

/* --- events --- */

static void take_end(struct snapshot *snapshot)
{
	const struct lives *lives = &snapshot->lives;
	const struct block *ended = &lives->ended;
	uint32_t id = lives->ended_id;
	struct snapshot_place place;

	if (!lives_counts(ended))
		return;
	if (ended->kind != BLOCK_HANDED) {
		snapshot_end_segment(snapshot);
	} else if (!ended->ptr) {
		end_nameless(snapshot, ended->size);
	} else if (lives->unseen) {
		end_unseen(snapshot, ended);
	} else if (snapshot_is_size(ended->size) && id <= snapshot->places_n) {
		place = snapshot->places[id - 1];
		snapshot_end_block(snapshot, ended->size, place);
		if (place.own && ended->pool)
			snapshot_unplace(snapshot, ended->size);
	}
}

static void take_begin(struct snapshot *snapshot)
{
	const struct block *begun = &snapshot->lives.begun;

	if (!lives_counts(begun))
		return;
	if (begun->kind != BLOCK_HANDED)
		snapshot_begin_segment(snapshot);
	else if (!begun->ptr)
		begin_nameless(snapshot, snapshot->event->stack, snapshot->event->size);
	else
		begin_block(snapshot);
}

static void take_oom(struct snapshot *snapshot)
{
	const struct event *event = snapshot->event;
	const struct trace_device *row = trace_device(snapshot->trace, event->device);
	struct snapshot_segment what = { .size = event->size };

	if (row && row->total_bytes && event->reserved != TRACE_NONE &&
	    row->total_bytes > event->reserved)
		what.address = row->total_bytes - event->reserved;
	snapshot_enter(snapshot, SNAPSHOT_OOM, &what);
}

/* Called where events are missing: discards the history of all earlier events. */
static void forget_block(struct snapshot *snapshot)
{
	foreach (device, snapshot->devices) {
		device->entries_n = 0;
		device->nameless_n = 0;
		device->summed = false;
		device->unplaced = device->placed = device->spare.size = 0;
		tdestroy(device->tree, free);
		device->tree = NULL;
	}
}

static void place_event(struct snapshot *snapshot, const struct event *event)
{
	struct lives *lives = &snapshot->lives;
	struct snapshot_device *device;
	int64_t allocated, reserved;

	if (lives_gap(lives, event))
		forget_block(snapshot);
	NEED(!lives_take(lives, event, trace_text(snapshot->trace, event->api)));
	if (event->device < 0 ||
	    !export_wants(snapshot->trace, snapshot->options, event->device, event->pool))
		return;
	device = device_of(snapshot, event->device);
	snapshot->event = event;
	snapshot->device = device;
	event_effect(event, &allocated, &reserved);
	device->allocated += (uint64_t)allocated;
	device->reserved += (uint64_t)reserved;
	if (event->pool && !event->ptr && !allocated)
		snapshot_reserve(snapshot, reserved);
	if (lives->ends)
		take_end(snapshot);
	if (lives->begins)
		take_begin(snapshot);
	if (event->op == EVENT_OOM)
		take_oom(snapshot);
}

/* Sets the devices' sums to those after the last event, which are exact even if events are missing.
 * Does nothing if a pool is selected, because events have no sums of pools. */
static void take_sums(struct snapshot *snapshot)
{
	const struct lives *lives = &snapshot->lives;

	foreach (row, snapshot->trace->summary.devices) {
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
	struct replay_wish end;
	int more = 1;
	int error;

	*snapshot = (struct snapshot){ .trace = trace,
				       .options = options,
				       .next_address = SNAPSHOT_ADDRESSES };
	/* false: filtered events count as missing, as their blocks may lie in known segments. */
	lives_start(&snapshot->lives, false);
	error = export_find_end(&end, trace, options);
	while (!error && (more = trace_next(trace, &event)) == 1 && !replay_is_behind(&end, &event))
		place_event(snapshot, &event);
	if (error || more < 0)
		return error ? error : -EINVAL;
	take_sums(snapshot);
	return 0;
}

void snapshot_clear(struct snapshot *snapshot)
{
	foreach (device, snapshot->devices) {
		tdestroy(device->tree, free);
		free(device->entries);
		free(device->nameless);
		free(device->segments);
		free(device->blocks);
	}
	free(snapshot->devices);
	free(snapshot->places);
	lives_clear(&snapshot->lives);
	*snapshot = (struct snapshot){ 0 };
}
