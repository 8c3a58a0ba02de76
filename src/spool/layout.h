/*
 * The spool file, byte by byte: a traced program writes it through a shared mapping.
 *
 *   - block 0: struct spool_header;
 *   - blocks 1 to 4: `uint32_t owner[SPOOL_BLOCKS]`, for each block its table and its index in
 *     this table (kind << 24 | index), 0 for a block that is not in use;
 *   - blocks 5 and on: parts of 128 KiB, each of one table (tables.def).
 *
 * A position in the file is also the offset in the mapping. Numbers are little-endian, as on every
 * machine that CUDA runs on; spool_open() refuses anything else.
 *
 * Crash consistency: all words that change together are changed in a transaction. `generation` is
 * odd while one is under way, and `undo` then holds the old values of the words that it has changed
 * so far. A reader copies until nothing changed during the copying, then puts old values back.
 * Elements beyond a table's count do not exist yet. A killed process stops between two instructions
 * and the kernel keeps what it wrote, so program order is all that is needed.
 *
 * The newest events may wait in `backlog`. Until they leave it they are in no sum and in no chunk,
 * and raise no peak. A reader applies them to its copy.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define SPOOL_MAGIC "MEMTRACE"

enum {
	SPOOL_VERSION = 3,
	SPOOL_BLOCK_SHIFT = 17,
	SPOOL_BLOCK = 1 << SPOOL_BLOCK_SHIFT,
	SPOOL_BLOCKS = 1 << 17, /* 16 GiB in all */
	SPOOL_OWNERS_AT = SPOOL_BLOCK,
	SPOOL_FIRST_BLOCK = 1 + SPOOL_BLOCKS * 4 / SPOOL_BLOCK,
	SPOOL_UNDO = 1024,
	SPOOL_WAITING = 64,
};

enum spool_kind {
#define TABLE(kind, type, shift, what) SPOOL_##kind,
#include "spool/tables.def"
	SPOOL_KINDS
};

enum spool_stop {
	SPOOL_RECORDING,
	SPOOL_CLOSED,    /* the process ended, or ended the recording */
	SPOOL_NO_SPACE,  /* a full file system, a quota, ulimit -f, or an error not listed here */
	SPOOL_VANISHED,  /* the file is no longer at its path, or may no longer be opened */
	SPOOL_TOO_LARGE, /* all addresses reserved by spool_reserve() are in use */
	SPOOL_NO_MEMORY,
	SPOOL_NO_FILES,  /* no descriptor was free when the file had to grow */
	SPOOL_ABANDONED, /* a thread held the recorder's lock for too long */
};

struct spool_undo_word {
	uint64_t where; /* position in the file of the 64-bit word whose earlier value is `old` */
	uint64_t old;
};

/* The hash table of live allocations: linear hashing, chains of NODE rows with heads in BUCKET. */
struct spool_live {
	uint64_t count;
	uint64_t buckets; /* number of buckets in use, from which the split point follows */
	uint64_t free;    /* 1 + the first node of the chain of free nodes, 0 for none */
};

enum spool_verb {
#define VERB(name, text, what) VERB_##name,
#include "spool/control_requests.def"
	VERBS
};

enum { SPOOL_REQUESTS = 8, SPOOL_REQUEST_TEXT = 92 };

/*
 * A request to the process by a tool (memtrace ctl). A tool that writes one holds flock(LOCK_EX) on
 * the file; at most SPOOL_REQUESTS requests wait. The process takes no lock, reads them at its next
 * memory event, and trusts nothing in them.
 */
struct spool_request {
	uint32_t verb; /* enum spool_verb */
	char text[SPOOL_REQUEST_TEXT];
};

/* Kinds of events whose cost is measured: driver calls, blocks of PyTorch, ranges and marks. */
enum spool_cost_kind { SPOOL_COST_DRIVER, SPOOL_COST_BLOCK, SPOOL_COST_RANGE, SPOOL_COSTS };

/* Sums over measured events: the ns that hooks took without the real calls; number of events. */
struct spool_cost {
	uint64_t ns, events;
};

/* A block that was allocated or freed and is not in the sums yet, as pending_put() stored it. */
struct spool_waiting {
	uint64_t t, ptr;
	int64_t size; /* bytes, less than 0 for a free */
	uint32_t stack, thread;
};

