/*
 * How a JSON object becomes a struct: one row a key, read by one function.
 *
 * trace_shape.c holds the rows of memtrace/1. Null and absent are the same; unknown keys are passed
 * over; a value of the wrong type is an error that names the key.
 */
#ifndef ANALYSE_TRACE_TRACE_SHAPE_H
#define ANALYSE_TRACE_TRACE_SHAPE_H

#include <stddef.h>

struct arena;
struct json;

enum shape_kind {
	SHAPE_TEXT,     /* const char *, NULL for null */
	SHAPE_VALUE,    /* the same of a scalar of any kind, as it stands in the file */
	SHAPE_U64,      /* uint64_t, 0 for null */
	SHAPE_OPTIONAL, /* uint64_t, TRACE_NONE for null */
	SHAPE_U32,      /* uint32_t, 0 for null */
	SHAPE_POSITION, /* uint32_t, UINT32_MAX for null */
	SHAPE_I64,      /* int64_t, 0 for null */
	SHAPE_INT,      /* int, -1 for null */
	SHAPE_BOOL,     /* bool */
	SHAPE_HEX,      /* uint64_t of a string "0x..." */
	SHAPE_WORD, /* int: the position of a text in `words`, the last one's if it is none of them
		     */
	SHAPE_OBJECT, /* a struct in place */
	SHAPE_LIST,   /* a pointer to structs, and a count */
	SHAPE_PAIRS,  /* the same of struct trace_pair: an object with keys of its own */
	SHAPE_TEXTS,  /* the same of const char * */
	SHAPE_U64S,   /* the same of uint64_t, TRACE_NONE for null */
	SHAPE_U32S,   /* the same of uint32_t */
};

struct shape_row {
	const char *key;
	enum shape_kind kind;
	size_t at, count_at;
	const struct shape *of;   /* OBJECT, LIST */
	const char *const *words; /* WORD, ended by NULL */
};

struct shape {
	size_t size;
	const struct shape_row *rows;
	size_t rows_n;
};

/* The row of a member of struct trace with the key, NULL when memtrace/1 has no such key. */
const struct shape_row *shape_member(const char *key);

/* Gives every member that the rows name its value for null. */
void shape_clear(const struct shape *shape, void *to);

/* Reads the value that follows into the struct at `to`: 0 or -EINVAL. */
int shape_read(struct json *json, struct arena *arena, const struct shape_row *row, void *to);

extern const struct shape shape_trace;

#endif
