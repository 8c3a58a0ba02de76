/* Events as the lives of blocks. */
#include "analyse/lifetimes/lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"

int pair_start(struct pair *pair, struct trace *trace)
{
	*pair = (struct pair){ .trace = trace };
	blocks_init(&pair->blocks, false);
	pair->devices = calloc(trace->summary.devices_n + 1, sizeof(*pair->devices));
	if (!pair->devices)
		return err_no_memory(pair->trace->path);
	for (size_t i = 0; i < trace->summary.devices_n; i++)
		pair->devices[pair->devices_n++].device = trace->summary.devices[i].device;
	return 0;
}

void pair_clear(struct pair *pair)
{
	blocks_clear(&pair->blocks);
	free(pair->devices);
	*pair = (struct pair){ 0 };
}

static struct pair_device *device_of(const struct pair *pair, const struct event *event)
{
	for (size_t i = 0; event->allocated != TRACE_NONE && i < pair->devices_n; i++) {
		if (pair->devices[i].device == event->device)
			return &pair->devices[i];
	}
	return NULL;
}

bool pair_follows(uint64_t allocated, uint64_t reserved, const struct event *event)
{
	int64_t more_allocated, more_reserved;

	event_effect(event, &more_allocated, &more_reserved);
	return allocated + (uint64_t)more_allocated == event->allocated &&
	       reserved + (uint64_t)more_reserved == event->reserved;
}

bool pair_gap(const struct pair *pair, const struct event *event)
{
	const struct pair_device *device = device_of(pair, event);

	return event->seq != pair->next_seq ||
	       (device && !pair_follows(device->allocated, device->reserved, event));
}

struct block pair_block(const struct trace *trace, const struct event *event, enum block_kind kind,
			uint64_t ended_handle)
{
	const char *api = trace_text(trace, event->api);

	return (struct block){
		.ptr = event->ptr,
		.size = event->size,
		.seq = event->seq,
		.t = event->t,
		.stack = event->stack,
		.pool = event->pool,
		.thread = (uint32_t)event->thread,
		.device = event->device,
		.space = event->space,
		.kind = (uint8_t)kind,
		.foreign = event->flags & EVENT_FOREIGN,
		/* A segment that was a plain handle a moment ago still is one. */
		.handle = kind != BLOCK_MAPPING && ((api && (!strncmp(api, "cuMemCreate", 11) ||
							     !strcmp(api, "cuMemRelease"))) ||
						    (event->ptr && event->ptr == ended_handle)),
	};
}

static void end_block(struct pair *pair, uint32_t id)
{
	pair->ends = true;
	pair->ended = pair->blocks.list[id - 1];
	pair->ended_id = id;
	blocks_end(&pair->blocks, id);
	pair->handle = pair->ended.handle ? pair->ended.ptr : 0;
}

static int begin(struct pair *pair, const struct event *event, enum block_kind kind)
{
	uint32_t stale;

	pair->begins = true;
	pair->begun = pair_block(pair->trace, event, kind, pair->handle);
	stale = event->ptr ? blocks_find(&pair->blocks, &pair->begun) : 0;
	if (stale)
		end_block(pair, stale);
	pair->handle = 0;
	if (!event->ptr)
		return 0;
	if (blocks_add(&pair->blocks, &pair->begun))
		return err_no_memory(pair->trace->path);
	pair->begun_id = blocks_find(&pair->blocks, &pair->begun);
	return 0;
}

static int end(struct pair *pair, const struct event *event, enum block_kind kind)
{
	struct block block = pair_block(pair->trace, event, kind, pair->handle);
	uint32_t id = event->ptr ? blocks_find(&pair->blocks, &block) : 0;

	if (id) {
		end_block(pair, id);
		return 0;
	}
	pair->ends = pair->unseen = true;
	pair->ended = block;
	return 0;
}

enum pair_act pair_act(enum event_op op, enum block_kind *kind)
{
	switch (op) {
	case EVENT_ALLOC:
	case EVENT_FREE:
		*kind = BLOCK_HANDED;
		return op == EVENT_ALLOC ? PAIR_BEGINS : PAIR_ENDS;
	case EVENT_RESERVE:
	case EVENT_RELEASE:
		*kind = BLOCK_SEGMENT;
		return op == EVENT_RESERVE ? PAIR_BEGINS : PAIR_ENDS;
	case EVENT_MAP:
	case EVENT_UNMAP:
		*kind = BLOCK_MAPPING;
		return op == EVENT_MAP ? PAIR_BEGINS : PAIR_ENDS;
	default:
		*kind = BLOCK_HANDED; /* of none, so any will do */
		return PAIR_NOTHING;
	}
}

int pair_take(struct pair *pair, const struct event *event)
{
	struct pair_device *device = device_of(pair, event);
	enum block_kind kind;
	enum pair_act act = pair_act((enum event_op)event->op, &kind);

	if (pair_gap(pair, event)) {
		pair->missing += event->seq > pair->next_seq ? event->seq - pair->next_seq : 0;
		blocks_forget(&pair->blocks);
	}
	pair->begins = pair->ends = pair->unseen = false;
	pair->begun_id = pair->ended_id = 0;
	pair->next_seq = event->seq + 1;
	if (device) {
		device->allocated = event->allocated;
		device->reserved = event->reserved;
	}
	if (act == PAIR_BEGINS)
		return begin(pair, event, kind);
	return act == PAIR_ENDS ? end(pair, event, kind) : 0;
}
