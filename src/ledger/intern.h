/*
 * Stores each distinct text, module, frame and stack once in the spool, and gives it a number.
 *
 * There is one writer at a time, as for the ledger; only intern_stack_find() needs no lock. Numbers
 * are positions in the spool's tables (modules, frames: 1 + position). 0 is "none", or "no room":
 * either the file cannot grow, and the spool's next transaction meets the same error and stops the
 * recording; or the table is full (bounds.def), and the recording goes on.
 */
#pragma once

#include <stdbool.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "codec/event.h"
#include "spool/spool.h"

struct intern {
	struct spool *spool;
	struct map texts, modules, frames, stacks;
	bool by_steps;     /* `stacks` has keys made of frames, too */
	uint32_t too_many; /* the stack that stands for all stacks without room, 0: not made yet */
};

/* True if `rows` more rows would exceed the table's bound (bounds.def); the header then counts the
 * refusal. Tables without a bound are never full. */
bool intern_full(struct spool *spool, enum spool_kind kind, uint64_t rows);

/* Adds the empty text and the stack "[not recorded]", each with number 0. Returns 0 or an error. */
int intern_init(struct intern *intern, struct spool *spool);
void intern_clear(struct intern *intern);

uint32_t intern_text(struct intern *intern, const char *text);
uint32_t intern_text_n(struct intern *intern, const char *text, size_t length);

/* Adds a fact about the process. Facts keep their order; a key may come more than once. */
void intern_fact(struct intern *intern, const char *key, const char *value);
void intern_thread(struct intern *intern, uint32_t thread, const char *name, uint64_t t);

/* Returns 1 + the module's position, 0 without room. A file that is loaded again, at any address,
 * is the same module; its row keeps the first address. */
uint32_t intern_module(struct intern *intern, const struct spool_module *module);

/* Returns 1 + the frame's position, 0 without room. Frames with equal members are one frame. */
uint32_t intern_frame(struct intern *intern, const struct spool_frame *frame);

/* Returns the stack with this hash, 0 if there is none. */
uint32_t intern_stack_find(const struct intern *intern, struct hash128 hash);

struct intern_steps {
	const uint32_t
		*frames; /* numbers from intern_frame(), innermost first, native before Python */
	uint16_t native, python;
	uint32_t owner;   /* text: the library that allocated */
	uint64_t entries; /* see the members of these names in struct spool_stack */
	uint32_t via_forward, via_backward;
	bool known; /* a row with these frames may exist under another hash */
};

/*
 * Adds a stack that intern_stack_find() does not find. With `known`, an existing row with the same
 * frames gets this hash, and can no longer be found by its old one. If the table is full, all new
 * stacks become one row, "[too many stacks]".
 */
uint32_t intern_stack(struct intern *intern, struct hash128 hash, const struct intern_steps *steps);

/*
 * Returns the stack that has a single frame of this name. It stands for bytes that no call
 * allocated (owner 0, SPACE_DEVICE), or for bytes of a library (`owner`, a text) whose stacks are
 * not recorded. Each `space` has a stack of its own, because a call site has one space.
 */
uint32_t intern_pseudo_stack(struct intern *intern, const char *name, uint32_t owner,
			     enum space space);
