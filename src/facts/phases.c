/*
 * Phases: pushes and pops paired, and the figures of each taken from the tracks of the devices.
 *
 * While the process has used one device only, the track of all is that device's.
 */
#include "facts/phases.h"

#include <errno.h>
#include <string.h>

#include "base/mem/pages.h"

enum { FIRST_SIZE = 1024, FIRST_TRACKS = 4 };

void phases_start(struct phases *phases)
{
	memset(phases, 0, sizeof(*phases));
	ranges_start(&phases->open);
}

void phases_clear(struct phases *phases)
{
	for (size_t i = 0; i < phases->tracks_n; i++)
		track_clear(&phases->tracks[i]);
	pages_free(phases->tracks, phases->tracks_size * sizeof(*phases->tracks));
	pages_free(phases->list, phases->size * sizeof(*phases->list));
	pages_free(phases->parts, phases->parts_size * sizeof(*phases->parts));
	ranges_clear(&phases->open);
	blocks_clear(&phases->blocks);
	phases_start(phases);
}

/* Makes room for `more` elements behind `count`: the array, or NULL without memory. */
static void *room(void *list, size_t *size, size_t count, size_t more, size_t bytes)
{
	size_t wanted = *size ? *size : FIRST_SIZE;
	void *grown;

	if (count + more <= *size)
		return list;
	while (wanted < count + more)
		wanted *= 2;
	grown = pages_grow(list, *size * bytes, wanted * bytes);
	if (grown)
		*size = wanted;
	return grown;
}

/* --- devices --- */

static bool add_track(struct phases *phases, int device, const struct track *like)
{
	size_t size = phases->tracks_size ? phases->tracks_size * 2 : FIRST_TRACKS;
	struct track *tracks = phases->tracks;

	if (phases->tracks_n == phases->tracks_size) {
		tracks = pages_grow(tracks, phases->tracks_size * sizeof(*tracks),
				    size * sizeof(*tracks));
		if (!tracks)
			return false;
		if (like)
			like = tracks + (like - phases->tracks);
		phases->tracks = tracks;
		phases->tracks_size = size;
	}
	tracks[phases->tracks_n] = (struct track){ .device = device };
	if (like && !track_copy(&tracks[phases->tracks_n], like))
		return false;
	tracks[phases->tracks_n++].device = device;
	if (device >= 0)
		phases->track_of[device] = (uint16_t)phases->tracks_n;
	return true;
}

/* The first device shares the track of all until there is a second. */
static bool meet(struct phases *phases, int device)
{
	if (!phases->tracks_n) {
		phases->first = (int16_t)device;
		phases->track_of[device] = 1;
		return add_track(phases, NO_DEVICE, NULL);
	}
	if (phases->tracks_n == 1 && !add_track(phases, phases->first, &phases->tracks[0]))
		return false;
	return add_track(phases, device, NULL);
}

static uint32_t gap_of(const struct phases *phases)
{
	return (uint32_t)phases->count;
}

static bool move(struct phases *phases, int device, uint64_t allocated, uint64_t reserved)
{
	struct track *all = &phases->tracks[0];
	struct track *own = &phases->tracks[phases->track_of[device] - 1];
	uint64_t sum = all->allocated.now + (allocated - own->allocated.now);
	uint64_t held = all->reserved.now + (reserved - own->reserved.now);

	if (!phases->open.open) {
		track_forget(all);
		track_forget(own);
	}
	if (!track_move(own, allocated, reserved, gap_of(phases)))
		return false;
	return own == all || track_move(all, sum, held, gap_of(phases));
}

/* Events are missing: which blocks live, and what was born and died, nobody knows. */
static void cut(struct phases *phases)
{
	phases->cut_at = phases->count;
	blocks_forget(&phases->blocks);
}

