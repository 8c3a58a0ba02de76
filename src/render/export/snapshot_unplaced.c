/* A trace in the words of PyTorch's memory snapshot: what pools keep and tell no place of. */
#include "render/export/snapshot_parts.h"

/* One segment without a block, as large as what is left: another one whenever that changes. */
static int keep_unplaced(struct snapshot *snapshot, struct snapshot_device *device,
			 const struct event *event)
{
	uint64_t size = device->unplaced > device->placed ? device->unplaced - device->placed : 0;
	struct snapshot_segment *old;
	int error = 0;

	if (size == device->spare.size || (size && !snapshot_is_size(size)))
		return 0;
	if (device->spare.size) {
		old = snapshot_segment_at(device, device->spare.address, 1);
		if (old)
			snapshot_drop_segment(device, old);
		error = snapshot_enter(snapshot, device, event, SNAPSHOT_SEGMENT_FREE,
				       &device->spare);
	}
	device->spare.size = size;
	if (error || !size)
		return error;
	if (size > device->spare_room) {
		/* Room for more, or the addresses that the viewer can count would be used up. */
		device->spare_room = snapshot_is_size(size * 2) ? size * 2 : size;
		device->spare.address = snapshot_address(snapshot, device->spare_room);
	}
	device->spare.stack = event->stack;
	error = snapshot_add_segment(snapshot, device, device->spare);
	return error ? error
		     : snapshot_enter(snapshot, device, event, SNAPSHOT_SEGMENT_ALLOC,
				      &device->spare);
}

int snapshot_place(struct snapshot *snapshot, struct snapshot_device *device,
		   const struct event *event, uint64_t size)
{
	device->placed += size;
	return keep_unplaced(snapshot, device, event);
}

int snapshot_unplace(struct snapshot *snapshot, struct snapshot_device *device,
		     const struct event *event, uint64_t size)
{
	device->placed -= size < device->placed ? size : device->placed;
	return keep_unplaced(snapshot, device, event);
}

int snapshot_reserve(struct snapshot *snapshot, struct snapshot_device *device,
		     const struct event *event, int64_t change)
{
	uint64_t less = change < 0 ? 0 - (uint64_t)change : 0;

	if (change >= 0)
		device->unplaced += (uint64_t)change;
	else
		device->unplaced -= less < device->unplaced ? less : device->unplaced;
	return keep_unplaced(snapshot, device, event);
}
