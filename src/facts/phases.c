/* Finds the phases of a recording in one pass over its events (struct phases): pairs the pushes
 * with the pops, and computes each phase's memory with struct track. */
#include "facts/phases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/text/text.h"

void phases_clear(struct phases *phases)
{
	for (size_t i = 0; i < phases->tracks_n; i++)
		track_clear(&phases->tracks[i]);
	pages_free(phases->tracks, phases->tracks_size * sizeof(*phases->tracks));
	pages_free(phases->size ? phases->list : NULL, phases->size * sizeof(*phases->list));
	blocks_clear(&phases->open);
	blocks_clear(&phases->blocks);
}

static bool add_track(struct phases *phases, int device)
{
	struct track *tracks = pages_room(phases->tracks, &phases->tracks_size,
					  phases->tracks_n + 1, sizeof(*tracks));

	if (!tracks)
		return false;
	phases->tracks = tracks;
	tracks[phases->tracks_n++] = (struct track){ .device = device };
	return true;
}

static uint32_t gap_of(const struct phases *phases)
{
	return (uint32_t)phases->count;
}

static bool move(struct phases *phases, struct track *own, const struct decode_sums *sums)
{
	struct track *all = &phases->tracks[0];
	uint64_t allocated = all->allocated.now + (sums->allocated - own->allocated.now);
	uint64_t reserved = all->reserved.now + (sums->reserved - own->reserved.now);

	if (!phases->open.live) {
		track_forget(all);
		track_forget(own);
	}
	return track_move(own, sums->allocated, sums->reserved, gap_of(phases)) &&
	       track_move(all, allocated, reserved, gap_of(phases));
}

/* Where events are missing, forgets the live blocks and marks the open phases as incomplete. */
static void cut(struct phases *phases)
{
	phases->cut_at = phases->count;
	blocks_forget(&phases->blocks);
}

/* Sets the device's sums. If they differ from the last ones although no event explains that (not
 * `expected`), events are missing. */
static bool set_sums(struct phases *phases, int device, const struct decode_sums *sums,
		     bool expected)
{
	struct track *own;

	if (!phases->track_of[device]) {
		if (!sums->allocated && !sums->reserved)
			return true;
		if (!phases->tracks_n && !add_track(phases, NO_DEVICE))
			return false;
		phases->track_of[device] = (uint16_t)phases->tracks_n;
		if (!add_track(phases, device))
			return false;
	}
	own = &phases->tracks[phases->track_of[device]];
	if (own->allocated.now == sums->allocated && own->reserved.now == sums->reserved)
		return true;
	if (!expected)
		cut(phases);
	return move(phases, own, sums);
}

/* Removes the live block at like->ptr. Returns the number of the gap (the time between two pushes,
 * see phases.h) in which the block was allocated, 0 if unknown. */
static uint32_t bury(struct phases *phases, const struct block *like)
{
	uint32_t id = like->ptr ? blocks_find(&phases->blocks, like) : 0;

	if (id)
		blocks_end(&phases->blocks, id);
	return id ? (uint32_t)phases->blocks.list[id - 1].seq : 0;
}