/* The device's sums, whether or not an event told how they came about. */
static bool set_sums(struct phases *phases, int device, const struct decode_sums *sums,
		     bool expected)
{
	const struct track *own;

	if (!phases->track_of[device]) {
		if (!sums->allocated && !sums->reserved)
			return true;
		if (!meet(phases, device))
			return false;
	}
	own = &phases->tracks[phases->track_of[device] - 1];
	if (own->allocated.now == sums->allocated && own->reserved.now == sums->reserved)
		return true;
	if (!expected)
		cut(phases);
	return move(phases, device, sums->allocated, sums->reserved);
}

/* --- blocks --- */

static struct block block_of(const struct event *event)
{
	return (struct block){
		.ptr = event->ptr,
		.size = event->size,
		.pool = event->pool,
		.device = event->device,
		.space = event->space,
		.kind = BLOCK_HANDED,
	};
}

/* A block that ends is in the tree if it was born in a phase that is still open. */
static uint32_t bury(struct phases *phases, const struct event *event)
{
	struct block like = block_of(event);
	uint32_t id = event->ptr ? blocks_find(&phases->blocks, &like) : 0;
	uint32_t gap = 0;

	if (!id)
		return 0;
	gap = (uint32_t)phases->blocks.list[id - 1].seq;
	blocks_end(&phases->blocks, id);
	return gap;
}

static bool count_block(struct phases *phases, const struct event *event, int64_t bytes)
{
	struct track *all = &phases->tracks[0];
	struct track *own = &phases->tracks[phases->track_of[event->device] - 1];
	struct block block = block_of(event);
	uint32_t gap = bury(phases, event); /* of a birth: one whose end was not seen */

	if (event->op == EVENT_ALLOC) {
		block.seq = gap_of(phases);
		track_born(all, (uint64_t)bytes);
		if (own != all)
			track_born(own, (uint64_t)bytes);
		return !phases->open.open || !block.ptr || blocks_add(&phases->blocks, &block);
	}
	if (!track_freed(all, 0 - (uint64_t)bytes, gap))
		return false;
	return own == all || track_freed(own, 0 - (uint64_t)bytes, gap);
}

static bool memory(struct phases *phases, const struct event *event)
{
	struct decode_sums before = { 0, 0 };
	struct decode_sums after = { event->allocated, event->reserved };
	int64_t allocated;
	int64_t reserved;

	if (event->device < 0 || event->device >= DECODE_DEVICES)
		return true;
	event_effect(event, &allocated, &reserved);
	before.allocated = after.allocated - (uint64_t)allocated;
	before.reserved = after.reserved - (uint64_t)reserved;
	if (!set_sums(phases, event->device, &before, false) ||
	    !set_sums(phases, event->device, &after, true))
		return false;
	if (!allocated || (event->op != EVENT_ALLOC && event->op != EVENT_FREE))
		return true;
	return count_block(phases, event, allocated);
}

/* --- phases --- */

static bool push(struct phases *phases, const struct event *event)
{
	size_t devices = phases->tracks_n > 1 ? phases->tracks_n - 1 : 0;
	struct phase *list = room(phases->list, &phases->size, phases->count, 1, sizeof(*list));
	struct track_part *parts;

	if (!list)
		return false;
	phases->list = list;
	parts = room(phases->parts, &phases->parts_size, phases->parts_n, devices, sizeof(*parts));
	if (devices && !parts)
		return false;
	phases->parts = parts;
	if (!ranges_push(&phases->open, event, (uint32_t)phases->count))
		return false;
	list += phases->count++;
	*list = (struct phase){
		.name = event->name,
		.domain = event->pool,
		.thread = event->thread,
		.open = true,
		.detail = event->detail,
		.start = event->t,
		.parts = (uint32_t)phases->parts_n,
		.devices = (uint32_t)devices,
	};
	phases->parts_n += devices;
	if (phases->tracks_n)
		track_begin(&phases->tracks[0], &list->all);
	for (size_t i = 0; i < devices; i++)
		track_begin(&phases->tracks[i + 1], &parts[list->parts + i]);
	return true;
}

