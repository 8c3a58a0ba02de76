/*
 * Stores each distinct text, module, frame and stack once in the spool, and gives it a number.
 *
 * The caller serialises all calls, except intern_stack_find(), which needs no lock. Numbers are
 * positions in the spool's tables (for modules and frames: 1 + position). Number 0 means none, or
 * no room: either the file cannot grow (the next transaction then fails with the same error and
 * stops the recording), or the table is full (bounds.def), and the recording goes on.
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
	bool by_steps;     /* true if `stacks` also has keys made from frames */
	uint32_t too_many; /* number of the stack "[too many stacks]", 0 until it is needed */
};

/* True if `rows` more rows would exceed the table's limit in bounds.def; the spool's header then
 * counts the refusal. Tables that are not in bounds.def have no limit. */
bool intern_full(struct spool *spool, enum spool_kind kind, uint64_t rows);

/* Adds the empty text and the stack "[not recorded]", each with number 0. Returns 0 or -errno. */
int intern_init(struct intern *intern, struct spool *spool);
void intern_clear(struct intern *intern);

uint32_t intern_text(struct intern *intern, const char *text);
uint32_t intern_text_n(struct intern *intern, const char *text, size_t length);

/* Adds a fact (key and value) about the process. Facts keep their order, and keys may repeat. */
void intern_fact(struct intern *intern, const char *key, const char *value);
void intern_thread(struct intern *intern, uint32_t thread, const char *name, uint64_t t);

/* Returns 1 + the module's position, 0 if there is no room. A file that is loaded again, at any
 * address, is the same module; its row keeps the first address. */
uint32_t intern_module(struct intern *intern, const struct spool_module *module);

/* Returns 1 + the frame's position, 0 if there is no room. Equal frames share a row. */
uint32_t intern_frame(struct intern *intern, const struct spool_frame *frame);

/* Returns the number of the stack with this hash, 0 if there is none. */
uint32_t intern_stack_find(const struct intern *intern, struct hash128 hash);

struct intern_steps {
	const uint32_t
		*frames; /* numbers from intern_frame(), innermost first, native before Python */
	uint16_t native, python;
	uint32_t owner;   /* text id: the library that allocated */
	uint64_t entries; /* this and the next two are explained in struct spool_stack */
	uint32_t via_forward, via_backward;
	bool known; /* true if a stack with these frames may exist under another hash */
};

/*
 * Adds a stack that intern_stack_find() did not find, and returns its number. With `known`, an
 * existing stack with the same frames gets this hash, and is no longer found by its old hash. If
 * the table is full, returns the stack "[too many stacks]".
 */
uint32_t intern_stack(struct intern *intern, struct hash128 hash, const struct intern_steps *steps);

/*
 * Returns the number of the stack whose only frame has this name. The stack stands for bytes that
 * no call allocated (owner 0, SPACE_DEVICE), or for bytes of a library (`owner`, a text id) whose
 * stacks are not recorded. Each `space` has its own stack, because a call site has only one space.
 */
uint32_t intern_pseudo_stack(struct intern *intern, const char *name, uint32_t owner,
			     enum space space);