static bool count_block(struct phases *phases, const struct event *event, int64_t bytes)
{
	struct track *all = &phases->tracks[0];
	struct track *own = &phases->tracks[phases->track_of[event->device]];
	const struct block block = {
		.ptr = event->ptr,
		.size = event->size,
		.seq = gap_of(phases),
		.pool = event->pool,
		.device = event->device,
		.space = event->space,
		.kind = BLOCK_HANDED,
	};
	/* An allocation at the address of a live block ends that block. */
	uint32_t gap = bury(phases, &block);

	if (event->op == EVENT_FREE)
		return track_freed(all, 0 - (uint64_t)bytes, gap) &&
		       track_freed(own, 0 - (uint64_t)bytes, gap);
	track_born(all, (uint64_t)bytes);
	track_born(own, (uint64_t)bytes);
	return !phases->open.live || !block.ptr || blocks_add(&phases->blocks, &block);
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

static struct trace_phase_device all_of(const struct trace_phase *phase)
{
	return (struct trace_phase_device){
		.allocated = phase->allocated,
		.reserved = phase->reserved,
		.allocations = phase->allocations,
		.freed = phase->freed,
		.kept = phase->kept,
	};
}

static void set_all(struct trace_phase *phase, const struct trace_phase_device *all)
{
	phase->allocated = all->allocated;
	phase->reserved = all->reserved;
	phase->allocations = all->allocations;
	phase->freed = all->freed;
	phase->kept = all->kept;
}

/* Allocates a phase's sums per device if several devices are in use; with one device, the sums over
 * all devices are enough, and they become the first device's if a second one comes. */
static bool add_shares(struct phases *phases, struct trace_phase *phase)
{
	size_t count = phases->tracks_n > 2 ? phases->tracks_n - 1 : 0;
	struct trace_phase_device *shares;

	if (phase->devices_n == count)
		return true;
	shares = arena_alloc(phases->arena, count * sizeof(*shares));
	if (!shares)
		return false;
	shares[0] = all_of(phase);
	if (phase->devices_n)
		memcpy(shares, phase->devices, phase->devices_n * sizeof(*shares));
	phase->devices = shares;
	phase->devices_n = count;
	return true;
}

static bool push_phase(struct phases *phases, const struct event *event)
{
	struct trace_phase *list =
		pages_room(phases->list, &phases->size, phases->count + 1, sizeof(*list));
	struct trace_phase *phase = list ? &list[phases->count] : NULL;
	struct trace_phase_device all = { .device = NO_DEVICE };

	if (list)
		phases->list = list;
	if (!list || !ranges_push(&phases->open, event, (uint32_t)phases->count))
		return false;
	*phase = (struct trace_phase){ .thread = event->thread,
				       .start = event->t,
				       .end = TRACE_NONE };
	phases->count++;
	if (phases->tracks_n)
		track_begin(&phases->tracks[0], &all);
	set_all(phase, &all);
	if (!add_shares(phases, phase))
		return false;
	for (size_t i = 0; i < phase->devices_n; i++)
		track_begin(&phases->tracks[i + 1], &phase->devices[i]);
	return true;
}

/* Sets to TRACE_NONE what is unknown because the phase is `open` or lacks events (`cut`). */
static void hide(struct trace_phase_device *share, bool open, bool cut)
{
	const struct trace_phase_count unknown = { TRACE_NONE, TRACE_NONE };

	if (open)
		share->allocated.end_bytes = share->reserved.end_bytes = TRACE_NONE;
	if (cut)
		share->allocations = share->freed = share->kept = unknown;
}

static bool settle(struct phases *phases, struct trace_phase *phase)
{
	uint32_t gap = (uint32_t)(phase - phases->list) + 1;
	bool open = phase->end == TRACE_NONE;
	bool cut = gap <= phases->cut_at;
	struct trace_phase_device all;

	if (!add_shares(phases, phase))
		return false;
	for (size_t i = 0; i < phase->devices_n; i++) {
		track_end(&phases->tracks[i + 1], gap, &phase->devices[i]);
		hide(&phase->devices[i], open, cut);
	}
	all = all_of(phase);
	if (phases->tracks_n)
		track_end(&phases->tracks[0], gap, &all);
	hide(&all, open, cut);
	set_all(phase, &all);
	return true;
}

static bool pop_phase(struct phases *phases, const struct event *event)
{
	uint32_t which;

	if (!ranges_pop(&phases->open, event, &which))
		return true;
	phases->list[which].end = event->t;
	return settle(phases, &phases->list[which]);
}

bool phases_event(struct phases *phases, const struct event *event)
{
	if (event->seq != phases->next_seq)
		cut(phases);
	phases->next_seq = event->seq + 1;
	switch (event->op) {
	case EVENT_PUSH:
		return push_phase(phases, event);
	case EVENT_POP:
		return pop_phase(phases, event);
	default:
		return !event_is_memory(event->op) || memory(phases, event);
	}
}

/* Before a push or pop, copies the devices' sums from the reader, in case events are missing since
 * the last event. The reader has the sums: each chunk of events begins with those of all devices,
 * and they are recorded again when a recording that was stopped goes on. */
static bool take_sums(struct phases *phases, const struct journal_reader *reader,
		      const struct event *event)
{
	const struct decode_sums *sums = reader->decoder.sums;
	bool fresh = phases->chunk != reader->next;
	bool good = true;

	if (event->op != EVENT_PUSH && event->op != EVENT_POP)
		return true;
	phases->chunk = reader->next;
	for (size_t i = 1; good && !fresh && i < phases->tracks_n; i++)
		good = set_sums(phases, phases->tracks[i].device, &sums[phases->tracks[i].device],
				false);
	for (int i = 0; good && fresh && i < DECODE_DEVICES; i++)
		good = set_sums(phases, i, &sums[i], false);
	return good;
}

/* Writes the number as JSON, with a point in place of the locale's decimal point: the only
 * character of snprintf()'s output that is not a digit, a sign or an e. */
static void real_text(char *to, double real)
{
	char text[40];
	const char *p = text;

	snprintf(text, sizeof(text), "%.17g", real);
	if (real - real != 0) { /* JSON has no infinity and no NaN */
		memcpy(to, "null", sizeof("null"));
		return;
	}
	while (*p) {
		size_t digits = strspn(p, "0123456789+-e");

		memcpy(to, p, digits);
		to += digits;
		p += digits;
		if (*p)
			*to++ = '.';
		p += strcspn(p, "0123456789+-e");
	}
	*to = 0;
}

void detail_tell(const struct event_detail *detail, struct detail_text *text)
{
	double real;

	*text = (struct detail_text){ { 0 }, { 0 } };
	if (detail->color)
		snprintf(text->color, sizeof(text->color), "#%06x", detail->color & 0xffffff);
	if (detail->payload_kind == PAYLOAD_UNSIGNED) {
		text_u64(text->payload, detail->payload);
	} else if (detail->payload_kind == PAYLOAD_SIGNED) {
		snprintf(text->payload, sizeof(text->payload), "%lld", (long long)detail->payload);
	} else if (detail->payload_kind == PAYLOAD_REAL) {
		memcpy(&real, &detail->payload, sizeof(real));
		real_text(text->payload, real);
	}
}

static void describe(struct spool_model *recording, const struct event *push,
		     struct trace_phase *phase)
{
	const struct spool *spool = recording->spool;
	const char *name = spool_text(spool, push->name);
	struct detail_text detail;

	detail_tell(&push->detail, &detail);
	phase->name = name ? name : "";
	phase->domain = spool_text(spool, push->pool);
	phase->category = spool_text(spool, push->detail.category);
	phase->color = detail.color[0] ? spool_model_text(recording, detail.color) : NULL;
	phase->payload = detail.payload[0] ? spool_model_text(recording, detail.payload) : NULL;
}

static bool take(struct phases *phases, struct spool_model *recording,
		 const struct journal_reader *reader, const struct event *event)
{
	if (!take_sums(phases, reader, event) || !phases_event(phases, event))
		return false;
	if (event->op == EVENT_PUSH)
		describe(recording, event, &phases->list[phases->count - 1]);
	return !recording->error;
}

static void leave_out_idle(struct trace_phase *phase)
{
	size_t kept = 0;

	for (size_t i = 0; i < phase->devices_n; i++) {
		const struct trace_phase_device *device = &phase->devices[i];

		if (device->allocated.peak_bytes || device->reserved.peak_bytes)
			phase->devices[kept++] = *device;
	}
	phase->devices_n = kept;
}

/* Computes the sums of the phases that are still open, and stores all phases in the trace. */
static bool finish(struct phases *phases, struct spool_model *recording)
{
	struct trace *trace = recording->trace;

	for (uint32_t i = 0; i < phases->open.used; i++) {
		const struct block *range = &phases->open.list[i];

		if (range->state == BLOCK_LIVE && !settle(phases, &phases->list[range->stack]))
			return false;
	}
	trace->phases = recording->phases = phases->list;
	trace->phases_n = phases->count;
	recording->phases_size = phases->size;
	phases->size = 0;
	for (size_t i = 0; i < trace->phases_n; i++)
		leave_out_idle(&trace->phases[i]);
	return true;
}

int phases_find(struct spool_model *recording)
{
	struct phases phases = { .arena = &recording->arena };
	struct journal_reader reader;
	struct event event;
	int error = journal_read(&reader, recording->spool);

	while (!error && journal_next(&reader, &event)) {
		if (!take(&phases, recording, &reader, &event))
			error = -ENOMEM;
	}
	if (!error && !finish(&phases, recording))
		error = -ENOMEM;
	recording->damaged |= reader.broken != 0;
	journal_read_end(&reader);
	phases_clear(&phases);
	return error;
}