/* Devices that came while the phase was open had nothing when it began. */
static bool add_devices(struct phases *phases, struct phase *phase)
{
	size_t devices = phases->tracks_n > 1 ? phases->tracks_n - 1 : 0;
	struct track_part *parts;

	if (phase->devices == devices)
		return true;
	parts = room(phases->parts, &phases->parts_size, phases->parts_n, devices, sizeof(*parts));
	if (!parts)
		return false;
	phases->parts = parts;
	parts += phases->parts_n;
	memset(parts, 0, devices * sizeof(*parts));
	if (phase->devices)
		memcpy(parts, &phases->parts[phase->parts], phase->devices * sizeof(*parts));
	else
		parts[0] = phase->all;
	phase->parts = (uint32_t)phases->parts_n;
	phase->devices = (uint32_t)devices;
	phases->parts_n += devices;
	return true;
}

/* What the phase saw up to now. */
static bool settle(struct phases *phases, struct phase *phase)
{
	uint32_t gap = (uint32_t)(phase - phases->list) + 1;

	if (!add_devices(phases, phase))
		return false;
	phase->cut = gap <= phases->cut_at;
	if (phases->tracks_n)
		track_end(&phases->tracks[0], gap, &phase->all);
	for (uint32_t i = 0; i < phase->devices; i++)
		track_end(&phases->tracks[i + 1], gap, &phases->parts[phase->parts + i]);
	return true;
}

static bool pop(struct phases *phases, const struct event *event)
{
	struct range was;
	struct phase *phase;

	if (!ranges_pop(&phases->open, event, &was))
		return true;
	phase = &phases->list[was.phase];
	phase->open = false;
	phase->end = event->t;
	return settle(phases, phase);
}

bool phases_event(struct phases *phases, const struct event *event)
{
	if (event->seq != phases->next_seq)
		cut(phases);
	phases->next_seq = event->seq + 1;
	switch (event->op) {
	case EVENT_PUSH:
		return push(phases, event);
	case EVENT_POP:
		return pop(phases, event);
	default:
		return !event_is_memory(event->op) || memory(phases, event);
	}
}

bool phases_end(struct phases *phases)
{
	for (size_t i = 0; phases->open.open && i < phases->count; i++) {
		if (phases->list[i].open && !settle(phases, &phases->list[i]))
			return false;
	}
	return true;
}

/*
 * Sums that moved without an event: a chunk tells all of them at its beginning, as events in front
 * of it may have been dropped, and recording that goes on tells them anew.
 */
static bool take_sums(struct phases *phases, const struct journal_reader *reader,
		      const struct event *event)
{
	const struct decode_sums *sums = reader->decoder.sums;
	bool good = true;

	if (event->op != EVENT_PUSH && event->op != EVENT_POP)
		return true;
	if (phases->chunk == reader->next) {
		if (phases->tracks_n)
			good = set_sums(phases, phases->first, &sums[phases->first], false);
		for (size_t i = 2; good && i < phases->tracks_n; i++) {
			int device = phases->tracks[i].device;

			good = set_sums(phases, device, &sums[device], false);
		}
		return good;
	}
	phases->chunk = reader->next;
	for (int i = 0; good && i < DECODE_DEVICES; i++)
		good = set_sums(phases, i, &sums[i], false);
	return good;
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
		if (!take_sums(phases, &reader, &event) || !phases_event(phases, &event))
			error = -ENOMEM;
	}
	if (!error && !phases_end(phases))
		error = -ENOMEM;
	phases->broken = reader.broken;
	journal_read_end(&reader);
	return error;
}

const struct track_part *phases_part(const struct phases *phases, const struct phase *phase,
				     uint32_t i, int *device)
{
	*device = phases->tracks[i + 1].device;
	return &phases->parts[phase->parts + i];
}
