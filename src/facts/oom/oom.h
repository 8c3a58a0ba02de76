/*
 * Explains an allocation that failed because memory ran out: its size, the libraries and pools that
 * held the memory at that time (holders), the reason, and advice.
 *
 * This also runs in the traced program when it ends, so memory comes from mmap, not malloc.
 */
#pragma once

#include "facts/live_at.h"
#include "facts/spool_model.h"

enum {
	OOM_WORDS = 200,
	OOM_LINES = 5,
	OOM_ADVICE_MOST = 2,
	OOM_GOES_ON = 256, /* so many allocations after a failure show that the program survived */
};

struct oom_facts {
#define NUMBER(name, unit, what) uint64_t name;
#define WORDS(name, what) char name[OOM_WORDS];
#include "facts/oom/oom_facts.def"
};

/* A line of code (by spool_model_line()), and the bytes that all stacks with this line held. */
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
	const char *card; /* the GPU's name, NULL if unknown */
	bool known; /* true if the live blocks are known: then lines and told->holders are filled */
	struct oom_line lines[OOM_LINES];
	unsigned lines_n;
	uint64_t more_lines, more_bytes; /* number and bytes of lines that are not in lines[] */
};

/* Fills the trace's list of failures (ooms) except for their text; the advice still has {names} of
 * facts instead of their values. Returns one struct for each failure, in the recording's arena;
 * NULL if there are none or memory is short. */
struct oom *spool_model_find_ooms(struct spool_model *recording);

/* oom_live.c: fills pools, holders, stacks and lines, and the facts about them, from the blocks
 * that were live at the failure. Returns 0 or -ENOMEM. */
int oom_then(struct oom *oom, struct spool_model *recording, const struct census *census);

/* Returns the spool's text with this id, NULL if it is empty or missing. */
const char *oom_name(const struct spool_model *recording, uint32_t text);
