/* What the parts of a snapshot share: segments that live, by address, and entries. */
#ifndef RENDER_EXPORT_SNAPSHOT_PARTS_H
#define RENDER_EXPORT_SNAPSHOT_PARTS_H

#include "render/export/snapshot.h"

/*
 * From here on lies nothing of a program: user space of x86-64 ends at 2^47, that of arm64 at 2^48
 * as a rule; and the viewer's numbers are doubles, exact below 2^53.
 */
#define SNAPSHOT_ADDRESSES ((uint64_t)1 << 50)

/* Sizes beyond are nobody's memory, and would be no number for the viewer. */
static inline bool snapshot_is_size(uint64_t size)
{
	return size && size < SNAPSHOT_ADDRESSES;
}

static inline bool snapshot_is_address(uint64_t address, uint64_t size)
{
	return address && address < SNAPSHOT_ADDRESSES && snapshot_is_size(size);
}

/* What lives in the range, if only a part of it; NULL for nothing. */
struct snapshot_segment *snapshot_segment_at(const struct snapshot_device *device, uint64_t address,
					     uint64_t size);

/* Of a range in which nothing lives: 0 or -errno with err_text(). */
int snapshot_add_segment(struct snapshot *snapshot, struct snapshot_device *device,
			 struct snapshot_segment segment);
void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment);

/* The event begins or ends a pool's segment or mapping: lives.begun, lives.ended. */
int snapshot_begin_segment(struct snapshot *snapshot, struct snapshot_device *device,
			   const struct event *event);
int snapshot_end_segment(struct snapshot *snapshot, struct snapshot_device *device,
			 const struct event *event);

/*
 * snapshot_unplaced.c: what a stream-ordered pool has reserved beyond the blocks that live is a
 * segment of its own, so that the segments are at each event what the device had reserved. These
 * begin and end `size` bytes of a pool's blocks, each a segment of its own; snapshot_reserve() is
 * for an event that tells a change of what such a pool has, and no address.
 */
int snapshot_place(struct snapshot *snapshot, struct snapshot_device *device,
		   const struct event *event, uint64_t size);
int snapshot_unplace(struct snapshot *snapshot, struct snapshot_device *device,
		     const struct event *event, uint64_t size);
int snapshot_reserve(struct snapshot *snapshot, struct snapshot_device *device,
		     const struct event *event, int64_t change);

/* An entry of the range with the event's time and stack. */
int snapshot_enter(struct snapshot *snapshot, struct snapshot_device *device,
		   const struct event *event, enum snapshot_action action,
		   const struct snapshot_segment *where);

/* The block ends at its place, and its own segment with it. */
int snapshot_end_block(struct snapshot *snapshot, struct snapshot_device *device,
		       const struct event *event, const struct block *block,
		       struct snapshot_place place);

#endif
