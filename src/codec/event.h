/* struct event: one recorded event, in memory; wire.h describes its encoding in files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Names of pseudo-stacks, which group bytes whose call stack is not known. The library writes them,
 * and readers of a trace recognise them. */
#define PSEUDO_NOT_RECORDED "[not recorded]"
#define PSEUDO_NOT_SAMPLED "[not sampled]"
#define PSEUDO_GRAPH_MEMORY "[graph memory]"

enum event_op {
#define EVENT(name, text, what) EVENT_##name,
#include "codec/event_kinds.def"
	EVENT_OPS
};

enum space {
#define SPACE(name, text, what) SPACE_##name,
#include "codec/event_kinds.def"
	SPACES
};

enum {
	NO_DEVICE = -1, /* page-locked and CPU memory belong to no device */
};

/* True if memory of this device and space is on a GPU and counts in the device's sums. */
static inline bool space_on_card(int device, unsigned space)
{
	return device >= 0 && (space == SPACE_DEVICE || space == SPACE_ARRAY);
}

enum event_flags {
	EVENT_FOREIGN = 1,  /* imported from another process: not counted in sums */
	EVENT_DETAILED = 2, /* in encoded events only: a mark or push with an event_detail */
};

/* The type of an NVTX payload, whose 64 bits are in event_detail.payload; floats become doubles. */
enum event_payload { PAYLOAD_NONE, PAYLOAD_UNSIGNED, PAYLOAD_SIGNED, PAYLOAD_REAL, PAYLOADS };

/* Attributes that NVTX allows in addition to the name; only marks and pushes have them. */
struct event_detail {
	uint64_t payload;
	uint32_t color;       /* 0xAARRGGBB, 0 for none */
	uint32_t category;    /* a text id: the category's name or number */
	uint8_t payload_kind; /* a value of enum event_payload */
};

struct event {
	uint64_t seq;
	uint64_t t; /* ns since process start */
	uint64_t ptr;
	uint64_t size; /* bytes of the block, or of a failed request */
	uint64_t stream;
	uint64_t allocated; /* like `reserved`, a device's sum after the event; set by readers */
	uint64_t reserved;
	uint32_t stack;                  /* id of the call stack, 0 for none */
	uint32_t thread;                 /* kernel thread id */
	uint32_t pool, api, error, name; /* text ids (spool/tables.def), 0 for none */
	int16_t device;
	uint8_t op;    /* a value of enum event_op */
	uint8_t space; /* a value of enum space */
	uint8_t flags; /* bits of enum event_flags */
	bool untold;   /* true if MEMTRACE_FILTER leaves it out of the events (not of the sums) */
	bool sampled;  /* true if chosen as a sample (MEMTRACE_SAMPLE); not encoded */
	struct event_detail detail;
};

const char *event_op_name(unsigned op);
const char *space_name(unsigned space);

/* True for events with address, size and stack; marks, pushes and pops have a name instead. */
static inline bool event_is_memory(unsigned op)
{
	return op <= EVENT_OOM;
}

/*
 * Sets the bytes by which an event changes its device's sums. A plain allocation changes both sums,
 * a pool's block only `allocated`, a pool's segment only `reserved`; a free changes them back.
 */
void event_effect(const struct event *event, int64_t *allocated, int64_t *reserved);
