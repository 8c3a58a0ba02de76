/*
 * The simulated driver's books: what each device holds, and what all of them hold together.
 */
#include "fake.h"

#define ACCOUNTS 2 /* the device's and everybody's */

static struct account all;

static void figure_change(struct figure *figure, uint64_t before, uint64_t after)
{
	figure->current = figure->current - before + after;
	if (figure->current > figure->peak)
		figure->peak = figure->current;
}

static bool kind_is_on_device(enum kind kind)
{
	return kind != KIND_MANAGED && kind != KIND_PINNED && kind != KIND_IMPORTED;
}

static void change(struct device *device, enum kind kind, uint64_t before, uint64_t after)
{
	struct account *accounts[ACCOUNTS] = { &device->account, &all };

	for (int i = 0; i < ACCOUNTS; i++) {
		figure_change(&accounts[i]->kinds[kind].bytes, before, after);
		if (!kind_is_on_device(kind))
			continue;
		figure_change(&accounts[i]->allocated, before, after);
		if (kind != KIND_POOL && kind != KIND_GRAPH)
			figure_change(&accounts[i]->reserved, before, after);
	}
}

void account_add(struct device *device, enum kind kind, uint64_t size)
{
	change(device, kind, 0, size);
	device->account.kinds[kind].allocations++;
	all.kinds[kind].allocations++;
}

void account_remove(struct device *device, enum kind kind, uint64_t size)
{
	change(device, kind, size, 0);
	device->account.kinds[kind].frees++;
	all.kinds[kind].frees++;
}

void account_failure(struct device *device, enum kind kind)
{
	device->account.kinds[kind].failures++;
	all.kinds[kind].failures++;
}

void account_free_failure(struct device *device)
{
	if (device)
		device->account.free_failures++;
	all.free_failures++;
}

void account_pool_reserve(struct device *device, uint64_t before, uint64_t after)
{
	struct account *accounts[ACCOUNTS] = { &device->account, &all };

	for (int i = 0; i < ACCOUNTS; i++) {
		figure_change(&accounts[i]->pool_reserved, before, after);
		figure_change(&accounts[i]->reserved, before, after);
	}
}

bool device_take(struct device *device, uint64_t bytes)
{
	if (bytes > device->total - device->used)
		return false;
	device->used += bytes;
	figure_change(&device->account.used, 0, bytes);
	figure_change(&all.used, 0, bytes);
	return true;
}

void device_give(struct device *device, uint64_t bytes)
{
	device->used -= bytes;
	figure_change(&device->account.used, bytes, 0);
	figure_change(&all.used, bytes, 0);
}

const struct account *account_all(void)
{
	return &all;
}
