/*
 * Explains an allocation that failed because memory ran out: the size, the holders of memory at
 * that time, the reason, and advice.
 *
 * Also used at the end of the traced program, so memory comes from an arena or mmap, not malloc.
 */
#pragma once

#include "facts/live_at.h"
#include "facts/spool_model.h"

enum {
	OOM_WORDS = 200,
	OOM_LINES = 5,
	OOM_ADVICE_MOST = 2,
	OOM_GOES_ON = 256, /* this many allocations after a failure: the program survived it */
};

struct oom_facts {
#define NUMBER(name, unit, what) uint64_t name;
#define WORDS(name, what) char name[OOM_WORDS];
#include "facts/oom/oom_facts.def"
};

/* A text of spool_model_line(), and the bytes that all stacks with this text held. */
struct oom_line {
	const char *text;
	uint64_t bytes;
};

/* One failure, with the facts that are not members of the trace. */
struct oom {
	struct spool_oom row;
	struct trace_oom *told;
	struct oom_facts facts;
	const char *why;  /* the reason's sentence; a fact replaces each {name} in it */
	const char *card; /* the card's name, NULL if unknown */
	bool known; /* the live blocks are known: pools, holders, stacks and lines are filled */
	struct oom_line lines[OOM_LINES];
	unsigned lines_n;
	uint64_t more_lines, more_bytes; /* number and bytes of lines that are not in lines[] */
};

/*
 * Fills the trace's ooms except for their text; in advice, the {names} of facts are not replaced
 * yet. Returns one struct for each failure, in the recording's arena; NULL if there are none, or if
 * memory is short.
 */
struct oom *spool_model_find_ooms(struct spool_model *recording);

/* oom_live.c: fills pools, holders, stacks and lines, and the facts about them, from the blocks
 * that were live at the failure. 0 or -ENOMEM. */
int oom_then(struct oom *oom, struct spool_model *recording, const struct census *census);

/* The spool's text with this number, NULL if it is empty or missing. */
const char *oom_name(const struct spool_model *recording, uint32_t text);
