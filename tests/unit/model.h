/*
 * The ledger, naively: every sum with an array by stack, every peak with a copy of that array.
 *
 * It books what ledger/ledger.h promises and knows nothing of cells, epochs, hashing or
 * transactions.
 */
#pragma once

#include "codec/event.h"
#include "spool/layout.h"

/* The last MODEL_LOOSE stacks stand for a pool's bytes without an address: no block is theirs. */
enum {
	MODEL_STACKS = 9,
	MODEL_LOOSE = 2,
	MODEL_SCOPES = 48,
	MODEL_ENTRIES = 160,
	MODEL_EVENTS = 12000
};

struct model_sum {
	uint64_t now, peak, peak_t;
	uint64_t bytes[MODEL_STACKS], count[MODEL_STACKS];
	uint64_t peak_bytes[MODEL_STACKS], peak_count[MODEL_STACKS];
};

struct model_scope {
	enum scope_kind kind;
	int device;
	uint32_t name;
	uint64_t allocations, frees, ooms;
	struct model_sum sums[2]; /* allocated, reserved */
};

struct model_entry {
	enum node_kind kind; /* NODE_FREE: no entry */
	uint64_t ptr, size, t;
	uint32_t pool, owner, stack;
	int device;
	unsigned space;
	bool segment, foreign;
	int references, mappings;
	int home; /* a mapping's handle */
};

struct model_stack {
	uint64_t allocations, bytes, frees, freed, frees_here, freed_here;
	uint64_t lifetime_min, lifetime_max;
};

struct model {
	struct model_scope scopes[MODEL_SCOPES];
	unsigned scopes_n;
	struct model_entry entries[MODEL_ENTRIES];
	struct model_stack stacks[MODEL_STACKS];
	unsigned events_n;
};

/* The scope, made if it is new. */
struct model_scope *model_scope(struct model *model, enum scope_kind kind, int device,
				uint32_t name);

/* Books what an event moves, for the stack that its bytes belong to; fills event->allocated and
 * event->reserved. */
void model_book(struct model *model, struct event *event, uint32_t stack, uint32_t owner);

/* The entry, -1 if there is none; a place for a new one. */
int model_find(const struct model *model, enum node_kind kind, uint32_t pool, uint64_t ptr);
int model_place(const struct model *model);

/* The event of the entry's end, from one that has time, thread, stack and api. */
struct event model_end(const struct model_entry *entry, const struct event *like);

/* Bytes of the stack end, by the other stack, of which nobody knows when they were born. */
void model_freed(struct model *model, uint32_t born, uint32_t here, uint64_t size);

/* An allocation and its end in the rows of stacks. */
void model_born(struct model *model, uint32_t stack, uint64_t size);
void model_died(struct model *model, const struct model_entry *entry, const struct event *event);