struct spool_backlog {
	uint64_t put;    /* number of blocks ever put here; block n is waiting[n % SPOOL_WAITING] */
	uint64_t booked; /* number of blocks that the sums include; changes together with them */
	uint32_t pool, api; /* text ids, common to all waiting blocks */
	int16_t device;
	uint16_t unused;
	uint32_t before; /* 1 + stack that stands for bytes from before recording, 0: none */
	struct spool_waiting waiting[SPOOL_WAITING];
};

struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct spool_header), which readers compare with theirs */
	uint64_t start_realtime; /* start of the process in ns since 1970; all `t` count from it */
	uint64_t start_monotonic;
	uint32_t pid, ppid;
	uint64_t boot_pid_start; /* start time (field 22 of /proc/PID/stat), as pids are reused */
	uint64_t place;          /* process_place(): identifies machine, boot and pid namespace */

	_Atomic uint64_t generation; /* odd inside a transaction */
	_Atomic uint32_t recording;  /* 1 while events are written, 0 while only sums are kept */
	_Atomic uint32_t stop;       /* enum spool_stop */
	_Atomic uint64_t late;       /* number of memory calls after the recording ended */
	_Atomic uint64_t nested;     /* calls lost in signal handlers that interrupted an update */

	uint64_t count[SPOOL_KINDS]; /* number of elements of each table */
	uint64_t blocks;             /* number of blocks in use, including the header's own */
	uint64_t seq;                /* number of events so far, which is the next event's number */
	uint64_t dropped; /* number of events that the ring dropped or that max_events excludes */
	uint64_t t;       /* time of the newest event, ns since process start */
	/* Each event reads `asked`, which is therefore next to words that each event changes. */
	_Atomic uint32_t asked; /* requests made so far; a tool counts one after writing it */
	_Atomic uint32_t acted; /* requests that the process has acted upon */
	uint64_t end;           /* time when the process ended, 0 until then */
	uint64_t paused;        /* number of events while `recording` was 0: only in the sums */
	uint64_t sample;        /* mean bytes between sampled blocks (MEMTRACE_SAMPLE), 0: off */
	uint64_t filtered;      /* events that MEMTRACE_FILTER excluded: only in the sums */
	uint64_t unmatched;     /* number of frees of memory whose allocation was not seen */
	struct spool_live live;
	uint64_t unkept;   /* words for which `undo` had no room: 0 unless the code has a fault */
	uint64_t doors[8]; /* uses of each way into a hook: enum door (capture/loader/hooks.h) */
	struct spool_cost costs[SPOOL_COSTS];
	uint64_t tick_ns;           /* for spool_call: ns per tick, times 2^32 */
	uint64_t witness_lost;      /* number of CUPTI's records that had no room */
	uint64_t spans;             /* rows ever put in the ring SPAN, which holds SPANS_MOST */
	uint64_t ooms;              /* failed allocations so far; the table OOM has some of them */
	_Atomic uint64_t abandoned; /* updates that a thread left unfinished and that were undone */
	uint64_t status;            /* 1 + the exit status, 0 if not known */
	uint64_t used_dropped;      /* number of rows that had no room in USED */

	struct spool_request requests[SPOOL_REQUESTS]; /* request n is at n % SPOOL_REQUESTS */
	uint64_t left_out[SPOOL_KINDS]; /* by table: rows not stored (ledger/bounds.def) */

	struct spool_backlog backlog;

	uint64_t undo_count;
	struct spool_undo_word undo[SPOOL_UNDO];
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_BLOCK, "the header must fit in one block");

/* The beginning of each CHUNK element; its records follow. */
struct spool_chunk {
	uint64_t first_seq;
	uint64_t t; /* time in ns, from which the first event's stored time counts */
	uint32_t events;
	uint32_t used; /* bytes of records */
	uint64_t unused[5];
};

_Static_assert(sizeof(struct spool_chunk) == 64, "a chunk's records must start at byte 64");

struct spool_fact {
	uint32_t key, value; /* text ids */
	uint32_t unused[2];
};

struct spool_thread {
	uint32_t thread, name;
	uint64_t t; /* time (ns) when the thread was first seen */
};

