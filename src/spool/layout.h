/*
 * The spool file: what a traced program leaves in a shared mapping, byte by byte.
 *
 *   - block 0: struct spool_header;
 *   - blocks 1 to 4: `uint32_t owner[SPOOL_BLOCKS]`, which table and which part of it a block is
 *     (kind << 24 | index), 0 for a block not in use;
 *   - blocks 5 and on: parts of 128 KiB, each of one table (tables.def).
 *
 * All that is in the file is told here, and nothing else: who knows this header can read one.
 *
 * A position in the file is a position in the mapping. Numbers are little-endian, as on every
 * machine that CUDA runs on; spool_open() refuses anything else.
 *
 * Crash consistency: everything that changes together is a transaction. `generation` is odd while
 * one is under way, and `undo` then holds the old values of the words it has changed so far, so a
 * reader of a dead process's spool rolls back and a reader of a live one tries again. Elements that
 * a table's count does not include yet do not exist. A killed process stops between two
 * instructions and its page cache stays, so program order is all that is needed.
 *
 * The newest events may wait in `backlog`: no sum has them yet, no chunk, and they raise no peak.
 * A reader books them in its copy.
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

/* Why recording stopped, if it did. */
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
	uint64_t where; /* position in the file; bit 0 set, as older libraries wrote: 32 bits */
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
 * What a tool asks of the process (memtrace ctl). A tool that writes one holds flock(LOCK_EX) on
 * the file, and there are never more than SPOOL_REQUESTS that were not acted upon. The process
 * takes no lock, looks at its next memory event, and trusts nothing that stands here.
 */
struct spool_request {
	uint32_t verb; /* enum spool_verb */
	char text[SPOOL_REQUEST_TEXT];
};

/* What costs the program time: calls of CUDA, blocks of PyTorch's, ranges and marks. */
enum spool_cost_kind { SPOOL_COST_DRIVER, SPOOL_COST_BLOCK, SPOOL_COST_RANGE, SPOOL_COSTS };

/* Sampled: ns spent inside hooks, less the real calls, of so many events. */
struct spool_cost {
	uint64_t ns, events;
};

/* A block that came or went and is not booked yet: as an event that ledger/pending.h was given. */
struct spool_waiting {
	uint64_t t, ptr;
	int64_t size; /* negative: it was freed */
	uint32_t stack, thread;
};

struct spool_backlog {
	uint64_t put;       /* so far; the n-th is waiting[n % SPOOL_WAITING] */
	uint64_t booked;    /* of them: changed by the transaction that books them */
	uint32_t pool, api; /* texts; of all that wait */
	int16_t device;
	uint16_t unused;
	uint32_t before; /* 1 + the stack of bytes from before the recording, 0 for none */
	struct spool_waiting waiting[SPOOL_WAITING];
};

struct spool_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;   /* sizeof(struct spool_header), a guard against a mismatch */
	uint64_t start_realtime; /* ns since 1970, of the instant that times count from */
	uint64_t start_monotonic;
	uint32_t pid, ppid;
	uint64_t boot_pid_start; /* field 22 of /proc/PID/stat: tells a living process from its
				    successor */
	uint64_t place;          /* which machine and pid namespace that is (spool.h) */

	_Atomic uint64_t generation; /* odd inside a transaction */
	_Atomic uint32_t recording;  /* 1 while events are on, 0 while only the sums go on */
	_Atomic uint32_t stop;       /* enum spool_stop */
	_Atomic uint64_t late;       /* memory calls after recording ended */
	_Atomic uint64_t nested;     /* and of signal handlers that had interrupted an update */

	uint64_t count[SPOOL_KINDS]; /* elements of each table */
	uint64_t blocks;             /* claimed, the header's own included */
	uint64_t seq;                /* events so far: the number of the next one */
	uint64_t dropped;            /* of them, those that detail no longer holds */
	uint64_t t;                  /* of the newest event, ns since process start */
	/* Counts of requests: beside what each event changes, for each event looks at `asked`. */
	_Atomic uint32_t asked; /* written by tools, behind the request itself */
	_Atomic uint32_t acted; /* of those, acted upon by the process */
	uint64_t end;           /* when the process ended, 0 before */
	uint64_t paused;    /* events while memtrace_stop() was in force: sums moved, no detail */
	uint64_t sample;    /* bytes from sample to sample (MEMTRACE_SAMPLE), 0: all are taken */
	uint64_t filtered;  /* events that MEMTRACE_FILTER left out: the same */
	uint64_t unmatched; /* frees of addresses that were never seen */
	struct spool_live live;
	uint64_t unkept;   /* words of transactions that found `undo` full: 0 in a right build */
	uint64_t doors[8]; /* enum door, capture's */
	struct spool_cost costs[SPOOL_COSTS];
	uint64_t tick_ns;           /* of spool_call: 2^32 times the ns of a tick */
	uint64_t witness_lost;      /* records of CUPTI's that found no room */
	uint64_t spans;             /* so far; the table holds the last SPANS_MOST */
	uint64_t ooms;              /* all of them, of which SPOOL_OOM keeps some */
	_Atomic uint64_t abandoned; /* updates that their thread left half done, taken back */
	uint64_t status;            /* 1 + the exit status, 0 when it is not known */
	uint64_t used_dropped;      /* samples that found no room in USED */

	struct spool_request requests[SPOOL_REQUESTS]; /* the n-th at n modulo that */
	uint64_t left_out[SPOOL_KINDS]; /* what found its table full: ledger/bounds.def */

	struct spool_backlog backlog;

	uint64_t undo_count;
	struct spool_undo_word undo[SPOOL_UNDO];
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_BLOCK, "the header is one block");

