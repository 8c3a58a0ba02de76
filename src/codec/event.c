/* Names of events and memory spaces, and the effect of an event on its device's sums. */
#include "codec/event.h"

#include <stddef.h>

#include "base/guest/hot.h"
#include "base/guest/table_rows.h"

static const char op_names[EVENT_OPS][8] = {
#define EVENT(name, text, what) WHOLE(text),
#include "codec/event_kinds.def"
};

static const char space_names[SPACES][8] = {
#define SPACE(name, text, what) WHOLE(text),
#include "codec/event_kinds.def"
};

const char *event_op_name(unsigned op)
{
	return op < EVENT_OPS ? op_names[op] : NULL;
}

const char *space_name(unsigned space)
{
	return space < SPACES ? space_names[space] : NULL;
}

HOT_CODE void event_effect(const struct event *event, int64_t *allocated, int64_t *reserved)
{
	bool comes = event->op == EVENT_ALLOC || event->op == EVENT_RESERVE;
	bool handed = event->op <= EVENT_FREE;
	/* negated as unsigned, because negating a corrupt size as int64_t could overflow */
	int64_t change = (int64_t)(comes ? event->size : 0 - event->size);

	if (event->op > EVENT_RELEASE || !space_on_card(event->device, event->space) ||
	    (event->flags & EVENT_FOREIGN))
		change = 0;
	*allocated = handed ? change : 0;
	*reserved = handed && event->pool ? 0 : change;
}