struct spool_module {
	uint64_t base; /* load bias: an address minus this is one of the ELF file's own addresses */
	uint64_t low, high;
	uint32_t path, build_id; /* text ids: path; build-id in hexadecimal, 0 for none */
	uint64_t unused[4];
};

enum frame_language {
	FRAME_NATIVE,
	FRAME_PYTHON,
	FRAME_NAMED, /* not code: a name for bytes without a stack */
};

struct spool_frame {
	uint32_t language;
	uint32_t module; /* native: 1 + index into MODULE, 0 for none */
	uint64_t offset; /* native: the return address minus the module's base */
	uint32_t function, file, line;
	uint32_t unused;
};

struct spool_stack {
	uint32_t step;                   /* index of its first frame in the table STEP */
	uint16_t native, python;         /* number of frames of each language, native ones first */
	uint32_t owner;                  /* text id: the library that allocated */
	uint32_t cell;                   /* 1 + its first spool_cell, 0 for none */
	uint64_t allocations, bytes;     /* events of op alloc with this stack: number, bytes */
	uint64_t frees, freed;           /* its allocations that were freed: number, bytes */
	uint64_t frees_here, freed_here; /* events of op free with this stack: number, bytes */
	uint64_t lifetime_min, lifetime_max; /* ns; of freed allocations, 0 if none is known */
	uint64_t entries;                    /* bit i: Python frame i was entered from C */
	uint64_t hash[2];
	uint32_t via_forward;  /* for a backward operator: stack of its forward operator, or 0 */
	uint32_t via_backward; /* for a thread without Python: the stack that called backward() */
	/* Estimates from the stack's samples: blocks in units of 1 / SAMPLE_PARTS, and bytes. */
	uint64_t estimated_parts, estimated_bytes;
};

enum scope_kind {
	SCOPE_NONE,
	SCOPE_DEVICE,
	SCOPE_POOL,
	SCOPE_OWNER,
	SCOPE_SPACE,
	SCOPE_NAMED, /* used bytes on a device that belong to no allocation; METRIC_USED only */
};

enum metric { METRIC_ALLOCATED, METRIC_RESERVED, METRIC_USED, METRICS };

struct spool_sum {
	uint64_t now, peak, peak_t; /* now and peak in bytes, peak_t in ns */
	uint64_t epoch;             /* raised when `peak` moves, see struct spool_cell */
};

struct spool_scope {
	uint32_t kind;        /* enum scope_kind */
	int32_t device;       /* NO_DEVICE for a SCOPE_SPACE, and for pools on the host */
	uint32_t name;        /* text id, 0 for a device; for a SCOPE_SPACE: enum space */
	uint32_t curve;       /* 1 + the number of its curve, 0 for none */
	uint64_t curve_state; /* number of points << 16 | shift << 8 | half (ledger/timeline.c) */
	uint64_t allocations, frees, ooms, retries;
	struct spool_sum sums[METRICS];
	/* Bytes of a device: parts of `used` now, range of `residual`, parts at the peak. */
	int64_t rounding, named, residual;
	int64_t residual_low, residual_high;
	int64_t rounding_at_used, named_at_used, residual_at_used;
	uint64_t used_samples;     /* number of samples; for a SCOPE_NAMED, of changes */
	uint32_t used_source;      /* text id: the source of `used`, such as "nvml" */
	uint32_t used_kind;        /* text id: the kind of a SCOPE_NAMED */
	uint64_t at_used[METRICS]; /* sums at the peak of the device's `used` */
};

/*
 * The bytes of one stack in one sum, now (`live`) and at the sum's peak. If `epoch` is the sum's
 * epoch, `at_peak` are the bytes at the peak. If `epoch` is older, nothing has changed since the
 * peak: `live` are the bytes at the peak.
 */
struct spool_cell {
	uint32_t sum;  /* index of the sum: scope * METRICS + metric */
	uint32_t next; /* 1 + the next cell of the same stack, 0 at the end */
	uint64_t live, live_count;
	uint64_t at_peak, at_peak_count;
	uint64_t epoch;
	uint64_t estimated, estimated_at_peak; /* bytes that its sampled blocks represent */
};

