/*
 * An allocation that failed for want of memory, explained: what was asked for, who held what then,
 * why it failed, what would help.
 *
 * Facts are gathered from the spool; what is said about them stands in tables. Also used at the end
 * of the traced program, so all memory comes from the recording's arena.
 */
#ifndef FACTS_OOM_OOM_H
#define FACTS_OOM_OOM_H

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

enum oom_reason {
#define REASON(name, condition, text) OOM_##name,
#include "facts/oom/oom_reasons.def"
#undef REASON
	OOM_REASONS
};

enum oom_advice {
#define ADVICE(name, condition, bytes, text) OOM_ADVICE_##name,
#include "facts/oom/oom_advice.def"
#undef ADVICE
	OOM_ADVICES
};

/* Who held memory of the driver: a pool, else a library. */
struct oom_holder {
	uint32_t name; /* text, 0: not known */
	bool pool;
	uint64_t bytes;
};

/* What one line held, of all its stacks. */
struct oom_line {
	const char *text;
	uint64_t bytes, count;
};

struct oom {
	const struct spool_oom *row;
	struct oom_facts facts;
	enum oom_reason reason;
	enum oom_advice advice[OOM_ADVICE_MOST];
	uint64_t advice_bytes[OOM_ADVICE_MOST];
	unsigned advice_n;
	const char *card; /* its name, NULL when unknown */
	bool known;       /* what was live then: pools, holders, shares and lines are filled */
	bool survived;    /* the program went on, or ended with status 0 */
	uint64_t after;   /* allocations of the device since */
	struct trace_oom_pool *pools; /* their segments then */
	size_t pools_n;
	struct oom_holder *holders; /* largest first */
	size_t holders_n;
	struct trace_share *shares; /* of what was allocated, largest first */
	size_t shares_n;
	uint64_t unknown; /* bytes of the device's sum that no event tells of */
	struct oom_line lines[OOM_LINES];
	unsigned lines_n;
	uint64_t more_lines, more_bytes; /* beyond those */
};

struct ooms {
	struct oom *list; /* in the order of time */
	size_t count;
	uint64_t all; /* that happened: the spool keeps some of them */
};

/* 0 or -ENOMEM. */
int ooms_find(struct ooms *ooms, struct recording *recording);

const char *oom_reason_name(enum oom_reason reason);
const char *oom_reason_text(enum oom_reason reason); /* with {names} of facts */
const char *oom_advice_name(enum oom_advice advice);
const char *oom_advice_text(enum oom_advice advice);

#endif
