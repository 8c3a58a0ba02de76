/*
 * Reads all events of a trace into memory and finds the event that freed each allocation, so that
 * views can show any point in time.
 *
 * An event takes 48 bytes. facts/lives.h pairs allocations and frees.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"
#include "analyse/trace/unattributed.h"
#include "base/mem/map.h"

#define HISTORY_NONE UINT32_MAX

/* HISTORY_FOLD is an op that no trace has (history_fold()). EVENT_OPS stands for an unknown op. */
enum { HISTORY_FOLD = EVENT_OPS + 1, HISTORY_OPS };

struct history_place {
	uint32_t pool; /* id for trace_text(), 0 for none */
	int32_t device;
	uint16_t space;
	bool foreign; /* true for memory of another process, which no sum counts */
	bool handle;  /* true if `ptr` of its events is a handle, not an address */
};

struct history_event {
	uint64_t t, size, ptr;
	uint32_t stack;  /* position in the trace's stacks, HISTORY_NONE for none */
	uint32_t death;  /* for an event that begins a block: position of the event that ended the
			    block, HISTORY_NONE if none did */
	uint32_t thread; /* position in history.threads[] */
	uint32_t text; /* for an allocation or a fold: 1 + its category, 0 if categories are unused;
			  else an id for trace_text(): a mark's or range's name, an oom's error */
	uint32_t place; /* position in history.places[] */
	uint16_t api;   /* position in history.apis[] */
	uint8_t op;     /* enum event_op, or HISTORY_FOLD */
	bool born;      /* true if the event begins a block, segment or mapping */
};

/* A gap: events are missing there, so it is unknown which of the older blocks are still live. */
struct history_gap {
	uint64_t event; /* position of the first event after the gap */
	uint64_t dropped;
	int device;                   /* the device whose sums `event` states, or NO_DEVICE */
	uint64_t allocated, reserved; /* the device's bytes after `event` */
};

struct history_sum {
	uint64_t allocated, reserved;
};

/* Filled by history_fold(): the sums of an event's device and pool after the event. They do not
 * begin again at 0 after a gap. */
struct history_sums {
	struct history_sum device, pool;
	uint64_t blocks; /* number of blocks that the event represents */
};

struct categories;

struct history {
	struct history_event *events;
	struct history_sums *sums; /* by event, after history_fold(); else NULL */
	struct history_place *places;
	struct history_gap *gaps; /* a block that is live at a gap has gap.event as its `death` */
	uint64_t *threads;
	uint32_t *apis; /* ids for trace_text() */
	size_t events_n, places_n, gaps_n, threads_n, apis_n;

	/* The members below are private. */
	size_t events_size, places_size, gaps_size, threads_size, apis_size;
	uint64_t first_seq;   /* seq of the first event after the last gap */
	uint32_t first_event; /* position of the event numbered first_seq */
	struct map known_places, known_threads, known_apis;
	struct unattributed loose; /* bytes without an address; tag: position of the allocation */
	struct categories *categories;
};

/* Reads all events of a trace that was just opened. `categories`, unless NULL, must be started with
 * keep_allocs set; it gets the events and is ended. Returns 0, or -errno with err_text(). */
int history_read(struct history *history, struct trace *trace, struct categories *categories);
void history_clear(struct history *history);

/*
 * Results of shortening a long history: only sums are kept for the least important blocks.
 *
 * A device's blocks that were small or short-lived (by bytes times events lived) are removed. They
 * are replaced with folds, events of op HISTORY_FOLD: until its `death`, a fold stands for a number
 * of live blocks of one stack, history_place and category, and has their total size. Folds are at
 * the ends of slices (stretches with equally many events) and before each peak; the live bytes are
 * exact at these points. The sums (history->sums) are exact at every event that is not removed. A
 * slice keeps the events at which the sum of a device or pool is highest and lowest.
 */
struct history_folded {
	uint64_t events, blocks; /* events and blocks that were removed */
	uint64_t largest;        /* bytes of the largest block removed */
	uint64_t folds;          /* HISTORY_FOLD events that were added */
	uint64_t slices;
};

/* Shortens a history to about `most` events, if enough events can be removed. */
void history_fold(struct history *history, size_t most, struct history_folded *folded);
