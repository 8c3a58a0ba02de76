/*
 * The spool file, byte by byte: a traced program writes it through a shared mapping.
 *
 *   - block 0: struct spool_header;
 *   - blocks 1 to 4: `uint32_t owner[SPOOL_BLOCKS]`, for each block its table and its place in
 *     that (kind << 24 | index), 0 for a block that is not in use;
 *   - blocks 5 and on: parts of 128 KiB, each of one table (tables.def).
 *
 * This header describes all that is in the file: nothing else is needed to read one.
 *
 * A position in the file is a position in the mapping. Numbers are little-endian, as on every
 * machine that CUDA runs on; spool_open() refuses anything else.
 *
 * Crash consistency: all words that change together are changed in a transaction. `generation` is
 * odd while one is under way, and `undo` then holds the old values of the words that it has changed
 * so far. A reader of a dead process's spool rolls back, and a reader of a live one tries again.
 * Elements beyond a table's count do not exist yet. A killed process stops between two instructions
 * and its page cache stays, so program order is all that is needed.
 *
 * The newest events may wait in `backlog`. They are in no sum and in no chunk yet, and raise no
 * peak. A reader books them in its copy.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define SPOOL_MAGIC "MEMTRACE"

enum {
	SPOOL_VERSION = 3,
	SPOOL_BLOCK_SHIFT = 17,
	SPOOL_BLOCK = 1 << SPOOL_BLOCK_SHIFT,
	SPOOL_BLOCKS = 1 << 17, /* 16 GiB at most */
	SPOOL_OWNERS_AT = SPOOL_BLOCK,
	SPOOL_FIRST_BLOCK = 1 + SPOOL_BLOCKS * 4 / SPOOL_BLOCK,
	SPOOL_UNDO = 1024,
	SPOOL_WAITING = 64,
};

enum spool_kind {
#define TABLE(kind, type, shift, what) SPOOL_##kind,
#include "spool/tables.def"
#undef TABLE
	SPOOL_KINDS
};

/* The reason why recording stopped. */
enum spool_stop {
	SPOOL_RECORDING,
	SPOOL_CLOSED,    /* the process ended or closed it */
	SPOOL_NO_SPACE,  /* the file system is full, or a quota or ulimit -f forbids more */
	SPOOL_VANISHED,  /* the file is no longer where it was made */
	SPOOL_TOO_LARGE, /* SPOOL_BLOCKS are in use */
	SPOOL_NO_MEMORY,
	SPOOL_NO_FILES,  /* no descriptor was free when it had to grow */
	SPOOL_ABANDONED, /* a thread ended inside an update */
};

struct spool_undo_word {
	uint64_t where; /* position in the file. Bit 0 is set for a 32-bit word, which older
			   libraries wrote */
	uint64_t old;
};

/* The hash table of live allocations: linear hashing over BUCKET heads and NODE chains. */
struct spool_live {
	uint64_t count;
	uint64_t buckets; /* in use; the split point follows from it */
	uint64_t free;    /* 1 + node, the head of the chain of free nodes */
};

enum spool_verb {
#define VERB(name, text, what) VERB_##name,
#include "spool/verbs.def"
#undef VERB
	VERBS
};

enum { SPOOL_REQUESTS = 8, SPOOL_REQUEST_TEXT = 92 };

/*
 * A request of a tool to the process (memtrace ctl). A tool that writes one holds flock(LOCK_EX) on
 * the file; there are at most SPOOL_REQUESTS that were not acted upon. The process takes no lock,
 * looks at its next memory event, and trusts nothing in here.
 */
struct spool_request {
	uint32_t verb; /* enum spool_verb */
	char text[SPOOL_REQUEST_TEXT];
};

/* Kinds of hooks that cost the program time: calls, blocks of PyTorch, ranges and marks. */
enum spool_cost_kind { SPOOL_COST_DRIVER, SPOOL_COST_BLOCK, SPOOL_COST_RANGE, SPOOL_COSTS };

