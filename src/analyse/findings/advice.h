/* The facts of a trace that the rules in advice.def test, and which of the rules apply. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct leaks;
struct event_scan;
struct trace;
struct trace_device;

enum { FACTS_WORDS = 200 };

struct facts {
#define NUMBER(name, unit, what) uint64_t name;
#define WORDS(name, what) char name[FACTS_WORDS];
#include "analyse/findings/report_facts.def"
};

enum advice {
#define ADVICE(name, condition, text) ADVICE_##name,
#include "analyse/findings/advice.def"
	ADVICES
};

/* Fills the facts. Without `device` (NULL), facts about it are 0, except `peak`; without `survey`,
 * facts from events are 0. `temporaries`: bytes of that category at the peak, or TRACE_NONE. */
void facts_find(struct facts *facts, const struct trace *trace, const struct trace_device *device,
		uint64_t temporaries, const struct event_scan *survey, const struct leaks *leaks);

bool advice_applies(enum advice advice, const struct facts *facts);
const char *advice_name(enum advice advice);

/* Returns the text of the advice, with facts named in braces: "{cached} of {reserved} ...". */
const char *advice_text(enum advice advice);
