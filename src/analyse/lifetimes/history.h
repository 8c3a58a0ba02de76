/*
 * All events of a trace in memory, each allocation with the event that freed it: for views of any
 * moment.
 *
 * It takes 48 bytes an event. facts/lives.h pairs allocations and frees.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"
#include "analyse/trace/unattributed.h"
#include "base/mem/map.h"

#define HISTORY_NONE UINT32_MAX

/* Ops beside enum event_op, whose last (EVENT_OPS) is an unknown one. */
enum { HISTORY_FOLD = EVENT_OPS + 1, HISTORY_OPS };

/* Where memory is, and how it counts. */
struct history_place {
	uint32_t pool; /* a text of the trace, 0 for none */
	int32_t device;
	uint16_t space;
	bool foreign; /* another process's: counts 0 */
	bool handle;  /* its ptr is no address */
};

struct history_event {
	uint64_t t, size, ptr;
	uint32_t stack;  /* HISTORY_NONE for none */
	uint32_t death;  /* of an event that begins a block: the event that ended it, HISTORY_NONE
			    for none */
	uint32_t thread; /* position in threads[] */
	uint32_t text;   /* a text of the trace: the name of a mark, the error of an oom; of a block
			    1 + its category, 0 where none was asked for */
	uint32_t place;  /* position in places[] */
	uint16_t api;    /* position in apis[] */
	uint8_t op;      /* enum event_op, HISTORY_FOLD */
	bool born;       /* the event begins a block */
};

/* From here on, the blocks that were live before are not known. */
struct history_gap {
	uint64_t event; /* the first event after it */
	uint64_t dropped;
	int device;                   /* the device whose sums that event has, NO_DEVICE for none */
	uint64_t allocated, reserved; /* after that event */
};

struct history_sum {
	uint64_t allocated, reserved;
};

/* After an event of a folded history: of its device and pool, counted from 0 regardless of gaps. */
struct history_sums {
	struct history_sum device, pool;
	uint64_t blocks; /* that the event stands for */
};

struct categories;

struct history {
	struct history_event *events;
	struct history_sums *sums; /* by event; NULL unless folded */
	struct history_place *places;
	struct history_gap *gaps; /* live blocks end at each of them: `death` is its event */
	uint64_t *threads;
	uint32_t *apis; /* texts */
	size_t events_n, places_n, gaps_n, threads_n, apis_n;

	/* The rest is private. */
	size_t events_size, places_size, gaps_size, threads_size, apis_size;
	uint64_t first_seq;   /* of the stretch without a gap */
	uint32_t first_event; /* at which that begins */
	struct map known_places, known_threads, known_apis;
	struct unattributed loose; /* bytes without an address, by event */
	struct categories *categories;
};

/* The trace must have been opened with its events, and none been read. `categories`, NULL or
 * started with keep_allocs set, get the events and their end. 0 or -errno with err_text(). */
int history_read(struct history *history, struct trace *trace, struct categories *categories);
void history_clear(struct history *history);

/*
 * A long history made shorter: the least important blocks are kept as sums only.
 *
 * Blocks of a device that were small or short-lived (bytes times events lived) go; in their place
 * stand folds, events of op HISTORY_FOLD: from there until its death, a fold stands for a number of
 * blocks of one stack, place and category, with their bytes together. Folds stand at the ends of
 * slices and before each peak, so the live bytes are exact there; the sums (history->sums) are
 * exact at every event that is left, and each slice keeps the events at which a device's sum is
 * highest and lowest.
 */
struct history_folded {
	uint64_t events, blocks; /* in sums alone */
	uint64_t largest;        /* bytes of the largest of the blocks */
	uint64_t folds;          /* events in their place */
	uint64_t slices;
};

/* Leaves about `most` events, if there are more. */
void history_fold(struct history *history, size_t most, struct history_folded *folded);
