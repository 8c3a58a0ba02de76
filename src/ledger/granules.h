/*
 * The rounding of allocations by the driver, in granules of 2 MiB.
 *
 * A plain allocation costs the device every granule that it touches, as long as anything lives in
 * that granule. An allocation above 1 MiB begins a granule of its own. Smaller ones share granules,
 * and also lie after the end of large ones (measured on an H200, driver 580; tests/fake/agree.c
 * checks that the simulated driver does the same). Memory of cuMemCreate consists of whole granules
 * already. For pools and graphs, the driver itself reports how many bytes they hold.
 */
#pragma once

#include "base/mem/map.h"
#include "spool/spool.h"

enum { GRANULES_DEVICES = 64, GRANULE_SHIFT = 21, GRANULE = 1 << GRANULE_SHIFT };

struct granules {
	struct map shared;  /* by device and granule: 1 + the number of allocations that touch it */
	uint64_t last;      /* the key that was looked up last */
	uint32_t *last_one; /* where the value of `last` is, NULL before the first look-up */
	int64_t rounding[GRANULES_DEVICES]; /* bytes that rounding adds, by device */
	int64_t moved[GRANULES_DEVICES];    /* change of reserved bytes since `used` changed */
};

/* Counts a node when it is allocated (`born`) or freed: plain allocations, arrays above 1 MiB. */
void granules_count(struct granules *granules, const struct spool_node *node, bool born);

void granules_clear(struct granules *granules);
