/*
 * A trace as PyTorch's memory snapshot: the segments and blocks at the end, and their history.
 *
 * PyTorch's viewer (torch/utils/viz/MemoryViz.js) replays the history backwards from the segments
 * at the end. At each step it must find every live block inside exactly one segment. So a block in
 * no known segment (of a plain cudaMalloc, or of a pool whose segments are not known) gets a
 * segment of its own. A block without an address, or at that of another block, gets a new address.
 */
#pragma once

#include "facts/lives.h"
#include "render/export/export.h"

enum snapshot_action {
	SNAPSHOT_ALLOC,
	SNAPSHOT_FREE, /* written as two entries: free_requested, free_completed */
	SNAPSHOT_SEGMENT_ALLOC,
	SNAPSHOT_SEGMENT_FREE,
	SNAPSHOT_SEGMENT_MAP,
	SNAPSHOT_SEGMENT_UNMAP,
	SNAPSHOT_OOM,
};

struct snapshot_entry {
	uint64_t address; /* for SNAPSHOT_OOM: the free bytes of the device */
	uint64_t size, stream, t;
	uint32_t stack; /* index into trace->stacks, UINT32_MAX if unknown */
	uint32_t api;   /* id of a text of the trace */
	uint8_t action;
};

struct snapshot_block {
	uint64_t address, size;
	uint32_t stack; /* index into trace->stacks, UINT32_MAX if unknown */
	bool known;     /* false: not one block but the sum of all unknown blocks */
};

struct snapshot_segment {
	uint64_t address, size;
	uint32_t stack;
	bool mapped;         /* cuMemMap() mapped it into a reserved address range */
	size_t first, count; /* index of its first block in blocks[], and number of blocks */
};

struct snapshot_device {
	int device;
	struct snapshot_entry *entries;
	size_t entries_n, entries_size;
	void *tree;                      /* live segments, in a tsearch(3) tree by address */
	struct snapshot_block *nameless; /* live blocks whose pool reports no addresses */
	size_t nameless_n, nameless_size;
	uint64_t allocated, reserved; /* sums of the selected events up to the current one */
	bool summed;                  /* false: events are missing, so these sums are wrong */
	uint64_t unplaced;            /* bytes reserved by pools that report no addresses */
	uint64_t placed; /* bytes of these pools' live blocks: each gets a segment of its own */
	struct snapshot_segment spare; /* for the other unplaced - placed bytes; size 0: none */
	uint64_t spare_room; /* the size to which `spare` can grow without a new address */

	/* Filled by snapshot_tile(): the state after the last event. */
	struct snapshot_segment *segments;
	struct snapshot_block *blocks;
	size_t segments_n, blocks_n;
};

struct snapshot_place { /* the address of a live block */
	uint64_t address;
	bool own; /* the block has a segment to itself */
};

struct snapshot {
	struct trace *trace;
	const struct selection_options *options;
	struct lives lives;
	struct snapshot_device *devices; /* indexed by the device's number */
	size_t devices_n;
	struct snapshot_place *places; /* places[i] is of lives.blocks.list[i] */
	size_t places_n;
	uint64_t next_address;

	/* The event that is being read, and its device. */
	const struct event *event;
	struct snapshot_device *device;
};

/* Builds the history from the trace's events. Returns 0 or -errno with err_text(); in either case
 * the caller calls snapshot_clear(). */
int snapshot_read(struct snapshot *snapshot, struct trace *trace,
		  const struct selection_options *options);
void snapshot_clear(struct snapshot *snapshot);

/* torch_snapshot_final_segments.c: fills segments[] and blocks[] with the state at the end. */
void snapshot_tile(struct snapshot *snapshot, struct snapshot_device *device);

/* Returns an address for `size` bytes that no program uses and no earlier call returned. */
uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size);

/* --- functions that the files torch_snapshot*.c share --- */

/* New addresses begin here, above those of programs: user space ends at 2^47 on x86-64 and usually
 * at 2^48 on arm64. The viewer stores addresses as doubles, which are exact below 2^53. */
#define SNAPSHOT_ADDRESSES ((uint64_t)1 << 50)

/* False for 0, and for sizes that are too large to be real. */
static inline bool snapshot_is_size(uint64_t size)
{
	return size && size < SNAPSHOT_ADDRESSES;
}

static inline bool snapshot_is_address(uint64_t address, uint64_t size)
{
	return address && address < SNAPSHOT_ADDRESSES && snapshot_is_size(size);
}

/* Returns a live segment of the current device that overlaps the range; NULL if none does. */
struct snapshot_segment *snapshot_segment_at(const struct snapshot *snapshot, uint64_t address,
					     uint64_t size);

/* Add a live segment to the current device (segments must not overlap); remove one of `device`. */
void snapshot_add_segment(struct snapshot *snapshot, struct snapshot_segment segment);
void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment);

/* Add the segment or mapping that the current event begins (lives.begun), or remove the one that it
 * ends (lives.ended). */
void snapshot_begin_segment(struct snapshot *snapshot);
void snapshot_end_segment(struct snapshot *snapshot);

/*
 * For pools that report no addresses (cudaMallocAsync): each live block has a segment of its own,
 * and one more segment has the other bytes that these pools have reserved, so that the segments sum
 * to the device's reserved bytes at each event. snapshot_place() and snapshot_unplace() add and
 * remove `size` bytes of live blocks; snapshot_reserve() changes the reserved bytes.
 */
void snapshot_place(struct snapshot *snapshot, uint64_t size);
void snapshot_unplace(struct snapshot *snapshot, uint64_t size);
void snapshot_reserve(struct snapshot *snapshot, int64_t change);

/* Adds an action on the range `where` to the history, with the current event's time and stack. */
void snapshot_enter(struct snapshot *snapshot, enum snapshot_action action,
		    const struct snapshot_segment *where);

/* Adds the free of a block of `size` bytes at `place` and, if place.own, of the block's segment. */
void snapshot_end_block(struct snapshot *snapshot, uint64_t size, struct snapshot_place place);
