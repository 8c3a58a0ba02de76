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
#ifndef RENDER_EXPORT_SNAPSHOT_H
#define RENDER_EXPORT_SNAPSHOT_H

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
	uint64_t from; /* events before this time are left out: some are missing behind them */
};

/* Reads the events. 0 or -errno with err_text(); snapshot_clear() is due either way. */
int snapshot_read(struct snapshot *snapshot, struct trace *trace,
		  const struct selection_options *options);
void snapshot_clear(struct snapshot *snapshot);

/* snapshot_layout.c: segments and blocks of the device at the end: 0 or -errno with err_text(). */
int snapshot_tile(struct snapshot *snapshot, struct snapshot_device *device);

/* An address that nothing else has. */
uint64_t snapshot_address(struct snapshot *snapshot, uint64_t size);

#endif
