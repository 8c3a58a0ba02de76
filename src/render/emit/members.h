/* Members of JSON documents: `key` is what stands in front of the value, {"key": or ,"key":. */
#ifndef RENDER_EMIT_MEMBERS_H
#define RENDER_EMIT_MEMBERS_H

#include <stdint.h>

struct out;

/* NULL is null. */
void member_text(struct out *out, const char *key, const char *value);

/* TRACE_NONE is null. */
void member_number(struct out *out, const char *key, uint64_t value);

#endif
