/*
 * A trace (memtrace/1) as structs, one for each kind of object in the JSON document, made from the
 * rows of facts/trace.def; and these rows as tables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

#define TRACE_NONE UINT64_MAX /* stands for a number that the trace does not have */

enum trace_exit {
	TRACE_EXIT,
	TRACE_RUNNING,
	TRACE_UNFINISHED,
};

enum trace_metric { TRACE_ALLOCATED, TRACE_RESERVED, TRACE_USED, TRACE_METRICS };

enum { TRACE_NATIVE, TRACE_PYTHON };

struct trace_pair {
	const char *name;
	const char *value; /* NULL if it was not set */
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

/* The device's row in the trace's environment, which has its name and size; NULL for none. */
const struct trace_card *trace_card(const struct trace *trace, int device);

/* The name, the space and the key together identify a stack's site. */
struct trace_place {
	const char *name; /* NULL if the stack has no site */
	const char *space;
	uint64_t key;
};

/* spool_model_sites.c: makes sites[], the largest first, and site_of[] from the stacks' places.
 * Sites get the sums of their stacks, but no estimates. 0 or -ENOMEM. */
int trace_gather_sites(struct trace *trace, struct arena *arena, const struct trace_place *places);

/* The rows as tables, which direct how a JSON object is read into a struct and written from it.
 * They hold no pointers; base/guest/table_rows.h says why. */
enum row_kind {
	ROW_TEXT,     /* const char *, NULL for null */
	ROW_VALUE,    /* const char *: a value of any kind, spelled as in the file */
	ROW_U64,      /* uint64_t, 0 for null */
	ROW_OPTIONAL, /* uint64_t, TRACE_NONE for null */
	ROW_U32,      /* uint32_t, 0 for null */
	ROW_POSITION, /* uint32_t, UINT32_MAX for null */
	ROW_I64,      /* int64_t, 0 for null */
	ROW_INT,      /* int, -1 for null */
	ROW_BOOL,     /* bool */
	ROW_HEX,      /* uint64_t of a string "0x..." */
	ROW_WORD,     /* int: the position of a text among the row's words */
	ROW_OBJECT,   /* a struct in place */
	ROW_LIST,     /* a pointer to structs, and their count */
	ROW_PAIRS,    /* a list of struct trace_pair: an object with any keys */
	ROW_COUNTS,   /* a list of pairs whose values are numbers */
	ROW_TEXTS,    /* a list of const char * */
	ROW_U64S,     /* a list of uint64_t, TRACE_NONE for null */
	ROW_U32S,     /* a list of uint32_t */
	ROW_BREAK,    /* no value: the file has a line break here */
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

/* White space between the items of a list. */
enum row_layout {
	LAYOUT_NONE,
	LAYOUT_TIGHT,    /* none */
	LAYOUT_LINES,    /* each item on a line of its own */
	LAYOUT_BROKEN,   /* each item but the first on a new line */
	LAYOUT_INDENTED, /* each item but the first on a new line, two blanks before it */
	LAYOUT_APART,    /* each item on a line of its own, two blanks before it */
};

/* Lists of words: a ROW_WORD's value is a word from one of them. */
enum row_words { WORDS_EXITS, WORDS_METRICS, WORDS_LANGUAGES, WORDS_NONE };

enum rows_of {
#define BEGIN(name) ROWS_##name,
#include "facts/trace.def"
	ROWS_NONE,
};

struct row {
	char key[24], text[28]; /* text: `,"key":`, as in the JSON */
	uint16_t at, count_at;
	uint8_t kind, when;
	uint8_t of;     /* OBJECT, LIST: enum rows_of; WORD: enum row_words; BREAK: blanks */
	uint8_t layout; /* ROW_LIST: enum row_layout */
	uint8_t size;   /* bytes of the member, 0 for more than 8 */
	uint8_t length; /* bytes of `text` */
};

struct rows {
	const struct row *rows;
	size_t rows_n, size;
};

struct rows rows_of(enum rows_of of);

/* The row with the key, NULL for none. */
const struct row *rows_find(struct rows rows, const char *key);

/* Sets every member of an object that is all 0 to its value for null. */
void rows_clear(enum rows_of of, void *object);

/* The value of a member that is a number or a pointer, as bits. */
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

/* The word at a position, NULL after the last word. */
const char *rows_word(enum row_words words, int position);
