/*
 * Structs for a trace, one for each kind of object in the JSON document, and tables that describe
 * the members of these structs. Both are made from the rows of facts/trace.def.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

#define TRACE_NONE UINT64_MAX /* stands for a number that is null or unknown */

enum trace_exit {
	TRACE_EXIT,
	TRACE_RUNNING,
	TRACE_UNFINISHED,
};

enum trace_metric { TRACE_ALLOCATED, TRACE_RESERVED, TRACE_USED, TRACE_METRICS };

enum { TRACE_NATIVE, TRACE_PYTHON };

struct trace_pair {
	const char *name;
	const char *value; /* NULL if the environment variable was not set */
};

typedef const char *trace_TEXT, *trace_VALUE, **trace_TEXTS;
typedef uint64_t trace_U64, trace_OPTIONAL, trace_HEX;
typedef uint32_t trace_U32, trace_POSITION;
typedef int64_t trace_I64;
typedef int trace_INT;
typedef bool trace_BOOL;
typedef struct trace_pair *trace_PAIRS, *trace_COUNTS;
typedef uint64_t *trace_U64S;
typedef uint32_t *trace_U32S;

#define trace_trace trace /* the outermost object is struct trace */
#define BEGIN(name) struct trace_##name {
#define END(name) \
	}         \
	;
#define ROW(kind, member, when) trace_##kind member;
#define WORD(words, member, when) int member;
#define OBJECT(of, member, when) struct trace_##of member;
#define LIST(of, member, layout, when) \
	struct trace_##of *member;     \
	size_t member##_n;
#define MANY(kind, member, layout, when) \
	trace_##kind member;             \
	size_t member##_n;
#define OWN(type, member) type member;
#include "facts/trace.def"

#undef trace_trace

/* Returns the name and memory size of a device, from trace->environment; NULL if unknown. */
const struct trace_card *trace_card(const struct trace *trace, int device);

/* Identifies the site of a stack. Stacks with equal name, space and key have the same site. */
struct trace_place {
	const char *name; /* NULL if the stack has no site */
	const char *space;
	uint64_t key;
};

/* spool_model_sites.c: makes sites[], the largest first, and site_of[] from `places`, one for each
 * stack. Each site gets the sums of its stacks, but no estimates. Returns 0 or -ENOMEM. */
int trace_gather_sites(struct trace *trace, struct arena *arena, const struct trace_place *places);

/* The type of a member in its struct, and the value that stands for JSON's null. The tables of rows
 * hold no pointers, which would slow down the start of each process (base/guest/table_rows.h). */
enum row_kind {
	ROW_TEXT,     /* const char *, NULL for null */
	ROW_VALUE,    /* const char *: a JSON value of any type, spelled as in the file */
	ROW_U64,      /* uint64_t, 0 for null */
	ROW_OPTIONAL, /* uint64_t, TRACE_NONE for null */
	ROW_U32,      /* uint32_t, 0 for null */
	ROW_POSITION, /* uint32_t, UINT32_MAX for null */
	ROW_I64,      /* int64_t, 0 for null */
	ROW_INT,      /* int, -1 for null */
	ROW_BOOL,     /* bool */
	ROW_HEX,      /* uint64_t, which the JSON has as a string "0x..." */
	ROW_WORD,     /* int: the word's position in a list of enum row_words */
	ROW_OBJECT,   /* a nested struct */
	ROW_LIST,     /* a pointer to structs, and their count */
	ROW_PAIRS,    /* a list of struct trace_pair: a JSON object with arbitrary keys */
	ROW_COUNTS,   /* a list of struct trace_pair whose values are numbers */
	ROW_TEXTS,    /* a list of const char * */
	ROW_U64S,     /* a list of uint64_t, TRACE_NONE for null */
	ROW_U32S,     /* a list of uint32_t */
	ROW_BREAK,    /* no member: the JSON has a line break here */
};

enum row_when {
	WHEN_ALWAYS,
	WHEN_OR_NULL,
	WHEN_SOME,
	WHEN_WITH,
	WHEN_OTHERWISE,
	WHEN_FULL,
	WHEN_IN_LIST,
	WHEN_NATIVE,
};

/* The white space that the writer puts between the items of a list. */
enum row_layout {
	LAYOUT_NONE,
	LAYOUT_TIGHT,    /* no white space */
	LAYOUT_LINES,    /* each item on a line of its own */
	LAYOUT_BROKEN,   /* each item but the first on a new line */
	LAYOUT_INDENTED, /* each item but the first on a new line, after two blanks */
	LAYOUT_APART,    /* each item on a line of its own, after two blanks */
};

/* The lists of words that a member of kind ROW_WORD can have as values. */
enum row_words { WORDS_EXITS, WORDS_METRICS, WORDS_LANGUAGES, WORDS_NONE };

enum rows_of {
#define BEGIN(name) ROWS_##name,
#include "facts/trace.def"
	ROWS_NONE,
};

struct row {
	char key[24], text[28]; /* text: `,"key":`, as it is written */
	uint16_t at, count_at;
	uint8_t kind, when;
	uint8_t of;     /* OBJECT, LIST: enum rows_of; WORD: enum row_words; BREAK: indentation */
	uint8_t layout; /* enum row_layout, for lists */
	uint8_t size;   /* bytes of the member, or 0 if it has more than 8 */
	uint8_t length; /* bytes of `text` */
};

struct rows {
	const struct row *rows;
	size_t rows_n, size;
};

struct rows rows_of(enum rows_of of);

/* Returns the row with the JSON key, NULL if there is none. */
const struct row *rows_find(struct rows rows, const char *key);

/* Sets the members of a zeroed struct to the values that stand for null. */
void rows_clear(enum rows_of of, void *object);

/* Returns the bits of a member that is a number or a pointer; 0 for a larger member. */
static inline uint64_t rows_number(const struct row *row, const void *object)
{
	const void *value = (const char *)object + row->at;

	switch (row->size) {
	case 8:
		return *(const uint64_t *)value;
	case 4:
		return *(const uint32_t *)value;
	default:
		return row->size ? *(const uint8_t *)value : 0;
	}
}

/* Returns `count` cleared structs in the arena's memory; NULL if memory is short. */
void *rows_make(struct arena *arena, enum rows_of of, size_t count);

/* Returns the word at a position of a list, NULL after the last word. */
const char *rows_word(enum row_words words, int position);
