/*
 * A trace in the words of PyTorch's memory snapshot: segments, the blocks in them, and what
 * happened to both, in order.
 *
 * The viewer replays what happened backwards, from the segments at the end, and must find each
 * block that lives inside exactly one segment at every step (torch/utils/viz/MemoryViz.js). So a
 * block that lies in no pool's segment, as a plain cudaMalloc or a block of a pool whose segments
 * nobody knows, becomes a segment of its own; and what has no address, or one that is taken, gets
 * one.
 */
#pragma once

#include "facts/lives.h"
#include "render/export/export.h"

enum snapshot_action {
	SNAPSHOT_ALLOC,
	SNAPSHOT_FREE, /* two entries: requested and completed */
	SNAPSHOT_SEGMENT_ALLOC,
	SNAPSHOT_SEGMENT_FREE,
	SNAPSHOT_SEGMENT_MAP,
	SNAPSHOT_SEGMENT_UNMAP,
	SNAPSHOT_OOM,
};

struct snapshot_entry {
	uint64_t address; /* of an OOM: what was free */
	uint64_t size, stream, t;
	uint32_t stack; /* UINT32_MAX for none */
	uint32_t api;   /* a text of the trace */
	uint8_t action;
};

struct snapshot_block {
	uint64_t address, size;
	uint32_t stack; /* UINT32_MAX for none */
	bool known;     /* false: filler for bytes of which nothing is known */
};

struct snapshot_segment {
	uint64_t address, size;
	uint32_t stack;
	bool mapped;         /* addresses at which memory is mapped */
	size_t first, count; /* its blocks, by address */
};

struct snapshot_device {
	int device;
	struct snapshot_entry *entries;
	size_t entries_n, entries_size;
	void *tree;                      /* of live segments, tsearch(3) */
	struct snapshot_block *nameless; /* live blocks that their pool tells no address of */
	size_t nameless_n, nameless_size;
	uint64_t allocated, reserved;  /* of what was selected, by the events */
	bool summed;                   /* nothing is missing in these sums */
	uint64_t unplaced;             /* reserved by pools that do not tell where */
	uint64_t placed;               /* of it: blocks, each a segment of its own */
	struct snapshot_segment spare; /* the rest of it; of size 0 when there is none */
	uint64_t spare_room;           /* bytes that may lie at its address */

	/* Filled at the end. */
	struct snapshot_segment *segments;
	struct snapshot_block *blocks;
	size_t segments_n, blocks_n;
};

struct snapshot_place { /* of a block that lives */
	uint64_t address;
	bool own; /* it is a segment of its own */
};

struct snapshot {
	struct trace *trace;
	const struct selection_options *options;
	struct lives lives;
	struct snapshot_device *devices; /* by ordinal */
	size_t devices_n;
	struct snapshot_place *places; /* by position in lives.blocks.list */
	size_t places_n;
	uint64_t next_address;
	bool failed; /* no memory left: nothing that follows counts */

	/* The event being taken, and what it is about. */
	const struct event *event;
	struct snapshot_device *device;
};

/* Reads the events. 0 or -errno with err_text(); snapshot_clear() is due either way. */
int snapshot_read(struct snapshot *snapshot, struct trace *trace,
		  const struct selection_options *options);
void snapshot_clear(struct snapshot *snapshot);

/* snapshot_layout.c: segments and blocks of the device at the end. */
void snapshot_tile(struct snapshot *snapshot, struct snapshot_device *device);

/* An address that nothing else has. */
uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size);

/* --- between the files of snapshot*.c --- */

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

/* Of the device at hand: what lives in the range, if only a part of it; NULL for nothing. */
struct snapshot_segment *snapshot_segment_at(const struct snapshot *snapshot, uint64_t address,
					     uint64_t size);

/* Of a range in which nothing lives. */
void snapshot_add_segment(struct snapshot *snapshot, struct snapshot_segment segment);
void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment);

/* The event begins or ends a pool's segment or mapping: lives.begun, lives.ended. */
void snapshot_begin_segment(struct snapshot *snapshot);
void snapshot_end_segment(struct snapshot *snapshot);

/*
 * What a stream-ordered pool has reserved beyond the blocks that live is a segment of its own, so
 * that the segments are at each event what the device had reserved. These begin and end `size`
 * bytes of a pool's blocks, each a segment of its own; snapshot_reserve() is for an event that
 * tells a change of what such a pool has, and no address.
 */
void snapshot_place(struct snapshot *snapshot, uint64_t size);
void snapshot_unplace(struct snapshot *snapshot, uint64_t size);
void snapshot_reserve(struct snapshot *snapshot, int64_t change);

/* An entry of the range with the event's time and stack. */
void snapshot_enter(struct snapshot *snapshot, enum snapshot_action action,
		    const struct snapshot_segment *where);

/* So many bytes end at their place, and with them a segment of their own. */
void snapshot_end_block(struct snapshot *snapshot, uint64_t size, struct snapshot_place place);
