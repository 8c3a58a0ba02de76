/* Makes the names of call sites from two frames of a stack. A stack of only these two frames has
 * the same site, so files of `memtrace baseline`, which lack other frames, have the same sites. */
#include "facts/sites.h"

#include <string.h>

#include "base/text/text.h"

/* Returns the position of the innermost of `count` frames of this kind, if possible of one whose
 * function is known; UINT32_MAX for none. */
static uint32_t innermost(const struct site_frame *all, const uint32_t *frames, size_t count,
			  enum site_kind kind)
{
	uint32_t nameless = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		if (all[frames[i]].kind != (uint8_t)kind)
			continue;
		if (all[frames[i]].function)
			return (uint32_t)i;
		if (nameless == UINT32_MAX)
			nameless = (uint32_t)i;
	}
	return nameless;
}

static uint32_t framework(const struct site_frame *all, const uint32_t *frames, size_t count,
			  bool python)
{
	for (size_t i = 0; i < count; i++) {
		const struct site_frame *frame = &all[frames[i]];

		if (frame->kind == SITE_FRAMEWORK && frame->python == python && frame->function &&
		    !frame->helper)
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

/* Finds the native frame of autograd's node ("MmBackward0"), which no Python code calls. */
static uint32_t backward(const struct site_frame *all, const uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = all[frames[i]].function;
		const char *at = name ? strstr(name, "Backward") : NULL;

		if (at && !all[frames[i]].python && all[frames[i]].kind == SITE_FRAMEWORK &&
		    !strstr(name, "::") && !at[8 + strspn(at + 8, "0123456789")])
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

/* Finds a site's inner frame; a framework's C++ frames are considered only if `native` is true. */
static uint32_t inside(const struct site_frame *all, const uint32_t *frames, size_t count,
		       bool native)
{
	uint32_t found = innermost(all, frames, count, SITE_VENDOR);

	if (found == UINT32_MAX)
		found = backward(all, frames, count);
	if (found == UINT32_MAX)
		found = framework(all, frames, count, true);
	if (found == UINT32_MAX && native)
		found = framework(all, frames, count, false);
	return found;
}

struct site_pick site_pick(const struct site_frame *all, const uint32_t *frames, size_t count)
{
	static const enum site_kind last[] = { SITE_FRAMEWORK, SITE_PLUMBING };
	struct site_pick pick = { UINT32_MAX, innermost(all, frames, count, SITE_OWN) };

	if (pick.outer != UINT32_MAX) {
		/* If the outer frame is a line of Python, an operator's C++ name adds nothing. */
		pick.inner = inside(all, frames, pick.outer, !all[frames[pick.outer]].python);
		return pick;
	}
	pick.outer = backward(all, frames, count);
	pick.inner = inside(all, frames, pick.outer != UINT32_MAX ? pick.outer : count, true);
	if (pick.outer != UINT32_MAX)
		return pick;
	pick.outer = pick.inner;
	pick.inner = UINT32_MAX;
	for (size_t i = 0; i < 2 && pick.outer == UINT32_MAX; i++)
		pick.outer = innermost(all, frames, count, last[i]);
	return pick;
}

void site_append(char *to, size_t size, const struct site_frame *frame, uint32_t line)
{
	const char *name = frame->function ? frame->function : frame->where;
	char number[24] = ":";

	text_append(to, size, name ? name : "[unknown]");
	if (!frame->function || !frame->where)
		return;
	text_append(to, size, " (");
	text_append(to, size, frame->where);
	text_u64(number + 1, line);
	text_append(to, size, line ? number : "");
	text_append(to, size, ")");
}

void site_join(char *to, const struct site_frame *inner, const struct site_frame *outer)
{
	to[0] = '\0';
	if (inner) {
		site_append(to, SITE_LONGEST, inner, 0);
		text_append(to, SITE_LONGEST, " from ");
	}
	if (outer)
		site_append(to, SITE_LONGEST, outer, 0);
	else
		text_append(to, SITE_LONGEST, "[unknown]");
}
