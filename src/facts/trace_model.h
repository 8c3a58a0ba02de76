/*
 * What a trace (memtrace/1) says, as structs: one for each object of the document, made of the rows
 * of facts/trace.def.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

#define TRACE_NONE UINT64_MAX /* a number that the trace does not tell */

enum trace_exit {
	TRACE_EXIT,
	TRACE_RUNNING,
	TRACE_UNFINISHED,
};

enum trace_metric { TRACE_ALLOCATED, TRACE_RESERVED, TRACE_USED, TRACE_METRICS };

enum { TRACE_NATIVE, TRACE_PYTHON };

struct trace_pair {
	const char *name;
	const char *value; /* NULL when unset */
};

typedef const char *trace_TEXT;
typedef const char *trace_VALUE;
typedef uint64_t trace_U64;
typedef uint64_t trace_OPTIONAL;
typedef uint64_t trace_HEX;
typedef uint32_t trace_U32;
typedef uint32_t trace_POSITION;
typedef int64_t trace_I64;
typedef int trace_INT;
typedef bool trace_BOOL;
typedef struct trace_pair *trace_PAIRS;
typedef struct trace_pair *trace_COUNTS;
typedef const char **trace_TEXTS;
typedef uint64_t *trace_U64S;
typedef uint32_t *trace_U32S;

#define trace_trace trace /* the document itself */
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

/* What a stack's site is known by: the name, the space and the key together. */
struct trace_place {
	const char *name; /* NULL: the stack is of no site */
	const char *space;
	uint64_t key;
};

/*
 * spool_model_sites.c: makes sites[] and site_of[] from the places of the stacks, with the sums of
 * their stacks but for what is estimated, the heaviest first. 0 or -ENOMEM.
 */
int trace_gather_sites(struct trace *trace, struct arena *arena, const struct trace_place *places);
