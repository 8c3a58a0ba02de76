/*
 * The rounding of allocations by the driver, in granules of 2 MiB.
 *
 * Each granule that a plain allocation (cuMemAlloc) touches counts as used until all allocations in
 * it are freed. An allocation above 1 MiB begins a new granule. Smaller ones share granules, also
 * the last granule of a large one (measured on an H200, driver 580; tests/fake/agree.c checks that
 * the simulated driver does the same). Memory from cuMemCreate() already consists of whole
 * granules. For pools and graphs, the driver itself reports how many bytes they hold.
 */
#pragma once

#include "base/mem/map.h"
#include "spool/spool.h"

enum { GRANULES_DEVICES = 64, GRANULE_SHIFT = 21, GRANULE = 1 << GRANULE_SHIFT };

struct granules {
	struct map shared;  /* 1 + number of allocations in a granule, by device and granule */
	uint64_t last;      /* the last key looked up in `shared` */
	uint32_t *last_one; /* points to the value of key `last`; NULL before the first look-up */
	int64_t rounding[GRANULES_DEVICES]; /* bytes that rounding adds, by device */
	int64_t moved[GRANULES_DEVICES];    /* change of reserved bytes since `used` was updated */
};

/* Updates rounding[] when a plain allocation, or an array above 1 MiB, is allocated or freed. */
void granules_count(struct granules *granules, const struct spool_node *node, bool born);

void granules_clear(struct granules *granules);