/* The kind of a live allocation, a part of its key in the hash table. */
enum node_kind {
	NODE_FREE,
	NODE_ADDRESS, /* a driver allocation; key: address */
	NODE_BLOCK,   /* a pool's block; key: address and pool */
	NODE_HANDLE,  /* memory of cuMemCreate, or imported; key: handle */
	NODE_MAPPING, /* a mapping of cuMemMap; key: address */
	NODE_ARRAY,
	NODE_CPU,      /* PyTorch's CPU tensors; key: host address */
	NODE_HELD,     /* a handle that was released, but still has mappings */
	NODE_EXTERNAL, /* memory of cuImportExternalMemory; key: handle */
	NODE_KINDS
};

enum node_flags {
	NODE_SEGMENT = 1, /* a pool's segment: its events are reserve and release */
	NODE_FOREIGN = 2, /* memory of another process: part of no sum */
	NODE_UNTOLD = 4,  /* its events are not written (MEMTRACE_FILTER) */
	NODE_SAMPLED = 8, /* a sample, which represents other blocks (MEMTRACE_SAMPLE) */
};

struct spool_node {
	uint64_t address;
	uint64_t size;
	uint64_t t;    /* time of the allocation in ns */
	uint32_t next; /* 1 + the next node of the chain, 0 at the end */
	uint32_t stack;
	uint32_t pool;  /* text id, 0 for none */
	uint32_t owner; /* text id */
	int16_t device;
	uint8_t kind, space;
	/* Counts of a handle. For imported memory, `references` is how often it was opened. */
	uint16_t references, mappings;
	/*
	 * For a mapping: 1 + its handle's node. For a stream-ordered block: its pool's handle. For
	 * other memory with an address, for arrays and external memory: the context whose end frees
	 * the memory. 0 for none.
	 */
	uint64_t link;
	uint32_t label; /* text id */
	uint8_t flags;
	uint8_t unused[3];
};

/* An allocation that failed for lack of memory, unless a framework caught the failure to try again.
 * The table OOM has SPOOL_OOMS rows: the first SPOOL_OOMS_FIRST failures, and the latest ones. */
enum { SPOOL_OOMS_FIRST = 8, SPOOL_OOMS = 32 };

struct spool_oom {
	uint64_t seq, t; /* number and time of its event */
	uint64_t size;
	uint64_t refused;     /* bytes of the failed driver call, 0 if none was made */
	uint64_t left, total; /* the device's free and total bytes from the driver, `total` 0 if
				 unknown. `left` includes bytes freed since the driver call */
	uint64_t used; /* bytes used: the last sample plus bytes reserved since; 0 if unknown */
	uint64_t allocated, reserved;           /* sums of the device */
	uint64_t pool_allocated, pool_reserved; /* sums of the framework, as it reported them */
	uint64_t allocations; /* number of the device's allocations before this one */
	uint32_t stack, thread;
	uint32_t pool, api; /* text ids */
	int16_t device;
	uint8_t space;
	uint8_t unused[13];
};

/* A sample of a device's used bytes; stored if a call changed them, or if `residual` changed. */
struct spool_used {
	uint64_t t;
	uint64_t used, reserved;           /* in bytes */
	int64_t rounding, named, residual; /* used = reserved + rounding + named + residual */
	int64_t bytes;            /* bytes that a call occupied; < 0: freed; 0: no such call */
	uint32_t name, kind, api; /* text ids */
	uint32_t stack, thread;
	int16_t device;
	uint16_t unused;
	uint64_t unused_too[6];
};

enum { CURVE_POINTS = 2048 };

/* A stretch of time on a curve: the sums at its two maxima (allocated, reserved) and at its end. */
struct spool_point {
	uint64_t stretch; /* number of the stretch: its time >> the shift in curve_state */
	struct {
		uint64_t t, allocated, reserved;
	} top, high, last;     /* maximum of allocated; maximum of reserved; the end */
	uint64_t used, used_t; /* bytes and time of the last sample, 0 for none */
	uint64_t unused[4];
};

#include "spool/layout_calls.h"

#define TABLE(kind, type, shift, what)               \
	_Static_assert(sizeof(type) == 1 << (shift), \
		       "the struct must have the size that tables.def gives");
#include "spool/tables.def"
