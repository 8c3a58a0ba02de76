/*
 * Each distinct text, module, frame and stack once in the spool, under a small number.
 *
 * There is one writer at a time, as for the ledger; only intern_stack_find() needs no lock. Numbers
 * are positions in the spool's tables. 0 stands for "none", and for "no room": either the file
 * cannot grow, and the spool's next transaction meets the same error and stops the recording; or
 * the table has all the rows that it may have (bounds.def), and the recording goes on.
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
	uint32_t too_many; /* the stack of those beyond its table's bound, 0 before the first */
};

/* True if this many more rows would exceed the table's bound (bounds.def); the header then counts
 * that. Tables without a bound are never full. */
bool intern_full(struct spool *spool, enum spool_kind kind, uint64_t rows);

/* Begins with the empty text 0 and the pseudo-stack 0, "[not recorded]". 0 or an error. */
int intern_init(struct intern *intern, struct spool *spool);
void intern_clear(struct intern *intern);

uint32_t intern_text(struct intern *intern, const char *text);
uint32_t intern_text_n(struct intern *intern, const char *text, size_t length);

/* Enters facts about the process, in order; a key may come more than once. */
void intern_fact(struct intern *intern, const char *key, const char *value);
void intern_thread(struct intern *intern, uint32_t thread, const char *name, uint64_t t);

/* 1 + the module's position, 0 without room. A file that is loaded again, at whatever address, is
 * the same module; its row keeps the first address. */
uint32_t intern_module(struct intern *intern, const struct spool_module *module);

/* 1 + the frame's position, 0 without room. Frames with equal members are the same. */
uint32_t intern_frame(struct intern *intern, const struct spool_frame *frame);

/* The stack with the hash, 0 if it is new. */
uint32_t intern_stack_find(const struct intern *intern, struct hash128 hash);

struct intern_steps {
	const uint32_t *frames; /* of intern_frame(), innermost first, native before Python */
	uint16_t native, python;
	uint32_t owner;   /* text */
	uint64_t entries; /* as `entries`, `via_forward` and `via_backward` of struct spool_stack */
	uint32_t via_forward, via_backward;
	bool known; /* a row of these steps may exist under another hash */
};

/*
 * Enters a stack that intern_stack_find() does not know. With `known`, a row of the same steps gets
 * this hash, and can no longer be found by its old one. Beyond the table's bound, all new stacks
 * get the same row, "[too many stacks]".
 */
uint32_t intern_stack(struct intern *intern, struct hash128 hash, const struct intern_steps *steps);

/*
 * A stack of one named frame. It stands for bytes that no call asked for (owner 0, SPACE_DEVICE),
 * or for those of a library (`owner`, a text) whose stacks are not taken. There is one for each
 * space, because a site has one space.
 */
uint32_t intern_pseudo_stack(struct intern *intern, const char *name, uint32_t owner,
			     enum space space);
