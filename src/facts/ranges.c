/* Which push a pop ends: open ranges in a hash table, the newest of a key in front. */
#include "facts/ranges.h"

#include <stddef.h>

#include "base/mem/hash.h"
#include "base/mem/pages.h"

enum { FIRST_SIZE = 256 };

void ranges_start(struct ranges *ranges)
{
	*ranges = (struct ranges){ .list = NULL };
}

void ranges_clear(struct ranges *ranges)
{
	pages_free(ranges->list, ranges->size * sizeof(*ranges->list));
	pages_free(ranges->heads, ranges->size * sizeof(*ranges->heads));
	ranges_start(ranges);
}

static uint32_t *head_of(struct ranges *ranges, uint64_t number, uint32_t thread, uint32_t domain)
{
	uint64_t hash = number ? hash_mix(number, 1) : hash_mix((uint64_t)thread << 32 | domain, 2);

	return &ranges->heads[hash & (ranges->size - 1)];
}

/* Among the ranges of one key the order stays: newest first. */
static void rechain(struct ranges *ranges, const uint32_t *old, uint32_t heads)
{
	for (uint32_t i = 0; i < heads; i++) {
		uint32_t reversed = 0;
		uint32_t id = old[i];

		while (id) {
			uint32_t next = ranges->list[id - 1].next;

			ranges->list[id - 1].next = reversed;
			reversed = id;
			id = next;
		}
		while (reversed) {
			struct range *range = &ranges->list[reversed - 1];
			uint32_t *head =
				head_of(ranges, range->number, range->thread, range->domain);

			id = range->next;
			range->next = *head;
			*head = reversed;
			reversed = id;
		}
	}
}

static bool grow(struct ranges *ranges)
{
	uint32_t old = ranges->size;
	uint32_t size = old ? old * 2 : FIRST_SIZE;
	uint32_t *heads = pages_grow(NULL, 0, size * sizeof(*heads));
	uint32_t *old_heads = ranges->heads;
	struct range *list =
		heads ? pages_grow(ranges->list, old * sizeof(*list), size * sizeof(*list)) : NULL;

	if (!list) {
		pages_free(heads, size * sizeof(*heads));
		return false;
	}
	ranges->list = list;
	ranges->heads = heads;
	ranges->size = size;
	rechain(ranges, old_heads, old);
	pages_free(old_heads, old * sizeof(*old_heads));
	return true;
}

bool ranges_push(struct ranges *ranges, const struct event *push, uint32_t phase)
{
	uint32_t at = ranges->used;
	uint32_t *head;

	if (ranges->spare) {
		at = ranges->spare - 1;
		ranges->spare = ranges->list[at].next;
	} else if (at == ranges->size && !grow(ranges)) {
		return false;
	} else {
		ranges->used++;
	}
	head = head_of(ranges, push->stream, push->thread, push->pool);
	ranges->list[at] = (struct range){
		.number = push->stream,
		.thread = push->thread,
		.domain = push->pool,
		.name = push->name,
		.phase = phase,
		.next = *head,
		.open = true,
	};
	*head = at + 1;
	ranges->open++;
	return true;
}

bool ranges_pop(struct ranges *ranges, const struct event *pop, struct range *was)
{
	uint32_t *link;

	if (!ranges->open)
		return false;
	link = head_of(ranges, pop->stream, pop->thread, pop->pool);
	for (; *link; link = &ranges->list[*link - 1].next) {
		uint32_t id = *link;
		struct range *range = &ranges->list[id - 1];

		if (range->number != pop->stream ||
		    (!pop->stream && (range->thread != pop->thread || range->domain != pop->pool)))
			continue;
		*was = *range;
		*link = range->next;
		range->open = false;
		range->next = ranges->spare;
		ranges->spare = id;
		ranges->open--;
		return true;
	}
	return false;
}
