/*
 * A trace as PyTorch's memory snapshot: segments, the blocks in them, and the history of both, in
 * order.
 *
 * The viewer replays the history backwards, beginning with the segments at the end, and must find
 * each live block inside exactly one segment at every step (torch/utils/viz/MemoryViz.js). So a
 * block that lies in no known segment (a plain cudaMalloc, or a block of a pool whose segments are
 * not known) becomes a segment of its own. A block without an address, or at one that is taken,
 * gets a new address.
 */
#pragma once

#include "facts/lives.h"
#include "render/export/export.h"

enum snapshot_action {
	SNAPSHOT_ALLOC,
	SNAPSHOT_FREE, /* written as two entries: free_requested and free_completed */
	SNAPSHOT_SEGMENT_ALLOC,
	SNAPSHOT_SEGMENT_FREE,
	SNAPSHOT_SEGMENT_MAP,
	SNAPSHOT_SEGMENT_UNMAP,
	SNAPSHOT_OOM,
};

struct snapshot_entry {
	uint64_t address; /* of an OOM: the bytes that were free */
	uint64_t size, stream, t;
	uint32_t stack; /* UINT32_MAX for none */
	uint32_t api;   /* the number of a text of the trace */
	uint8_t action;
};

struct snapshot_block {
	uint64_t address, size;
	uint32_t stack; /* UINT32_MAX for none */
	bool known;     /* false: filler for bytes of which only the sum is known */
};

struct snapshot_segment {
	uint64_t address, size;
	uint32_t stack;
	bool mapped;         /* memory mapped at reserved addresses */
	size_t first, count; /* its blocks, by address */
};

struct snapshot_device {
	int device;
	struct snapshot_entry *entries;
	size_t entries_n, entries_size;
	void *tree;                      /* of live segments, for tsearch(3) */
	struct snapshot_block *nameless; /* live blocks for which the pool reports no address */
	size_t nameless_n, nameless_size;
	uint64_t allocated, reserved;  /* sums of the selection, by the events */
	bool summed;                   /* both sums are complete */
	uint64_t unplaced;             /* reserved by pools that report no addresses */
	uint64_t placed;               /* the part of it in blocks, each a segment of its own */
	struct snapshot_segment spare; /* a segment for the rest; of size 0 if there is none */
	uint64_t spare_room;           /* bytes that are free for it at its address */

	/* Filled at the end. */
	struct snapshot_segment *segments;
	struct snapshot_block *blocks;
	size_t segments_n, blocks_n;
};

struct snapshot_place { /* of a live block */
	uint64_t address;
	bool own; /* the block is a segment of its own */
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
	bool failed; /* no memory left: the snapshot must not be used */

	/* The event being read, and its device. */
	const struct event *event;
	struct snapshot_device *device;
};

/* Reads the events. 0 or -errno with err_text(); the caller calls snapshot_clear(). */
int snapshot_read(struct snapshot *snapshot, struct trace *trace,
		  const struct selection_options *options);
void snapshot_clear(struct snapshot *snapshot);

/* snapshot_layout.c: fills the segments and blocks of the device at the end. */
void snapshot_tile(struct snapshot *snapshot, struct snapshot_device *device);

/* Returns a new address with room for `size` bytes, at which nothing else lies. */
uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size);

/* --- shared by the files snapshot*.c --- */

/* Addresses from here on are used by no program: user space of x86-64 ends at 2^47, that of arm64
 * at 2^48 as a rule. The viewer's numbers are doubles, which are exact below 2^53. */
#define SNAPSHOT_ADDRESSES ((uint64_t)1 << 50)

/* Larger sizes cannot be real, and the viewer could not represent them. */
static inline bool snapshot_is_size(uint64_t size)
{
	return size && size < SNAPSHOT_ADDRESSES;
}

static inline bool snapshot_is_address(uint64_t address, uint64_t size)
{
	return address && address < SNAPSHOT_ADDRESSES && snapshot_is_size(size);
}

/* A live segment of the current device that overlaps the range; NULL for none. */
struct snapshot_segment *snapshot_segment_at(const struct snapshot *snapshot, uint64_t address,
					     uint64_t size);

/* Add a segment to the current device where nothing is live; remove one. */
void snapshot_add_segment(struct snapshot *snapshot, struct snapshot_segment segment);
void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment);

/* Begin and end a pool's segment or mapping: the event's lives.begun or lives.ended. */
void snapshot_begin_segment(struct snapshot *snapshot);
void snapshot_end_segment(struct snapshot *snapshot);

/*
 * The bytes that a stream-ordered pool has reserved beyond its live blocks are a segment of their
 * own, so that at each event all segments together are what the device had reserved. The first two
 * begin and end `size` bytes of a pool's blocks, each block a segment of its own;
 * snapshot_reserve() is for an event that changes the pool's reserved bytes and has no address.
 */
void snapshot_place(struct snapshot *snapshot, uint64_t size);
void snapshot_unplace(struct snapshot *snapshot, uint64_t size);
void snapshot_reserve(struct snapshot *snapshot, int64_t change);

/* Adds an entry to the history: the range, with the time and stack of the current event. */
void snapshot_enter(struct snapshot *snapshot, enum snapshot_action action,
		    const struct snapshot_segment *where);

/* Ends a block of `size` bytes, and its segment if that is the block's own. */
void snapshot_end_block(struct snapshot *snapshot, uint64_t size, struct snapshot_place place);
