/*
 * The event, which capture, ledger, spool and document share.
 *
 * Texts (pool, api, error, name) are ids of the recording's text table, 0 for none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Names of pseudo-stacks, which stand for bytes that no call took. The library writes them, and
 * readers of a trace recognise them. */
#define PSEUDO_NOT_RECORDED "[not recorded]"
#define PSEUDO_NOT_SAMPLED "[not sampled]" /* for the blocks that the samples stand for */
#define PSEUDO_GRAPH_MEMORY "[graph memory]"

enum event_op {
#define EVENT(name, text, what) EVENT_##name,
#include "codec/events.def"
#undef EVENT
	EVENT_OPS
};

enum space {
#define SPACE(name, text, what) SPACE_##name,
#include "codec/events.def"
#undef SPACE
	SPACES
};

enum {
	NO_DEVICE = -1, /* page-locked and CPU memory belong to no device */
};

/* True if memory of that device and space lies on a card and is in the card's sums. */
static inline bool space_on_card(int device, unsigned space)
{
	return device >= 0 && (space == SPACE_DEVICE || space == SPACE_ARRAY);
}

/* They decide which extra keys the document prints, and whether bytes count in a device's sums. */
enum event_flags {
	EVENT_FOREIGN = 1,  /* imported from another process: listed, but counts 0 in this one */
	EVENT_DETAILED = 2, /* a mark or push whose detail is not empty */
};

/* The type of a range's or mark's payload, which is its bits; floats become doubles. */
enum event_payload { PAYLOAD_NONE, PAYLOAD_UNSIGNED, PAYLOAD_SIGNED, PAYLOAD_REAL, PAYLOADS };

/* For marks and pushes alone: the facts beside the name that NVTX allows. */
struct event_detail {
	uint64_t payload;
	uint32_t color;       /* 0xAARRGGBB, 0 for none */
	uint32_t category;    /* text: its name or number */
	uint8_t payload_kind; /* enum event_payload */
};

struct event {
	uint64_t seq;
	uint64_t t; /* ns since process start */
	uint64_t ptr;
	uint64_t size; /* bytes */
	uint64_t stream;
	uint64_t allocated; /* the device's sums after the event, filled by code that replays */
	uint64_t reserved;
	uint32_t stack;                  /* 0 is no stack */
	uint32_t thread;                 /* kernel thread id */
	uint32_t pool, api, error, name; /* texts */
	int16_t device;
	uint8_t op;    /* enum event_op */
	uint8_t space; /* enum space */
	uint8_t flags; /* enum event_flags */
	bool untold;   /* sums only: not written (MEMTRACE_FILTER) */
	bool sampled;  /* stands for others like it (MEMTRACE_SAMPLE); not written */
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
 * The changes of the device's sums by the event, in bytes. Only this function defines them: a plain
 * allocation counts as allocated and reserved, a pool's block as allocated, a pool's segment as
 * reserved.
 */
void event_effect(const struct event *event, int64_t *allocated, int64_t *reserved);
