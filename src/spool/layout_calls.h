/* The part of the spool's layout (layout.h) for counted calls and for CUPTI's records. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Counts of a function's calls, each changed atomically, without locks or transactions. */
struct spool_call {
	uint32_t name; /* text id */
	uint32_t unused;
	_Atomic uint64_t calls, failed;
	_Atomic uint64_t ticks, max; /* time of all calls and of the longest, in ticks (tick_ns) */
	uint64_t unused_too[3];
};

/* CUPTI's record of one allocation or free, or of a pool. */
struct spool_witness {
	uint64_t t; /* ns since process start */
	uint64_t address, bytes;
	uint64_t pool; /* CUPTI's address of the pool, 0 for none */
	int16_t device;
	uint8_t memory;    /* enum witness_memory */
	uint8_t operation; /* 1: allocated, created; 2: freed, destroyed; 3: a pool trimmed */
	uint8_t flags;     /* enum witness_flags */
	uint8_t unused[3];
	uint64_t unused_too[3];
};

enum witness_memory {
	WITNESS_POOL,
	WITNESS_PINNED,
	WITNESS_DEVICE,
	WITNESS_ARRAY,
	WITNESS_MANAGED
};
enum witness_flags {
	WITNESS_ORDERED = 1, /* memory of a stream-ordered pool */
	WITNESS_MAPPED = 2,  /* memory without a context: a mapping (cuMemMap), no allocation */
};

enum action_kind {
	ACTION_KERNEL,
	ACTION_COPY,
	ACTION_FILL,
	ACTION_RUNTIME,
	ACTION_DRIVER,
	ACTION_MIGRATION, /* a migration of managed memory */
	ACTION_VARIABLES, /* variables of modules, in memory that no call allocated */
	ACTIONS
};

struct spool_action {
	uint32_t name;              /* text id */
	uint32_t kind;              /* enum action_kind */
	uint64_t count, total, max; /* total and max: ns */
	uint64_t bytes;
	uint64_t unused[3];
};

enum { SPANS_MOST = 1 << 18, WITNESS_MOST = 1 << 22 };

struct spool_span {
	uint64_t t, ns; /* begin and duration in ns */
	uint64_t bytes;
	uint32_t name;   /* text id */
	uint32_t thread; /* for a call: id of its thread */
	uint32_t stream; /* for work on a device: CUPTI's number of its stream */
	int16_t device;  /* for work on a device: the device's number */
	uint8_t kind;    /* enum action_kind */
	uint8_t unused;
	uint64_t unused_too[3];
};
