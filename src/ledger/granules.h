/*
 * What the driver rounds allocations up to: granules of 2 MiB.
 *
 * A plain allocation costs the device every granule that it touches, while anything lives in it:
 * those above 1 MiB begin one, smaller ones share, and lie behind the ends of the large, too (read
 * on an H200, driver 580; the simulated driver is held to it by tests/fake/agree.c). What
 * cuMemCreate gives is whole granules already, and what pools and graphs hold is asked of the
 * driver.
 *
 * Kept beside the ledger, in memory of this process: nothing of it outlives it but the last sum,
 * which each sample of `used` puts into the spool.
 */
#pragma once

#include "base/mem/map.h"
#include "spool/spool.h"

enum { GRANULES_DEVICES = 64 };

struct granules {
	struct map shared;  /* 1 + how many allocations touch it, by device and number */
	uint64_t last;      /* the key that was looked at last, */
	uint32_t *last_one; /* and its value, NULL before the first */
	int64_t rounding[GRANULES_DEVICES]; /* bytes, by device */
};

/* The node is born, or dies; of nodes that are no plain allocation nothing is counted. */
void granules_count(struct granules *granules, const struct spool_node *node, bool born);

void granules_clear(struct granules *granules);
