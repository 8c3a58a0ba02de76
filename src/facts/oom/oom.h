/*
 * An allocation that failed for want of memory, explained: what was asked for, who held what then,
 * why it failed, what would help.
 *
 * Facts are gathered from the spool; what is said about them stands in tables. Also used at the end
 * of the traced program, so all memory comes from the recording's arena.
 */
#pragma once

#include "facts/live_at.h"
#include "facts/spool_model.h"

enum {
	OOM_WORDS = 200,
	OOM_LINES = 5,
	OOM_ADVICE_MOST = 2,
	OOM_GOES_ON = 256, /* allocations behind a failure that the program has survived */
};

struct oom_facts {
#define NUMBER(name, unit, what) uint64_t name;
#define WORDS(name, what) char name[OOM_WORDS];
#include "facts/oom/oom_facts.def"
#undef NUMBER
#undef WORDS
};

/* What one line held, of all its stacks. */
struct oom_line {
	const char *text;
	uint64_t bytes;
};

/* What is known beside what the trace says of it. */
struct oom {
	struct spool_oom row;
	struct trace_oom *told;
	struct oom_facts facts;
	const char *why;  /* it failed, with {names} of facts */
	const char *card; /* its name, NULL when unknown */
	bool known;       /* what was live then: pools, holders, stacks and lines are filled */
	struct oom_line lines[OOM_LINES];
	unsigned lines_n;
	uint64_t more_lines, more_bytes; /* beyond those */
};

/*
 * Fills the trace's ooms, but for their text; that of advice has {names} of facts. What is known
 * beside is returned, one for each; NULL where there are none, or without memory.
 */
struct oom *spool_model_find_ooms(struct spool_model *recording);

/*
 * oom_then.c: fills pools, holders, stacks and lines, and the facts about them, from what was live
 * at the failure. 0 or -ENOMEM.
 */
int oom_then(struct oom *oom, struct spool_model *recording, const struct census *census);

/* A text of the spool; an empty name is none. */
const char *oom_name(const struct spool_model *recording, uint32_t text);