/* A sample: ns spent inside hooks, without the real calls, in this many events. */
struct spool_cost {
	uint64_t ns, events;
};

/* A block that was allocated or freed and is not booked yet: an event that pending_put() got. */
struct spool_waiting {
	uint64_t t, ptr;
	int64_t size; /* negative for a free */
	uint32_t stack, thread;
};

struct spool_backlog {
	uint64_t put;       /* the number put so far; the n-th is waiting[n % SPOOL_WAITING] */
	uint64_t booked;    /* the number booked; changed by the transaction that books them */
	uint32_t pool, api; /* texts; the same for all that wait */
	int16_t device;
	uint16_t unused;
	uint32_t before; /* 1 + the stack of bytes from before the recording, 0 for none */
	struct spool_waiting waiting[SPOOL_WAITING];
};

struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;   /* sizeof(struct spool_header), a guard against a mismatch */
	uint64_t start_realtime; /* ns since 1970, at the instant that times count from */
	uint64_t start_monotonic;
	uint32_t pid, ppid;
	uint64_t boot_pid_start; /* field 22 of /proc/PID/stat, which differs for a later process
				    with this pid */
	uint64_t place;          /* the machine and pid namespace (process_place(), spool.h) */

	_Atomic uint64_t generation; /* odd inside a transaction */
	_Atomic uint32_t recording;  /* 1 while events are on, 0 while only the sums go on */
	_Atomic uint32_t stop;       /* enum spool_stop */
	_Atomic uint64_t late;       /* memory calls after recording ended */
	_Atomic uint64_t nested; /* and calls in signal handlers that had interrupted an update */

	uint64_t count[SPOOL_KINDS]; /* the number of elements of each table */
	uint64_t blocks;             /* in use, including the header's own */
	uint64_t seq;     /* the number of events so far, which is the next one's number */
	uint64_t dropped; /* of these, the events that are not kept any more */
	uint64_t t;       /* of the newest event, ns since process start */
	/* Counts of requests, beside words that each event changes, as each looks at `asked`. */
	_Atomic uint32_t asked; /* written by tools, after the request itself */
	_Atomic uint32_t acted; /* of those, the ones that the process acted upon */
	uint64_t end;           /* when the process ended, 0 before */
	uint64_t paused; /* events while memtrace_stop() was in force: they moved sums and were not
			    written */
	uint64_t sample; /* mean bytes from sample to sample (MEMTRACE_SAMPLE), 0: all blocks are
			    recorded */
	uint64_t filtered;  /* events that MEMTRACE_FILTER left out: the same */
	uint64_t unmatched; /* frees of addresses that were never seen */
	struct spool_live live;
	uint64_t unkept; /* words of transactions that found `undo` full: always 0 unless there is a
			    fault */
	uint64_t doors[8]; /* enum door, capture's */
	struct spool_cost costs[SPOOL_COSTS];
	uint64_t tick_ns;      /* for spool_call: 2^32 times the ns of a tick */
	uint64_t witness_lost; /* records of CUPTI that had no room */
	uint64_t spans;        /* the number so far; the table holds the last SPANS_MOST */
	uint64_t ooms;         /* the number of all; the table OOM keeps some */
	_Atomic uint64_t
		abandoned;     /* updates that a thread left unfinished and that were taken back */
	uint64_t status;       /* 1 + the exit status, 0 when it is not known */
	uint64_t used_dropped; /* samples that had no room in USED */

	struct spool_request requests[SPOOL_REQUESTS]; /* the n-th at n % SPOOL_REQUESTS */
	uint64_t left_out[SPOOL_KINDS]; /* rows that had no room in a full table: ledger/bounds.def
					 */

	struct spool_backlog backlog;

	uint64_t undo_count;
	struct spool_undo_word undo[SPOOL_UNDO];
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_BLOCK, "the header is one block");

/* At the start of each CHUNK element, before the records. */
struct spool_chunk {
	uint64_t first_seq;
	uint64_t t; /* the time that the first record's time counts from */
	uint32_t events;
	uint32_t used; /* bytes of records */
	uint64_t unused[5];
};

