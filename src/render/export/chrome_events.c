/*
 * Writes a trace's events in the Trace Event Format: allocations and segments as nestable
 * asynchronous slices, whose id is the number of the event that began them; failed allocations and
 * marks as instant events; and for each library a counter of the bytes that it has reserved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "facts/lives.h"
#include "render/export/chrome.h"

struct slice_owner {
	const char *name;
	int device;
	uint64_t bytes;
};

struct slice_walk {
	struct chrome *chrome;
	struct lives lives;
	struct slice_owner *owners;
	size_t owners_n, owners_size;
	bool gap; /* events are missing, so the bytes of libraries are unknown */
};

static const char *category(const struct slice_walk *walk, const struct block *block)
{
	const char *pool = trace_text(walk->chrome->trace, block->pool);
	const char *space = space_name(block->space);

	if (block->kind == BLOCK_SEGMENT)
		return "segment";
	if (pool)
		return pool;
	return space ? space : "memory";
}

static const struct emit_column begin_args[] = {
	CHROME_ARG("bytes", NUMBER, bytes),        CHROME_ARG("address", ADDRESS, address),
	CHROME_OPTIONAL("device", DEVICE, device), CHROME_ARG("owner", TEXT, owner),
	CHROME_ARG("stack", TEXT, stack),          EMIT_END,
};
static const struct emit_column end_args[] = { CHROME_ARG("end", TEXT, text), EMIT_END };
static const struct emit_column freed_args[] = { CHROME_ARG("freed at", TEXT, text), EMIT_END };

/* Writes the beginning ("b") or end ("e") of a block's slice. `text`: where freed, or why not. */
static void put_slice(const struct slice_walk *walk, const char *phase, const struct block *block,
		      uint64_t t, const struct emit_column *args, const char *text)
{
	struct chrome *chrome = walk->chrome;
	const struct stack_text *stack = stack_text(&chrome->stacks, block->stack);
	struct chrome_event event =
		chrome_event(chrome, phase, stack->line ? stack->line : "[no stack]", t);
	char id[24], frame[24];

	if (block->kind == BLOCK_MAPPING || !block->ptr ||
	    !export_wants(chrome->trace, chrome->options, block->device, block->pool))
		return;
	text_hex(id, block->seq);
	event.track = block->thread;
	event.category = category(walk, block);
	event.block = id;
	if (args == begin_args && block->stack < chrome->trace->stacks_n &&
	    chrome->innermost[block->stack]) {
		text_u64(frame, chrome->innermost[block->stack]);
		event.frame = frame;
	}
	event.bytes = block->size;
	event.address = block->ptr;
	event.device = block->device;
	event.text = text;
	event.owner = stack->owner;
	event.stack = stack->frames;
	chrome_put(chrome, &event, args);
}

static void end_all(const struct slice_walk *walk, uint64_t t, const char *why)
{
	const struct blocks *blocks = &walk->lives.blocks;

	foreach (row, blocks->list, blocks->used) {
		if (row->state == BLOCK_LIVE)
			put_slice(walk, "e", row, t > row->t ? t : row->t, end_args, why);
	}
}

/* --- bytes reserved by each library --- */

static struct slice_owner *owner_of(struct slice_walk *walk, const struct block *block)
{
	const char *name = stack_text(&walk->chrome->stacks, block->stack)->owner;

	name = name ? name : "[unknown library]";
	foreach (owner, walk->owners) {
		if (owner->device == block->device && !strcmp(owner->name, name))
			return owner;
	}
	NEED(GROW(walk->owners, walk->owners_n, walk->owners_size, 16));
	walk->owners[walk->owners_n] =
		(struct slice_owner){ .name = name, .device = block->device };
	return &walk->owners[walk->owners_n++];
}

static void put_owner(const struct slice_walk *walk, const struct slice_owner *owner, uint64_t t)
{
	char name[400];

	snprintf(name, sizeof(name), "device %d, library %.200s: reserved", owner->device,
		 owner->name);
	chrome_counter(walk->chrome, name, t, owner->bytes);
}

