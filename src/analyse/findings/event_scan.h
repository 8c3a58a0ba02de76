/*
 * One pass over a trace's events for the facts that sums do not hold: which sites make temporaries
 * and what they add to the peak, how large allocations are, which sites keep growing.
 *
 * Rows are the trace's sites, so it follows trace_choose(). Memory is bounded by the live blocks
 * and by sites; the values that growth is found in are at most 64 MiB.
 */
#pragma once

#include "analyse/findings/growth.h"
#include "analyse/trace/trace.h"
#include "facts/lives.h"

enum {
	SURVEY_FAILURES = 100,
	SURVEY_BUCKETS = 64, /* bucket i: sizes from 2^i to 2^(i+1) - 1 */

	/* A temporary: freed before its device made this many more allocations, or another one. */
	SURVEY_TEMPORARY = 16,
};

struct event_scan_temporaries {
	uint64_t count, bytes;   /* since the start */
	uint64_t at_peak;        /* bytes of them in the devices' peaks of allocated */
	uint64_t min_ns, sum_ns; /* lifetimes */
};

struct event_scan_growth {
	uint32_t site;
	struct growth_trend trend; /* its slope is a phase's, or a window's */
};

/* A block that was freed soon: a temporary once its device allocates again. A block that no
 * allocation follows ended with the program, or was given up when memory ran out. */
struct event_scan_death {
	uint64_t size, lifetime;
	uint32_t site;
	bool at_peak;
};

/* No more fit: each was among the last SURVEY_TEMPORARY that were allocated. */
struct event_scan_deaths {
	struct event_scan_death list[SURVEY_TEMPORARY];
	size_t count;
};

/* Of the device with the same position in the trace's summary; the last: of no device. */
struct event_scan_device {
	uint64_t ordinal; /* allocations so far */
	uint64_t peak;    /* of allocated, as events have it */
	uint64_t peak_seq;
	uint64_t at_peak; /* bytes of temporaries in it */
	uint64_t largest; /* the largest of those */
	uint32_t largest_site;
	struct event_scan_deaths deaths;  /* since its last allocation */
	struct event_scan_deaths corpses; /* temporaries freed since the peak, which were in it */
};

struct event_scan_bucket {
	uint64_t count, bytes;           /* allocations */
	uint64_t live_count, live_bytes; /* at the end */
};

/* The moments at which the values of growth are taken. */
struct event_scan_steps {
	const char *name;    /* of the phases: "step #"; NULL: windows of events */
	uint64_t count;      /* phases of that name, or windows */
	uint64_t stride;     /* each so many of which one has a value */
	uint64_t *ends;      /* ns, of phases that have a value; by time */
	size_t values;       /* to come in all */
	size_t first, taken; /* those that count: [first, taken) */
};

/* The members of a block for which its row in the table of blocks has no place. */
struct event_scan_birth {
	uint64_t ordinal; /* number of the allocation on its device */
	uint32_t site;
	uint32_t device; /* position in survey->devices */
};

/* The bytes that a site holds, for the values of growth. */
struct event_scan_held {
	uint64_t live;  /* bytes */
	uint64_t young; /* of those: allocated since the last value */
	uint64_t low;   /* the least of live since the last value */
};

struct event_scan {
	struct event_scan_temporaries *temporaries; /* by site; the last row: no site */
	struct event_scan_bucket buckets[SURVEY_BUCKETS];
	struct event_scan_growth *growth; /* steepest first */
	size_t growth_n;
	struct event_scan_steps steps;
	struct event_scan_device *devices;
	struct event failures[SURVEY_FAILURES]; /* the first failed allocations */
	size_t failures_n;
	uint64_t reserves, releases; /* of pools' segments */
	uint64_t frees;
	uint64_t gap_seq; /* the first event after the last missing ones, 0: none are missing */
	uint64_t events;

	/* Private to the scan: */
	struct trace *trace;
	struct arena arena;
	struct lives lives;
	struct event_scan_birth *births; /* by position in blocks */
	size_t births_n;
	struct event_scan_held *held; /* by site, the last row: no site */
	uint64_t *live, *old;         /* values, [site * steps.values + i] */
	uint64_t *seqs;               /* of the first event after each value */
	uint64_t young_seq;           /* blocks from there on are young */
	uint64_t window;              /* events of a window */
	uint64_t frees_warm;          /* frees before the first value */
};

/* Event by event: after event_scan_start() each event in its order, then event_scan_end(), and at
 * last event_scan_clear(). The trace must outlive the survey. */
void event_scan_start(struct event_scan *survey, struct trace *trace);
void event_scan_event(struct event_scan *survey, const struct event *event);
void event_scan_end(struct event_scan *survey);

void event_scan_clear(struct event_scan *survey);

/* True if the events show the device's peak completely (none before it were dropped). */
bool event_scan_knows_peak(const struct event_scan *survey, const struct trace *trace,
			   size_t device);

/* --- between event_scan.c and event_scan_growth.c --- */

/* The number of rows for sites: the last is for blocks without one. */
static inline size_t event_scan_rows(const struct event_scan *survey)
{
	return survey->trace->sites_n + 1;
}

/* event_scan_growth.c */
void event_scan_growth_start(struct event_scan *survey);
/* To be called before each event; at the end with seq and t after the last one. */
void event_scan_growth_time(struct event_scan *survey, uint64_t seq, uint64_t t);
void event_scan_growth_death(struct event_scan *survey, uint32_t site, const struct block *block);
void event_scan_growth_forget(struct event_scan *survey);
void event_scan_growth_end(struct event_scan *survey);
