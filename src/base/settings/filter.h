/*
 * Filters that select the memory events to record: the value of MEMTRACE_FILTER.
 *
 *   filter = term { "," term }     an event is recorded if all terms hold
 *   term   = key relation value    the keys are in filter_keys.def
 *   relation: one of = != > >= < <= for a number, one of = != for a name
 *   value: a number, with a unit (1MiB) or without; or a name, "none" for no name
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_key {
#define FILTER_KEY(name, kind, what) FILTER_##name,
#include "base/settings/filter_keys.def"
	FILTER_KEYS
};

/* Bits of filter_term.relation: the term holds if the event's value is less, equal or more. */
enum { FILTER_LESS = 1, FILTER_EQUAL = 2, FILTER_MORE = 4 };

enum { FILTER_TERMS = 16 };

struct filter_term {
	enum filter_key key;
	unsigned relation;
	uint64_t number;
	const char *name; /* `length` bytes of the parsed text; length 0 means "none" */
	size_t length;
};

struct filter {
	unsigned count; /* number of terms; 0: all events are recorded */
	struct filter_term terms[FILTER_TERMS];
};

/* An event's values by enum filter_key. Bit n of `known` is set if value n is known. */
struct filter_facts {
	unsigned known;
	uint64_t number[FILTER_KEYS];  /* for the key device, UINT64_MAX if the event has none */
	const char *name[FILTER_KEYS]; /* NULL or "" if the event has no such name */
};

enum filter_answer {
	FILTER_NO,
	FILTER_MAYBE, /* depends on a value of the event that is not known yet */
	FILTER_YES,
};

/* Parses a filter; *filter points into the text. If the text is invalid, returns false and makes
 * *filter empty. */
bool filter_parse(const char *text, struct filter *filter);

enum filter_answer filter_ask(const struct filter *filter, const struct filter_facts *facts);