_Static_assert(sizeof(struct spool_chunk) == 64, "records start at byte 64");

struct spool_fact {
	uint32_t key, value; /* texts */
	uint32_t unused[2];
};

struct spool_thread {
	uint32_t thread, name;
	uint64_t t; /* when it was first seen */
};

struct spool_module {
	uint64_t base; /* load bias: an address less this is an offset in the ELF file's own
			  addresses */
	uint64_t low, high;
	uint32_t path, build_id; /* texts; the build-id in hexadecimal, 0 for none */
	uint64_t unused[4];
};

enum frame_language {
	FRAME_NATIVE,
	FRAME_PYTHON,
	FRAME_NAMED, /* no code: a name for bytes without a stack */
};

struct spool_frame {
	uint32_t language;
	uint32_t module; /* native: 1 + module, 0 for none */
	uint64_t offset; /* native: the return address less the module's base */
	uint32_t function, file, line;
	uint32_t unused;
};

struct spool_stack {
	uint32_t step;                       /* its first STEP */
	uint16_t native, python;             /* the number of steps of each, native first */
	uint32_t owner;                      /* text: the library that asked */
	uint32_t cell;                       /* 1 + the first of its chain of cells */
	uint64_t allocations, bytes;         /* events of op alloc with this stack */
	uint64_t frees, freed;               /* of those allocations */
	uint64_t frees_here, freed_here;     /* events of op free with this stack */
	uint64_t lifetime_min, lifetime_max; /* ns, of those freed; 0 if none is known */
	uint64_t entries;                    /* bit i: Python frame i was entered from C */
	uint64_t hash[2];
	uint32_t via_forward;  /* stack: of the operator that this is the backward of, 0 for unknown
				*/
	uint32_t via_backward; /* stack: of the call of backward(), on a thread without Python */
	/* The blocks and bytes that its sampled allocations stand for, blocks in SAMPLE_PARTS. */
	uint64_t estimated_parts, estimated_bytes;
};

enum scope_kind {
	SCOPE_NONE,
	SCOPE_DEVICE,
	SCOPE_POOL,
	SCOPE_OWNER,
	SCOPE_SPACE,
	SCOPE_NAMED, /* bytes that are in use on a device and belong to no allocation; METRIC_USED
			only */
};

enum metric { METRIC_ALLOCATED, METRIC_RESERVED, METRIC_USED, METRICS };

struct spool_sum {
	uint64_t now, peak, peak_t; /* bytes, bytes, ns */
	uint64_t epoch;             /* counts peaks (struct spool_cell) */
};

struct spool_scope {
	uint32_t kind;        /* enum scope_kind */
	int32_t device;       /* NO_DEVICE for a space */
	uint32_t name;        /* text: of the pool, owner or space */
	uint32_t curve;       /* 1 + the curve's number, 0 for none */
	uint64_t curve_state; /* points << 16 | shift << 8 | half; one word, so that it changes at
				 once */
	uint64_t allocations, frees, ooms, retries;
	struct spool_sum sums[METRICS];
	/* Of a device, at the last sample of `used`: see ledger/used.h. */
	int64_t rounding, named, residual;
	int64_t residual_low, residual_high;
	int64_t rounding_at_used, named_at_used, residual_at_used;
	uint64_t used_samples;     /* of a name: the number of its steps */
	uint32_t used_source;      /* text */
	uint32_t used_kind;        /* text, of a name */
	uint64_t at_used[METRICS]; /* the sums at the peak of `used` */
};

/*
 * The `live` bytes of one stack in one sum. If `epoch` is the sum's epoch, `at_peak` are the bytes
 * at the sum's peak. With an older epoch nothing has changed since the peak, and `live` are these
 * bytes.
 */
struct spool_cell {
	uint32_t sum;  /* scope * METRICS + metric */
	uint32_t next; /* 1 + the next cell of the same stack */
	uint64_t live, live_count;
	uint64_t at_peak, at_peak_count;
	uint64_t epoch;
	uint64_t estimated, estimated_at_peak; /* bytes that the sampled ones of them stand for */
};

