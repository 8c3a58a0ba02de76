/* A recorder for tests: random events through the ledger, and what must hold of any spool. */
#pragma once

#include "ledger/device_used.h"
#include "ledger/intern.h"
#include "ledger/ledger.h"

enum { RECORDER_LIVE = 600, RECORDER_STACKS = 8, RECORDER_HANDLES = 1 << 16 };

struct recorder {
	struct spool spool;
	struct intern intern;
	struct ledger ledger;
	uint64_t chance, t;
	uint32_t stacks[RECORDER_STACKS];
	uint32_t loose;    /* stands for a pool's bytes without an address */
	uint32_t pools[3]; /* the first is 0: no pool */
	uint32_t owners[2];
	uint32_t api, names[3];
	struct {
		enum node_kind kind;
		uint32_t pool;
		uint64_t ptr, size;
		int16_t device;
	} live[RECORDER_LIVE];
	unsigned lives;
	int64_t named[4]; /* by device */
	bool leaves_out;
	bool calm;          /* no bursts: addresses seldom come back */
	uint64_t told;      /* what a burst's pool says of its sum */
	unsigned strangers; /* blocks from before that it may yet free */
	bool waits;         /* blocks may wait between two steps: who reads the spool has a copy */
};

/* A spool at the path, in memory if that is NULL: 0 or -errno. In one at a path blocks wait. */
int recorder_open(struct recorder *recorder, const char *path, uint64_t max_events, uint64_t seed);
void recorder_close(struct recorder *recorder);

/*
 * From here on some allocations are samples of so many bytes (0: none are), and of some the events
 * are left out, as the address decides.
 */
void recorder_choose(struct recorder *recorder, uint64_t interval, bool leave_out);

static inline bool recorder_leaves_out(uint64_t ptr)
{
	return ptr && (ptr >> 9) % 5 == 0;
}

/* One random thing: an allocation, a free, one that fails, a mark, a correction, or many blocks of
 * a pool that come and go in a moment. */
void recorder_step(struct recorder *recorder);

/* spool_open(), and what waits is booked. */
int recorder_read(struct spool *spool, const char *path);

/*
 * What must hold of every spool (after timeline_settle), wherever its process was killed: sums,
 * peaks and live set are what the events give (if none was dropped), compositions sum exactly to
 * their peaks, curves have them, what has a number is whole. Handles are below RECORDER_HANDLES.
 * NULL, or what does not hold.
 */
const char *recorder_complaint(const struct spool *spool);
