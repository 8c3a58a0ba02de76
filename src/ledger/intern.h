/*
 * Each distinct text, module, frame and stack once in the spool, under a small number.
 *
 * One writer at a time, as for the ledger; intern_stack_find() alone needs no lock. Numbers are
 * positions in the spool's tables; 0 stands for "none" (and for "there is no room left": the
 * spool's next transaction will meet the same error and stop the recording; or the table has all
 * the rows that it may have, bounds.def, and recording goes on).
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

/*
 * Would the table be more than full with so many rows more (bounds.def)? Then that is counted in
 * the header. Tables without a bound never are.
 */
bool intern_full(struct spool *spool, enum spool_kind kind, uint64_t rows);

/* Begins with the empty text 0 and the pseudo-stack 0, "[not recorded]". 0 or an error of
 * spool_need(). */
int intern_init(struct intern *intern, struct spool *spool);
void intern_clear(struct intern *intern);

uint32_t intern_text(struct intern *intern, const char *text);
uint32_t intern_text_n(struct intern *intern, const char *text, size_t length);

/* Facts about the process, in order; the same key may come again. */
void intern_fact(struct intern *intern, const char *key, const char *value);
void intern_thread(struct intern *intern, uint32_t thread, const char *name, uint64_t t);

/*
 * 1 + its position, 0 without room. The same file, loaded again wherever it may be, is the same
 * module, and its row has the place where it was first.
 */
uint32_t intern_module(struct intern *intern, const struct spool_module *module);

/* Frames, which are told apart by all that the row says: 1 + position, 0 without room. */
uint32_t intern_frame(struct intern *intern, const struct spool_frame *frame);

/* The stack with the hash, 0 if it is new. */
uint32_t intern_stack_find(const struct intern *intern, struct hash128 hash);

struct intern_steps {
	const uint32_t *frames; /* of intern_frame(), innermost first, native before Python */
	uint16_t native, python;
	uint32_t owner;   /* text */
	uint64_t entries; /* as these in struct spool_stack */
	uint32_t via_forward, via_backward;
	bool known; /* these very steps may have a row already, under another hash */
};

/*
 * Enters a stack that intern_stack_find() does not know. With `known`, a row of the same steps is
 * found by this hash from now on, and what else was found by it is not any more. Where there are
 * too many already it is that of one name for all that come later.
 */
uint32_t intern_stack(struct intern *intern, struct hash128 hash, const struct intern_steps *steps);

/*
 * A stack of one named frame, for bytes that no call asked for (owner 0, SPACE_DEVICE), or that a
 * library (`owner`, a text) asked for and whose stack is not taken: one for each space, as a site
 * is of one.
 */
uint32_t intern_pseudo_stack(struct intern *intern, const char *name, uint32_t owner,
			     enum space space);
