/*
 * Phases: pushes and pops paired.
 *
 * Open phases form a chain by start. All of them see every event, but only the newest keeps the
 * running peak; when a phase ends, what it saw goes to the one before. So a memory event costs the
 * same however deep phases nest.
 */
#include "analyse/phases.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_SIZE = 1024 };

void phases_start(struct phases *phases)
{
	memset(phases, 0, sizeof(*phases));
	phases->newest = -1;
}

void phases_clear(struct phases *phases)
{
	if (phases->list)
		munmap(phases->list, phases->size * sizeof(*phases->list));
	phases->list = NULL;
}

static bool grow(struct phases *phases)
{
	size_t size = phases->size ? phases->size * 2 : FIRST_SIZE;
	struct phase *list = mmap(NULL, size * sizeof(*list), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (list == MAP_FAILED)
		return false;
	if (phases->list) {
		memcpy(list, phases->list, phases->count * sizeof(*list));
		phases_clear(phases);
	}
	phases->list = list;
	phases->size = size;
	return true;
}

static bool push(struct phases *phases, const struct event *event)
{
	struct phase *phase;

	if (phases->count == phases->size && !grow(phases))
		return false;
	phase = &phases->list[phases->count];
	*phase = (struct phase){
		.name = event->name,
		.domain = event->pool,
		.thread = event->thread,
		.open = true,
		.range = event->stream,
		.start = event->t,
		.allocated = { phases->allocated, 0, phases->allocated },
		.reserved = { phases->reserved, 0, phases->reserved },
		.earlier = phases->newest,
		.later = -1,
	};
	if (phases->newest >= 0)
		phases->list[phases->newest].later = (int32_t)phases->count;
	phases->newest = (int32_t)phases->count++;
	return true;
}

static void raise_peak(struct phase_sums *sums, uint64_t bytes)
{
	if (bytes > sums->peak)
		sums->peak = bytes;
}

static void pop(struct phases *phases, struct phase *phase, const struct event *event)
{
	/* What the newer ones saw was within this phase, too. */
	for (int32_t i = phase->later; i >= 0; i = phases->list[i].later) {
		raise_peak(&phase->allocated, phases->list[i].allocated.peak);
		raise_peak(&phase->reserved, phases->list[i].reserved.peak);
	}
	phase->open = false;
	phase->end = event ? event->t : 0;
	phase->allocated.end = phases->allocated;
	phase->reserved.end = phases->reserved;
	if (phase->earlier >= 0) {
		struct phase *earlier = &phases->list[phase->earlier];

		earlier->later = phase->later;
		raise_peak(&earlier->allocated, phase->allocated.peak);
		raise_peak(&earlier->reserved, phase->reserved.peak);
	}
	if (phase->later >= 0)
		phases->list[phase->later].earlier = phase->earlier;
	else
		phases->newest = phase->earlier;
}

const struct phase *phases_ended_by(const struct phases *phases, const struct event *event)
{
	for (int32_t i = phases->newest; i >= 0; i = phases->list[i].earlier) {
		const struct phase *phase = &phases->list[i];

		if (event->stream ? phase->range == event->stream
				  : !phase->range && phase->thread == event->thread &&
					    phase->domain == event->pool)
			return phase;
	}
	return NULL;
}

static void move(struct phases *phases, const struct event *event)
{
	struct decode_sums *device;
	struct phase *newest;

	if (event->device < 0 || event->device >= DECODE_DEVICES)
		return;
	device = &phases->devices[event->device];
	phases->allocated += event->allocated - device->allocated;
	phases->reserved += event->reserved - device->reserved;
	device->allocated = event->allocated;
	device->reserved = event->reserved;
	if (phases->newest < 0)
		return;
	newest = &phases->list[phases->newest];
	raise_peak(&newest->allocated, phases->allocated);
	raise_peak(&newest->reserved, phases->reserved);
}

bool phases_event(struct phases *phases, const struct event *event)
{
	const struct phase *phase;

	switch (event->op) {
	case EVENT_PUSH:
		return push(phases, event);
	case EVENT_POP:
		phase = phases_ended_by(phases, event);
		if (phase)
			pop(phases, &phases->list[phase - phases->list], event);
		return true;
	default:
		move(phases, event);
		return true;
	}
}

int phases_find(struct phases *phases, const struct spool *spool)
{
	struct journal_reader reader;
	struct event event;
	int error = journal_read(&reader, spool);

	phases_start(phases);
	if (error)
		return error;
	while (!error && journal_next(&reader, &event)) {
		if (!phases_event(phases, &event))
			error = -ENOMEM;
	}
	phases->broken = reader.broken;
	journal_read_end(&reader);
	while (phases->newest >= 0) {
		struct phase *phase = &phases->list[phases->newest];

		pop(phases, phase, NULL);
		phase->open = true;
	}
	return error;
}