/* Adds a block's bytes to its library's counter (sign 1), or subtracts them (-1). Ignores blocks in
 * pools: only pools' segments, and blocks outside of pools, are allocated from the driver. */
static void count_owner(struct slice_walk *walk, const struct block *block, int sign, uint64_t t)
{
	bool reserved =
		block->kind == BLOCK_SEGMENT || (block->kind == BLOCK_HANDED && !block->pool);
	struct slice_owner *owner;

	if (!reserved || walk->gap || !lives_counts(block) ||
	    !export_wants(walk->chrome->trace, walk->chrome->options, block->device, block->pool))
		return;
	owner = owner_of(walk, block);
	owner->bytes += sign > 0 ? block->size : 0 - block->size;
	put_owner(walk, owner, t);
}

/* --- writing the events --- */

static void put_instant(struct chrome *chrome, const struct event *event)
{
	static const struct emit_column mark_args[] = { EMIT_END };
	static const struct emit_column oom_args[] = {
		CHROME_ARG("bytes", NUMBER, bytes),
		CHROME_ARG("error", TEXT, text),
		CHROME_ARG("stack", TEXT, stack),
		EMIT_END,
	};
	bool oom = event->op == EVENT_OOM;
	const char *name = oom ? "out of memory" : trace_text(chrome->trace, event->name);
	struct chrome_event instant = chrome_event(chrome, "i", name, event->t);

	if (oom && !export_wants(chrome->trace, chrome->options, event->device, event->pool))
		return;
	instant.track = event->thread;
	instant.scope = oom ? "p" : "t";
	instant.category = oom ? "oom" : "mark";
	instant.bytes = event->size;
	instant.text = trace_text(chrome->trace, event->error);
	instant.stack = stack_text(&chrome->stacks, event->stack)->frames;
	chrome_put(chrome, &instant, oom ? oom_args : mark_args);
}

static void take_event(struct slice_walk *walk, const struct event *event)
{
	struct lives *lives = &walk->lives;

	if (lives_gap(lives, event)) {
		end_all(walk, event->t, "not known: events are missing here");
		walk->gap = true;
	}
	NEED(!lives_take(lives, event, trace_text(walk->chrome->trace, event->api)));
	if (lives->ends && !lives->unseen) {
		put_slice(walk, "e", &lives->ended, event->t, freed_args,
			  stack_text(&walk->chrome->stacks, event->stack)->line);
		count_owner(walk, &lives->ended, -1, event->t);
	} else if (lives->ends && !lives->ended.ptr) {
		count_owner(walk, &lives->ended, -1, event->t);
	}
	if (lives->begins) {
		put_slice(walk, "b", &lives->begun, lives->begun.t, begin_args, NULL);
		count_owner(walk, &lives->begun, 1, event->t);
	}
	if (event->op == EVENT_OOM || event->op == EVENT_MARK)
		put_instant(walk->chrome, event);
}

int chrome_events(struct chrome *chrome)
{
	struct slice_walk walk = { .chrome = chrome,
				   .gap = chrome->trace->capture.events_filtered };
	struct event event = { .t = 0 };
	uint64_t end = chrome->trace->process.duration_ns;
	int more = 1;

	lives_start(&walk.lives, chrome->trace->capture.events_filtered);
	while (!chrome->out->error && (more = trace_next(chrome->trace, &event)) == 1)
		take_event(&walk, &event);
	if (more >= 0)
		end_all(&walk, end, "none: live when the trace ends");
	for (size_t i = 0; more >= 0 && !walk.gap && i < walk.owners_n; i++)
		put_owner(&walk, &walk.owners[i], end > event.t ? end : event.t);
	lives_clear(&walk.lives);
	free(walk.owners);
	return more < 0 ? more : 0;
}
