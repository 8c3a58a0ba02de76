/*
 * Filters of the memory events that are recorded: the value of MEMTRACE_FILTER.
 *
 *   filter = term { "," term }     all must hold
 *   term   = key relation value    keys: filter_keys.def
 *   numbers have = != > >= < <= and units (1MiB); names have = and !=, and "none" for no name
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_key {
#define FILTER_KEY(name, kind, what) FILTER_##name,
#include "base/settings/filter_keys.def"
#undef FILTER_KEY
	FILTER_KEYS
};

/* Relations between an event's fact and a term's value with which the term holds: a set. */
enum { FILTER_LESS = 1, FILTER_EQUAL = 2, FILTER_MORE = 4 };

enum { FILTER_TERMS = 16 };

struct filter_term {
	enum filter_key key;
	unsigned relation;
	uint64_t number;
	const char *name; /* `length` bytes of the text that was parsed; length 0: the event has no
			     name */
	size_t length;
};

struct filter {
	unsigned count; /* 0: everything is recorded */
	struct filter_term terms[FILTER_TERMS];
};

/* The facts known about an event; a bit of `known` for each key. No device is UINT64_MAX. */
struct filter_facts {
	unsigned known;
	uint64_t number[FILTER_KEYS];
	const char *name[FILTER_KEYS]; /* NULL or "" for none */
};

enum filter_answer {
	FILTER_NO,
	FILTER_MAYBE, /* depends on a fact that is not known */
	FILTER_YES,
};

/* False when the text is no filter; the filter is empty then. It refers to the text. */
bool filter_parse(const char *text, struct filter *filter);

enum filter_answer filter_ask(const struct filter *filter, const struct filter_facts *facts);
