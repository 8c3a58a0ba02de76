/*
 * Facts of a trace, gathered for the rules of advice.def, and which of these rules apply.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
#undef NUMBER
#undef WORDS
};

enum advice {
#define ADVICE(name, condition, text) ADVICE_##name,
#include "analyse/findings/advice.def"
#undef ADVICE
	ADVICES
};

/* `device` may be NULL, and `survey` without events: their facts stay 0. */
void facts_find(struct facts *facts, const struct trace *trace, const struct trace_device *device,
		const struct event_scan *survey, const struct leaks *leaks);

bool advice_applies(enum advice advice, const struct facts *facts);
const char *advice_name(enum advice advice);

/* "{cached} of {reserved} ...": names of facts in braces. */
const char *advice_text(enum advice advice);
