/*
 * The events of a trace in the Trace Event Format: allocations and segments as nestable
 * asynchronous slices, each under the number of the event that began it; failures and marks as
 * instants; and what each owner holds of the driver as a counter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
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
	bool gap; /* who holds what is not known any more */
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

/* What begin and end of a slice have in common. */
static void put_slice(const struct slice_walk *walk, const char *phase, const struct block *block,
		      uint64_t t)
{
	struct chrome *chrome = walk->chrome;
	const char *line = stack_text(&chrome->stacks, block->stack)->line;
	char id[24];

	text_hex(id, block->seq);
	chrome_begin(chrome, phase, line ? line : "[no stack]", t);
	chrome_u64(chrome, ",\"tid\":", block->thread);
	chrome_text(chrome, ",\"cat\":", category(walk, block));
	chrome_text(chrome, ",\"id\":", id);
}

static bool is_slice(const struct slice_walk *walk, const struct block *block)
{
	return block->kind != BLOCK_MAPPING && block->ptr &&
	       export_wants(walk->chrome->trace, walk->chrome->options, block->device, block->pool);
}

static void begin_slice(const struct slice_walk *walk)
{
	struct chrome *chrome = walk->chrome;
	const struct block *block = &walk->lives.begun;
	const struct stack_text *stack = stack_text(&chrome->stacks, block->stack);
	char address[24];

	if (!is_slice(walk, block))
		return;
	put_slice(walk, "b", block, block->t);
	if (block->stack < chrome->trace->stacks_n && chrome->innermost[block->stack]) {
		chrome_u64(chrome, ",\"sf\":\"", chrome->innermost[block->stack]);
		out_char(chrome->out, '"');
	}
	text_hex(address, block->ptr);
	chrome_u64(chrome, ",\"args\":{\"bytes\":", block->size);
	chrome_text(chrome, ",\"address\":", address);
	if (block->device >= 0)
		chrome_u64(chrome, ",\"device\":", (uint64_t)block->device);
	chrome_text(chrome, ",\"owner\":", stack->owner);
	chrome_text(chrome, ",\"stack\":", stack->frames);
	out_text(chrome->out, "}}");
}

static void end_slice(const struct slice_walk *walk, const struct block *block, uint64_t t,
		      const char *key, const char *value)
{
	if (!is_slice(walk, block))
		return;
	put_slice(walk, "e", block, t);
	out_text(walk->chrome->out, ",\"args\":{");
	chrome_text(walk->chrome, key, value);
	out_text(walk->chrome->out, "}}");
}

static void end_all(const struct slice_walk *walk, uint64_t t, const char *why)
{
	const struct blocks *blocks = &walk->lives.blocks;

	for (uint32_t i = 0; i < blocks->used; i++) {
		if (blocks->list[i].state == BLOCK_LIVE)
			end_slice(walk, &blocks->list[i],
				  t > blocks->list[i].t ? t : blocks->list[i].t, "\"end\":", why);
	}
}

/* --- owners --- */

static struct slice_owner *owner_of(struct slice_walk *walk, const struct block *block)
{
	const char *name = stack_text(&walk->chrome->stacks, block->stack)->owner;

	name = name ? name : "[unknown owner]";
	for (size_t i = 0; i < walk->owners_n; i++) {
		if (walk->owners[i].device == block->device && !strcmp(walk->owners[i].name, name))
			return &walk->owners[i];
	}
	if (walk->owners_n == walk->owners_size) {
		size_t size = walk->owners_size * 2 + 16;
		struct slice_owner *owners = reallocarray(walk->owners, size, sizeof(*owners));

		if (!owners)
			return NULL;
		walk->owners = owners;
		walk->owners_size = size;
	}
	walk->owners[walk->owners_n] =
		(struct slice_owner){ .name = name, .device = block->device };
	return &walk->owners[walk->owners_n++];
}

static void put_owner(const struct slice_walk *walk, const struct slice_owner *owner, uint64_t t)
{
	char name[400];

	snprintf(name, sizeof(name), "device %d, owner %.200s: reserved", owner->device,
		 owner->name);
	chrome_counter(walk->chrome, name, t, owner->bytes);
}

