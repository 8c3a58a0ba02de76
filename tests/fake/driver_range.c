/*
 * Addresses of the simulated device, and the memory that lies behind them.
 *
 * A range is a line of spans, used and free ones, that together cover its addresses; free
 * neighbours are one span. Device addresses are reserved without access: they can never be taken
 * for the program's own memory, and whoever touches them is told at once.
 */
#include "fake.h"

#include <stdlib.h>
#include <sys/mman.h>

struct unit {
	uint32_t live; /* blocks that lie in it, wholly or in part */
	bool backed;
};

struct cuda_call {
	uint64_t address;
	uint64_t size;
	bool used;
	struct cuda_call *before; /* by address */
	struct cuda_call *after;
	struct cuda_call *newer; /* free ones, by when they were freed */
	struct cuda_call *older;
};

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

uint64_t address_reserve(uint64_t size, uint64_t alignment, bool writable)
{
	int access = writable ? PROT_READ | PROT_WRITE : PROT_NONE;
	uint64_t whole = size + alignment;
	uint64_t base;
	uint64_t aligned;
	void *mapping;

	if (!size || whole < size)
		return 0;
	mapping = mmap(NULL, whole, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping == MAP_FAILED)
		return 0;
	base = (uint64_t)(uintptr_t)mapping;
	aligned = round_up(base, alignment);
	if (aligned > base)
		munmap(mapping, aligned - base);
	munmap((void *)(uintptr_t)(aligned + size), base + whole - (aligned + size));
	return aligned;
}

/* --- spans --------------------------------------------------------------------------------- */

uint64_t span_address(const struct cuda_call *span)
{
	return span->address;
}

static void free_push(struct range *range, struct cuda_call *span)
{
	span->used = false;
	span->newer = NULL;
	span->older = range->free;
	if (range->free)
		range->free->newer = span;
	range->free = span;
}

static void free_unlink(struct range *range, struct cuda_call *span)
{
	if (span->newer)
		span->newer->older = span->older;
	else
		range->free = span->older;
	if (span->older)
		span->older->newer = span->newer;
}

/* Ends a free span at `size`; the rest is a free span of its own. NULL: no memory. */
static struct cuda_call *span_split(struct cuda_call *span, uint64_t size)
{
	struct cuda_call *rest = calloc(1, sizeof(*rest));

	if (!rest)
		return NULL;
	rest->address = span->address + size;
	rest->size = span->size - size;
	rest->before = span;
	rest->after = span->after;
	if (span->after)
		span->after->before = rest;
	span->after = rest;
	span->size = size;
	/* Beside the one it came from: what was freed last must stay first. */
	rest->newer = span;
	rest->older = span->older;
	if (span->older)
		span->older->newer = rest;
	span->older = rest;
	return rest;
}

/* Takes a free span's free right neighbour in. */
static void span_join(struct range *range, struct cuda_call *span)
{
	struct cuda_call *right = span->after;

	free_unlink(range, right);
	span->size += right->size;
	span->after = right->after;
	if (right->after)
		right->after->before = span;
	free(right);
}

/* --- backing ------------------------------------------------------------------------------- */

static struct unit *unit_at(const struct range *range, uint64_t address)
{
	return &range->units[(address - range->base) / range->unit];
}

static bool back(struct range *range, uint64_t address, uint64_t size)
{
	struct unit *first = unit_at(range, address);
	struct unit *last = unit_at(range, address + size - 1);
	uint64_t bytes = 0;

	for (struct unit *unit = first; unit <= last; unit++)
		bytes += unit->backed ? 0 : range->unit;
	if (range->device && !device_take(range->device, bytes))
		return false;
	range->backed += bytes;
	for (struct unit *unit = first; unit <= last; unit++) {
		unit->backed = true;
		unit->live++;
	}
	return true;
}

static void unit_give(struct range *range, struct unit *unit)
{
	unit->backed = false;
	range->backed -= range->unit;
	if (range->device)
		device_give(range->device, range->unit);
}

static void unback(struct range *range, uint64_t address, uint64_t size)
{
	struct unit *last = unit_at(range, address + size - 1);

	for (struct unit *unit = unit_at(range, address); unit <= last; unit++)
		if (!--unit->live && !range->keep)
			unit_give(range, unit);
}

void range_trim(struct range *range, uint64_t keep)
{
	size_t count = range->size / range->unit;

	for (size_t i = count; i-- > 0 && range->backed > keep;)
		if (range->units[i].backed && !range->units[i].live)
			unit_give(range, &range->units[i]);
}

/* --- ranges -------------------------------------------------------------------------------- */

struct range *range_new(struct device *device, uint64_t size, uint64_t unit, bool keep)
{
	struct range *range = calloc(1, sizeof(*range));

	if (!range)
		return NULL;
	range->device = device;
	range->size = round_up(size, unit);
	range->unit = unit;
	range->keep = keep;
	range->units = calloc(range->size / unit, sizeof(*range->units));
	range->first = calloc(1, sizeof(*range->first));
	range->base = address_reserve(range->size, unit, !device);
	if (!range->units || !range->first || !range->base) {
		range_delete(range);
		return NULL;
	}
	range->first->address = range->base;
	range->first->size = range->size;
	free_push(range, range->first);
	return range;
}

void range_delete(struct range *range)
{
	if (!range)
		return;
	for (struct cuda_call *span = range->first; span;) {
		struct cuda_call *after = span->after;

		free(span);
		span = after;
	}
	if (range->base)
		munmap((void *)(uintptr_t)range->base, range->size);
	free(range->units);
	free(range);
}

/* Cuts a free span to the block at `address`. NULL: no memory. */
static struct cuda_call *carve(struct cuda_call *span, uint64_t address, uint64_t size)
{
	if (address > span->address)
		span = span_split(span, address - span->address);
	if (span && span->size > size && !span_split(span, size))
		return NULL;
	return span;
}

struct cuda_call *range_take(struct range *range, uint64_t size, uint64_t alignment)
{
	for (struct cuda_call *span = range->free; span; span = span->older) {
		uint64_t address = round_up(span->address, alignment);
		struct cuda_call *block;

		if (address + size > span->address + span->size)
			continue;
		/* Another place may need less memory than this one: its units may be backed. */
		if (!back(range, address, size))
			continue;
		block = carve(span, address, size);
		if (!block) {
			unback(range, address, size);
			return NULL;
		}
		free_unlink(range, block);
		block->used = true;
		return block;
	}
	return NULL;
}

void range_give(struct range *range, struct cuda_call *span)
{
	unback(range, span->address, span->size);
	free_push(range, span);
	if (span->after && !span->after->used)
		span_join(range, span);
	if (span->before && !span->before->used) {
		struct cuda_call *left = span->before;

		free_unlink(range, left);
		free_push(range, left); /* the joined span is the newest, whichever half was */
		span_join(range, left);
	}
}
