/* The event: names, and what it does to its device's sums. */
#include "codec/event.h"

#include <stddef.h>

#include "base/guest/hot.h"
#include "base/guest/table_rows.h"

static const char op_names[EVENT_OPS][8] = {
#define EVENT(name, text, what) WHOLE(text),
#include "codec/events.def"
#undef EVENT
};

static const char space_names[SPACES][8] = {
#define SPACE(name, text, what) WHOLE(text),
#include "codec/events.def"
#undef SPACE
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
	int64_t size = (int64_t)event->size;
	int64_t gone = (int64_t)(0 - event->size); /* a hostile size has no negative */

	*allocated = *reserved = 0;
	if (!space_on_card(event->device, event->space) || (event->flags & EVENT_FOREIGN))
		return;
	switch (event->op) {
	case EVENT_ALLOC:
		*allocated = size;
		*reserved = event->pool ? 0 : size;
		break;
	case EVENT_FREE:
		*allocated = gone;
		*reserved = event->pool ? 0 : gone;
		break;
	case EVENT_RESERVE:
		*reserved = size;
		break;
	case EVENT_RELEASE:
		*reserved = gone;
		break;
	}
}