/* Reserved bytes come (sign 1) or go (-1): a pool's segment, or what is of no pool. */
static int count_owner(struct slice_walk *walk, const struct block *block, int sign, uint64_t t)
{
	bool reserved =
		block->kind == BLOCK_SEGMENT || (block->kind == BLOCK_HANDED && !block->pool);
	struct slice_owner *owner;

	if (!reserved || walk->gap || !lives_counts(block) ||
	    !export_wants(walk->chrome->trace, walk->chrome->options, block->device, block->pool))
		return 0;
	owner = owner_of(walk, block);
	if (!owner)
		return err_no_memory(walk->chrome->trace->path);
	owner->bytes += sign > 0 ? block->size : 0 - block->size;
	put_owner(walk, owner, t);
	return 0;
}

/* --- the walk --- */

static void put_instant(const struct slice_walk *walk, const struct event *event)
{
	struct chrome *chrome = walk->chrome;
	const struct trace *trace = chrome->trace;
	const char *name = trace_text(trace, event->name);
	const struct stack_text *stack = stack_text(&chrome->stacks, event->stack);

	if (event->op == EVENT_OOM &&
	    !export_wants(trace, chrome->options, event->device, event->pool))
		return;
	if (event->op == EVENT_MARK)
		chrome_begin(chrome, "i", name ? name : "?", event->t);
	else
		chrome_begin(chrome, "i", "out of memory", event->t);
	chrome_u64(chrome, ",\"tid\":", event->thread);
	if (event->op == EVENT_MARK) {
		out_text(chrome->out, ",\"s\":\"t\",\"cat\":\"mark\",\"args\":{}}");
		return;
	}
	chrome_u64(chrome, ",\"s\":\"p\",\"cat\":\"oom\",\"args\":{\"bytes\":", event->size);
	chrome_text(chrome, ",\"error\":", trace_text(trace, event->error));
	chrome_text(chrome, ",\"stack\":", stack->frames);
	out_text(chrome->out, "}}");
}

static int take_event(struct slice_walk *walk, const struct event *event)
{
	struct lives *lives = &walk->lives;
	const struct trace *trace = walk->chrome->trace;
	int error = 0;

	if (lives_gap(lives, event)) {
		end_all(walk, event->t, "not known: events are missing here");
		walk->gap = true;
	}
	if (lives_take(lives, event, trace_text(trace, event->api)))
		return err_no_memory(trace->path);
	if (lives->ends && !lives->unseen) {
		end_slice(walk, &lives->ended, event->t,
			  "\"freed at\":", stack_text(&walk->chrome->stacks, event->stack)->line);
		error = count_owner(walk, &lives->ended, -1, event->t);
	} else if (lives->ends && !lives->ended.ptr) {
		error = count_owner(walk, &lives->ended, -1, event->t);
	}
	if (!error && lives->begins) {
		begin_slice(walk);
		error = count_owner(walk, &lives->begun, 1, event->t);
	}
	if (event->op == EVENT_OOM || event->op == EVENT_MARK)
		put_instant(walk, event);
	return error;
}

int chrome_events(struct chrome *chrome)
{
	struct slice_walk walk = { .chrome = chrome,
				   .gap = chrome->trace->capture.events_filtered };
	struct event event = { .t = 0 };
	uint64_t end = chrome->trace->process.duration_ns;
	int error = 0;
	int more = 1;

	lives_start(&walk.lives, chrome->trace->capture.events_filtered);
	while (!error && !chrome->out->error && (more = trace_next(chrome->trace, &event)) == 1)
		error = take_event(&walk, &event);
	if (!error && more < 0)
		error = more;
	if (!error)
		end_all(&walk, end, "none: live when the trace ends");
	for (size_t i = 0; !error && !walk.gap && i < walk.owners_n; i++)
		put_owner(&walk, &walk.owners[i], end > event.t ? end : event.t);
	lives_clear(&walk.lives);
	free(walk.owners);
	return error;
}
