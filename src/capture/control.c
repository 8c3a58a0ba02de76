/* What others ask of this process while it runs. */
#include "capture/control.h"

#include "base/text.h"
#include "capture/record.h"

_Atomic uint32_t control_seen;

/* Any process that may write the file may have written this: no text is taken to have an end. */
static void act(const struct spool_request *request)
{
	char name[SPOOL_REQUEST_TEXT + 1];

	switch (request->verb) {
	case VERB_START:
		record_events_locked(true);
		break;
	case VERB_STOP:
		record_events_locked(false);
		break;
	case VERB_MARK:
		text_copy_n(name, sizeof(name), request->text, sizeof(request->text));
		record_mark_locked(name);
		break;
	default: /* of a newer tool */
		break;
	}
}

void control_act(void)
{
	struct spool_header *header;
	uint32_t asked;
	uint32_t acted;

	record_thread(); /* takes the lock itself, the first time */
	record_lock();
	header = record_spool()->header;
	asked = atomic_load_explicit(&header->asked, memory_order_acquire);
	acted = atomic_load(&header->acted);
	if (asked - acted > SPOOL_REQUESTS)
		acted = asked - SPOOL_REQUESTS;
	for (; acted != asked; acted++)
		act(&header->requests[acted % SPOOL_REQUESTS]);
	atomic_store(&header->acted, acted);
	atomic_store(&control_seen, asked);
	record_unlock();
}

void control_opened(const struct spool_header *header)
{
	atomic_store(&control_seen, atomic_load(&header->asked));
}
