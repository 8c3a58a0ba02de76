/* Members of JSON documents. */
#include "render/emit/members.h"

#include "analyse/trace/trace.h"
#include "base/text/out.h"

void member_text(struct out *out, const char *key, const char *value)
{
	out_text(out, key);
	out_json(out, value);
}

void member_number(struct out *out, const char *key, uint64_t value)
{
	out_text(out, key);
	if (value == TRACE_NONE)
		out_text(out, "null");
	else
		out_u64(out, value);
}