/* The kind of a live allocation. Addresses of different kinds do not collide. */
enum node_kind {
	NODE_FREE,
	NODE_ADDRESS, /* a driver allocation, by address */
	NODE_BLOCK,   /* a pool's block, by address and pool */
	NODE_HANDLE,  /* cuMemCreate's */
	NODE_MAPPING, /* cuMemMap's, by address */
	NODE_ARRAY,
	NODE_CPU,      /* PyTorch's CPU tensors, by host address */
	NODE_HELD,     /* a handle that was released but is still mapped: found through its mappings
			  only */
	NODE_EXTERNAL, /* cuImportExternalMemory's, by handle */
	NODE_KINDS
};

enum node_flags {
	NODE_SEGMENT = 1, /* a pool's: reserve and release, not alloc and free */
	NODE_FOREIGN = 2, /* imported: counts 0 */
	NODE_UNTOLD = 4,  /* its events are not written (MEMTRACE_FILTER) */
	NODE_SAMPLED = 8, /* stands for others like it (MEMTRACE_SAMPLE) */
};

struct spool_node {
	uint64_t address;
	uint64_t size;
	uint64_t t;    /* when it was allocated */
	uint32_t next; /* 1 + the next of the chain */
	uint32_t stack;
	uint32_t pool;  /* text, 0 for none */
	uint32_t owner; /* text */
	int16_t device;
	uint8_t kind, space;
	uint16_t references,
		mappings; /* of a handle; for imported memory the number of times that it is open */
	/*
	 * Of a mapping: its handle, as 1 + node. Of a stream-ordered block: its pool. Of other
	 * memory with an address, of an array and of external memory: the context that it ends
	 * with. 0 for none.
	 */
	uint64_t link;
	uint32_t label; /* text */
	uint8_t flags;
	uint8_t unused[3];
};

/* The facts at an allocation that failed because memory ran out and that nobody caught. The first
 * SPOOL_OOMS_FIRST are kept, and the latest. */
enum { SPOOL_OOMS_FIRST = 8, SPOOL_OOMS = 32 };

struct spool_oom {
	uint64_t seq, t; /* of its event */
	uint64_t size;
	uint64_t refused; /* bytes of the driver call that failed beneath it, 0: the driver was not
			     called */
	uint64_t left, total; /* of the device, as the driver reported; total 0: it was not asked.
				 Memory that was given back since counts as left */
	uint64_t used;        /* by the last sample, and reserved since; 0: not known */
	uint64_t allocated, reserved;           /* the device's sums */
	uint64_t pool_allocated, pool_reserved; /* the framework's sums, as it reported them */
	uint64_t allocations;                   /* of the device, up to then */
	uint32_t stack, thread;
	uint32_t pool, api; /* texts */
	int16_t device;
	uint8_t space;
	uint8_t unused[13];
};

/* A sample of `used` at which bytes came, went or could not be explained. */
struct spool_used {
	uint64_t t;
	uint64_t used, reserved;           /* bytes */
	int64_t rounding, named, residual; /* used = reserved + rounding + named + residual */
	int64_t bytes;                     /* of the step, 0 for none */
	uint32_t name, kind, api;          /* texts */
	uint32_t stack, thread;
	int16_t device;
	uint16_t unused;
	uint64_t unused_too[6];
};

enum { CURVE_POINTS = 2048 };

/* One stretch of time: both maxima, each with the other sum at that moment, and the end. */
struct spool_point {
	uint64_t stretch; /* t >> shift */
	struct {
		uint64_t t, allocated, reserved;
	} top, high, last;     /* the most allocated, the most reserved, and the end */
	uint64_t used, used_t; /* the last sample, 0 for none */
	uint64_t unused[4];
};

#include "spool/layout_calls.h"

#define TABLE(kind, type, shift, what) \
	_Static_assert(sizeof(type) == 1 << (shift), "the size that tables.def gives");
#include "spool/tables.def"
#undef TABLE
