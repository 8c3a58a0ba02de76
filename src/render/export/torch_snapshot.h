/*
 * A trace as PyTorch's memory snapshot: the segments and blocks at the end, and their history.
 *
 * The viewer replays the history backwards, beginning with the segments at the end, and must find
 * each live block inside exactly one segment at every step (torch/utils/viz/MemoryViz.js). So a
 * block that lies in no known segment (a plain cudaMalloc, or a block of a pool whose segments are
 * not known) becomes a segment of its own. A block without an address, or with one that is taken,
 * gets a new address.
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
	uint32_t stack; /* position in trace->stacks, UINT32_MAX if unknown */
	uint32_t api;   /* id of a text of the trace */
	uint8_t action;
};

struct snapshot_block {
	uint64_t address, size;
	uint32_t stack; /* position in trace->stacks, UINT32_MAX if unknown */
	bool known;     /* false: a filler for bytes of unknown blocks */
};

struct snapshot_segment {
	uint64_t address, size;
	uint32_t stack;
	bool mapped;         /* made of physical memory mapped at reserved addresses */
	size_t first, count; /* position of its first block in blocks[], number of its blocks */
};

struct snapshot_device {
	int device;
	struct snapshot_entry *entries;
	size_t entries_n, entries_size;
	void *tree;                      /* live segments, a tree of tsearch(3) */
	struct snapshot_block *nameless; /* live blocks whose pool reports no addresses */
	size_t nameless_n, nameless_size;
	uint64_t allocated, reserved;  /* bytes, summed up from the selected events */
	bool summed;                   /* false: the two sums above lack bytes of missing events */
	uint64_t unplaced;             /* bytes reserved by pools that report no addresses */
	uint64_t placed;               /* the part of `unplaced` that has segments of its own */
	struct snapshot_segment spare; /* segment for unplaced - placed; size 0: no segment */
	uint64_t spare_room;           /* bytes to which `spare` can grow at its address */

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
	struct snapshot_place *places; /* parallel to lives.blocks.list */
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

/* Returns an address with `size` free bytes that no program uses; no address is returned twice. */
uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size);

/* --- shared by the files torch_snapshot*.c --- */

/* Programs use no addresses from here on: user space ends at 2^47 on x86-64, and on arm64 usually
 * at 2^48. The viewer's numbers are doubles, which are exact below 2^53. */
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

/* Returns a live segment of the current device that overlaps the range, NULL if there is none. */
struct snapshot_segment *snapshot_segment_at(const struct snapshot *snapshot, uint64_t address,
					     uint64_t size);

/* Add and remove a live segment of the current device. A new segment must not overlap another. */
void snapshot_add_segment(struct snapshot *snapshot, struct snapshot_segment segment);
void snapshot_drop_segment(struct snapshot_device *device, struct snapshot_segment *segment);

/* Add the segment or mapping lives.begun, which the event begins; or remove lives.ended. */
void snapshot_begin_segment(struct snapshot *snapshot);
void snapshot_end_segment(struct snapshot *snapshot);

/*
 * For pools that report no addresses (cudaMallocAsync): what such a pool has reserved beyond its
 * live blocks is one segment, so that at each event the segments sum to the device's reserved
 * bytes. snapshot_place() and snapshot_unplace() add and remove `size` bytes of live blocks, each
 * of which has a segment of its own; snapshot_reserve() changes the pool's reserved bytes.
 */
void snapshot_place(struct snapshot *snapshot, uint64_t size);
void snapshot_unplace(struct snapshot *snapshot, uint64_t size);
void snapshot_reserve(struct snapshot *snapshot, int64_t change);

/* Adds an entry about `where` to the history, with the time and stack of the current event. */
void snapshot_enter(struct snapshot *snapshot, enum snapshot_action action,
		    const struct snapshot_segment *where);

/* Frees a block of `size` bytes at `place`, and its segment if it has one to itself. */
void snapshot_end_block(struct snapshot *snapshot, uint64_t size, struct snapshot_place place);
