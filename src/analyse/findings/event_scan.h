/*
 * One pass over a trace's events for the facts that sums do not hold: who makes temporaries and
 * what they add to the peak, how large allocations are, who keeps growing.
 *
 * Rows are the trace's sites, so it follows trace_choose(). Memory is bounded by what is live at a
 * time and by sites; the values that growth is found in are at most 64 MiB.
 */
#ifndef ANALYSE_FINDINGS_EVENT_SCAN_H
#define ANALYSE_FINDINGS_EVENT_SCAN_H

#include "analyse/findings/growth.h"
#include "analyse/trace/trace.h"

enum {
	SURVEY_FAILURES = 100,
	SURVEY_BUCKETS = 64, /* bucket i: sizes from 2^i to 2^(i+1) - 1 */

	/* A temporary: freed before its device (or host) made so many allocations more, and in
	 * front of another one. */
	SURVEY_TEMPORARY = 16,
};

struct survey_temporaries {
	uint64_t count, bytes;   /* since the start */
	uint64_t at_peak;        /* bytes of them in the devices' peaks of allocated */
	uint64_t min_ns, sum_ns; /* lifetimes */
};

struct survey_growth {
	uint32_t site;
	struct growth_trend trend; /* its slope is a phase's, or a window's */
};

/* Of the device with the same position in the trace's summary. */
struct survey_device {
	uint64_t ordinal; /* allocations so far */
	uint64_t peak;    /* of allocated, as events have it */
	uint64_t peak_seq;
	uint64_t at_peak; /* bytes of temporaries in it */
	uint64_t largest; /* the largest of those */
	uint32_t largest_site;
};

struct survey_bucket {
	uint64_t count, bytes;           /* allocations */
	uint64_t live_count, live_bytes; /* at the end */
};

/* What the values of growth are taken at. */
struct survey_steps {
	const char *name;    /* of the phases: "step #"; NULL: windows of events */
	uint64_t count;      /* phases of that name, or windows */
	uint64_t stride;     /* of which each so-manieth has a value */
	uint64_t *ends;      /* ns, of phases that have a value; by time */
	size_t values;       /* to come in all */
	size_t first, taken; /* those that count: [first, taken) */
};

struct survey {
	struct survey_temporaries *temporaries; /* by site; the last row: no site */
	struct survey_bucket buckets[SURVEY_BUCKETS];
	struct survey_growth *growth; /* steepest first */
	size_t growth_n;
	struct survey_steps steps;
	struct survey_device *devices;
	struct event failures[SURVEY_FAILURES]; /* the first failed allocations */
	size_t failures_n;
	uint64_t reserves, releases; /* of pools' segments */
	uint64_t frees;
	uint64_t gap_seq; /* the first event behind the last missing ones, 0: none are missing */
	uint64_t events;

	/* The rest is its own. */
	struct survey_own *own;
};

/*
 * Event by event: after survey_start() each event in its order, then survey_end(). 0 or -ENOMEM;
 * whatever they give, survey_clear() is due. The trace must outlive the survey.
 */
int survey_start(struct survey *survey, struct trace *trace);
int survey_event(struct survey *survey, const struct event *event);
int survey_end(struct survey *survey);

void survey_clear(struct survey *survey);

/* Is what the events say of the device's peak the whole of it (none dropped before)? */
bool survey_knows_peak(const struct survey *survey, const struct trace *trace, size_t device);

#endif
