/*
 * The rounding of allocations by the driver, in granules of 2 MiB.
 *
 * A plain allocation costs the device every granule that it touches, as long as anything lives in
 * that granule. An allocation above 1 MiB begins a granule of its own. Smaller ones share granules,
 * and also lie after the end of large ones (read on an H200, driver 580; tests/fake/agree.c holds
 * the simulated driver to it). Memory of cuMemCreate is whole granules already. The bytes that
 * pools and graphs hold come from the driver.
 *
 * This is kept beside the ledger, in memory of this process. Only the last sum outlives the
 * process: each sample of `used` puts it into the spool.
 */
#pragma once

#include "base/mem/map.h"
#include "spool/spool.h"

enum { GRANULES_DEVICES = 64 };

struct granules {
	struct map shared;  /* by device and granule: 1 + the number of allocations that touch it */
	uint64_t last;      /* the key that was looked up last, */
	uint32_t *last_one; /* and the place of its value, NULL before the first */
	int64_t rounding[GRANULES_DEVICES]; /* bytes that rounding adds, by device */
};

/* Counts a node when it is allocated (`born`) or freed; only nodes of plain allocations. */
void granules_count(struct granules *granules, const struct spool_node *node, bool born);

void granules_clear(struct granules *granules);
