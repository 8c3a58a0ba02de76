/*
 * Reads a trace's events once, for facts that totals do not show: which sites make short-lived
 * blocks and how much these add to the peak, how large allocations are, which sites keep growing.
 *
 * Results are listed by site, so trace_choose(), which changes the sites, must be called before.
 * Memory use grows with live blocks and sites. The values for growth_find() take up to 64 MiB, or
 * more for over 175,000 sites.
 */
#pragma once

#include "analyse/findings/growth.h"
#include "analyse/trace/trace.h"
#include "facts/lives.h"

enum {
	SURVEY_FAILURES = 100, /* maximum number of failed allocations in `failures` */
	SURVEY_BUCKETS = 64,   /* bucket i has sizes from 2^i to 2^(i+1) - 1 */

	/* A block is short-lived if freed before its device's 16th allocation after the block. */
	SURVEY_SHORT_LIVED = 16,
};

struct event_scan_short_lived {
	uint64_t count, bytes;   /* of all the site's short-lived blocks */
	uint64_t at_peak;        /* bytes of the site's short-lived blocks at the devices' peaks */
	uint64_t min_ns, sum_ns; /* shortest lifetime, and sum of the lifetimes */
};

struct event_scan_growth {
	uint32_t site;
	struct growth_trend trend; /* the slope is in bytes per phase, or per window of events */
};

/* A block that was freed soon after its allocation. The block is short-lived only if the device
 * then allocates again: else it may have been freed because the program ended or memory ran out. */
struct event_scan_death {
	uint64_t size, lifetime;
	uint32_t site;
	bool at_peak;
};

/* Few entries suffice: the blocks are among the last SURVEY_SHORT_LIVED allocations of the device,
 * before now (`deaths`) or before the peak (`corpses`). */
struct event_scan_deaths {
	struct event_scan_death list[SURVEY_SHORT_LIVED];
	size_t count;
};

/* A device. devices[] has the order of the trace's summary, and a last entry for other memory. */
struct event_scan_device {
	uint64_t ordinal; /* number of allocations on the device so far */
	uint64_t peak;    /* peak of allocated memory so far */
	uint64_t peak_seq;
	uint64_t at_peak; /* bytes of short-lived blocks in the peak */
	uint64_t largest; /* bytes of the largest short-lived block in the peak */
	uint32_t largest_site;
	struct event_scan_deaths deaths;  /* soon-freed blocks since the last allocation */
	struct event_scan_deaths corpses; /* short-lived blocks in the peak, freed after it */
};

struct event_scan_bucket {
	uint64_t count, bytes;           /* all allocations with sizes in the bucket */
	uint64_t live_count, live_bytes; /* blocks that are live at the end */
};

/* The steps at whose ends growth is measured: phases, or windows of events. */
struct event_scan_steps {
	const char *name;    /* name of the phases, such as "step #"; NULL for windows of events */
	uint64_t count;      /* number of phases with that name, or of windows */
	uint64_t stride;     /* number of phases or windows between two values */
	uint64_t *ends;      /* the times of the values, in ns; for phases only */
	size_t values;       /* number of values in all */
	size_t first, taken; /* `taken` values so far, of which those before `first` are ignored */
};

struct event_scan_birth {
	uint64_t ordinal; /* 1 for the first allocation on the device, then 2, ... */
	uint32_t site;
	uint32_t device; /* position in devices[] */
};

/* The bytes that a site holds now. Its next values in event_scan's arrays `live` and `old` are
 * computed from them. */
struct event_scan_held {
	uint64_t live;  /* all live bytes */
	uint64_t young; /* bytes of `live` allocated since the last value was taken */
	uint64_t low;   /* the lowest `live` since the last value was taken */
};

struct event_scan {
	struct event_scan_short_lived *short_lived; /* by site; the last entry is for no site */
	struct event_scan_bucket buckets[SURVEY_BUCKETS];
	struct event_scan_growth *growth; /* the sites that grow, the steepest first */
	size_t growth_n;
	struct event_scan_steps steps;
	struct event_scan_device *devices;
	struct event failures[SURVEY_FAILURES]; /* the first failed allocations */
	size_t failures_n;
	uint64_t reserves, releases; /* numbers of segments that pools reserved and released */
	uint64_t forced;             /* releases that were not due to a call of empty_cache() */
	bool refused; /* an allocation failed since the last event that took or freed memory */
	uint64_t frees;
	uint64_t gap_seq; /* number of the first event after the last missing ones, or 0 */
	uint64_t events;

	/* Used only during the scan: */
	struct trace *trace;
	struct arena arena;
	struct lives lives;
	struct event_scan_birth *births; /* by the block's position in lives.blocks */
	size_t births_n;
	struct event_scan_held *held; /* by site; the last entry is for blocks without a site */
	uint64_t *live, *old;         /* the values of each site, at [site * steps.values + i] */
	uint64_t *seqs;               /* for each value, the number of the first event after it */
	uint64_t young_seq;           /* event number; blocks allocated from it on are young */
	uint64_t window;              /* number of events in a window */
	uint64_t frees_warm;          /* number of frees before the first value that counts */
};

/* To scan a trace, call event_scan_start(), event_scan_event() for each event, and
 * event_scan_end(). event_scan_clear() frees the results. The trace must outlive them. */
void event_scan_start(struct event_scan *survey, struct trace *trace);
void event_scan_event(struct event_scan *survey, const struct event *event);
void event_scan_end(struct event_scan *survey);

void event_scan_clear(struct event_scan *survey);

/* True if the scan saw the peak of summary.devices[device], and no events are missing after it. */
bool event_scan_knows_peak(const struct event_scan *survey, const struct trace *trace,
			   size_t device);

/* --- shared by event_scan.c and event_scan_growth.c --- */

/* The length of lists that are indexed by site: the last entry is for blocks without a site. */
static inline size_t event_scan_rows(const struct event_scan *survey)
{
	return survey->trace->sites_n + 1;
}

void event_scan_growth_start(struct event_scan *survey);
/* Takes the values of all steps that ended before event `seq` at time `t`. To be called before each
 * event, and after the last event with the next number and UINT64_MAX. */
void event_scan_growth_time(struct event_scan *survey, uint64_t seq, uint64_t t);
void event_scan_growth_death(struct event_scan *survey, uint32_t site, const struct block *block);
void event_scan_growth_forget(struct event_scan *survey);
void event_scan_growth_end(struct event_scan *survey);
