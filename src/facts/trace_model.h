/*
 * What a trace (memtrace/1) says, as structs: one for each object of the document, made of the rows
 * of facts/trace.def.
 */
#ifndef FACTS_TRACE_MODEL_H
#define FACTS_TRACE_MODEL_H

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

#define trace_trace trace /* the document itself */
#define TYPE_TEXT const char *
#define TYPE_VALUE const char *
#define TYPE_U64 uint64_t
#define TYPE_OPTIONAL uint64_t
#define TYPE_HEX uint64_t
#define TYPE_U32 uint32_t
#define TYPE_POSITION uint32_t
#define TYPE_I64 int64_t
#define TYPE_INT int
#define TYPE_BOOL bool
#define TYPE_PAIRS struct trace_pair *
#define TYPE_COUNTS struct trace_pair *
#define TYPE_TEXTS const char **
#define TYPE_U64S uint64_t *
#define TYPE_U32S uint32_t *

#define BEGIN(name) struct trace_##name {
#define END(name) \
	}         \
	;
#define ROW(kind, member, when) TYPE_##kind member;
#define WORD(words, member, when) int member;
#define OBJECT(of, member, when) struct trace_##of member;
#define LIST(of, member, layout, when) \
	struct trace_##of *member;     \
	size_t member##_n;
#define MANY(kind, member, layout, when) \
	TYPE_##kind member;              \
	size_t member##_n;
#define OWN(type, member) type member;
#include "facts/trace.def"

#undef trace_trace
#undef TYPE_TEXT
#undef TYPE_VALUE
#undef TYPE_U64
#undef TYPE_OPTIONAL
#undef TYPE_HEX
#undef TYPE_U32
#undef TYPE_POSITION
#undef TYPE_I64
#undef TYPE_INT
#undef TYPE_BOOL
#undef TYPE_PAIRS
#undef TYPE_COUNTS
#undef TYPE_TEXTS
#undef TYPE_U64S
#undef TYPE_U32S

#endif