/* At the start of each CHUNK element; records follow. */
struct spool_chunk {
	uint64_t first_seq;
	uint64_t t; /* what the first record's time counts from */
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
	FRAME_NAMED, /* no code: a name that bytes without a stack are booked under */
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
	uint16_t native, python;             /* how many of each follow, native first */
	uint32_t owner;                      /* text: the library that asked */
	uint32_t cell;                       /* 1 + the first of its chain of cells */
	uint64_t allocations, bytes;         /* op alloc with this stack */
	uint64_t frees, freed;               /* of those allocations */
	uint64_t frees_here, freed_here;     /* op free made by this stack */
	uint64_t lifetime_min, lifetime_max; /* ns, of those freed; 0 when none is known */
	uint64_t entries;                    /* bit i: Python frame i was entered from C */
	uint64_t hash[2];
	uint32_t via_forward;  /* stack: of the operator whose backward this is, 0 for unknown */
	uint32_t via_backward; /* stack: of who called backward(), on a thread without Python */
	/* What its sampled allocations stand for: SAMPLE_PARTS of each, and bytes. */
	uint64_t estimated_parts, estimated_bytes;
};

enum scope_kind {
	SCOPE_NONE,
	SCOPE_DEVICE,
	SCOPE_POOL,
	SCOPE_OWNER,
	SCOPE_SPACE,
	SCOPE_NAMED, /* what is occupied on a device and was no allocation; METRIC_USED only */
};

enum metric { METRIC_ALLOCATED, METRIC_RESERVED, METRIC_USED, METRICS };

struct spool_sum {
	uint64_t now, peak, peak_t; /* bytes, bytes, ns */
	uint64_t epoch;             /* counts peaks; see struct spool_cell */
};

struct spool_scope {
	uint32_t kind;        /* enum scope_kind */
	int32_t device;       /* NO_DEVICE for a space */
	uint32_t name;        /* text: of the pool, owner or space */
	uint32_t curve;       /* 1 + which curve, 0 for none */
	uint64_t curve_state; /* points << 16 | shift << 8 | which half; one word, so it changes at
				 once */
	uint64_t allocations, frees, ooms, retries;
	struct spool_sum sums[METRICS];
	/* Of a device, as of the last sample of `used`: see ledger/used.h. */
	int64_t rounding, named, residual;
	int64_t residual_low, residual_high;
	int64_t rounding_at_used, named_at_used, residual_at_used;
	uint64_t used_samples;     /* of a name: its steps */
	uint32_t used_source;      /* text */
	uint32_t used_kind;        /* text, of a name */
	uint64_t at_used[METRICS]; /* what the sums were at the peak of `used` */
};

/*
 * `live` bytes of one stack in one sum. `at_peak` is what they were at that sum's peak if `epoch`
 * is the sum's epoch; with an older epoch nothing has changed since the peak, and `live` is it.
 */
struct spool_cell {
	uint32_t sum;  /* scope * METRICS + metric */
	uint32_t next; /* 1 + the next cell of the same stack */
	uint64_t live, live_count;
	uint64_t at_peak, at_peak_count;
	uint64_t epoch;
	uint64_t estimated, estimated_at_peak; /* bytes that the sampled ones of them stand for */
};

/* What a live allocation is; addresses of different kinds do not collide. */
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
	uint64_t t;    /* when it was born */
	uint32_t next; /* 1 + the next of the chain */
	uint32_t stack;
	uint32_t pool;  /* text, 0 for none */
	uint32_t owner; /* text */
	int16_t device;
	uint8_t kind, space;
	uint16_t references, mappings; /* of a handle; of imported memory: how often it is open */
	/*
	 * A mapping's handle, as 1 + node; a stream-ordered block's pool; of other memory with an
	 * address, of an array and of external memory: the context that it ends with. 0 for none.
	 */
	uint64_t link;
	uint32_t label; /* text */
	uint8_t flags;
	uint8_t unused[3];
};

/*
 * What was known when an allocation failed for want of memory and nobody caught that. The first
 * SPOOL_OOMS_FIRST are kept, and the latest.
 */
enum { SPOOL_OOMS_FIRST = 8, SPOOL_OOMS = 32 };

struct spool_oom {
	uint64_t seq, t; /* of its event */
	uint64_t size;
	uint64_t refused; /* bytes that the driver was asked for behind it, 0: it was not asked */
	uint64_t left, total; /* of the device, as the driver said; total 0: nobody asked it. What
				 was given back since is left, too */
	uint64_t used;        /* by the sample before and what is reserved since; 0: not known */
	uint64_t allocated, reserved;           /* the device's sums */
	uint64_t pool_allocated, pool_reserved; /* the framework's, as it said itself */
	uint64_t allocations;                   /* of the device, so far */
	uint32_t stack, thread;
	uint32_t pool, api; /* texts */
	int16_t device;
	uint8_t space;
	uint8_t unused[13];
};

/* A sample of `used` with which something came, went or could not be explained. */
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

/* What happened in one stretch of time: both maxima, each with the other sum at that moment, and
 * the end. */
struct spool_point {
	uint64_t stretch; /* t >> shift */
	struct {
		uint64_t t, allocated, reserved;
	} top, high, last;     /* at most allocated, at most reserved, at the end */
	uint64_t used, used_t; /* the last sample, 0 for none */
	uint64_t unused[4];
};

#include "spool/layout_calls.h"

#define TABLE(kind, type, shift, what) \
	_Static_assert(sizeof(type) == 1 << (shift), "the size that tables.def gives");
#include "spool/tables.def"
#undef TABLE
