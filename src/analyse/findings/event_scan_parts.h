/* What the parts of the survey share: its own state, and what each does with an event. */
#ifndef ANALYSE_FINDINGS_EVENT_SCAN_PARTS_H
#define ANALYSE_FINDINGS_EVENT_SCAN_PARTS_H

#include "analyse/findings/event_scan.h"
#include "facts/lives.h"

/* What a block's row in the table of blocks has no place for. */
struct event_scan_birth {
	uint64_t ordinal; /* the device's allocation so-and-so */
	uint32_t site;
	uint32_t device; /* position in survey->devices */
};

/*
 * A block that was freed soon: a temporary once its device allocates again. What nothing follows
 * ended with the program, or was given up when memory ran out.
 */
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

/* What a site holds, for the values of growth. */
struct event_scan_held {
	uint64_t live;  /* bytes */
	uint64_t young; /* of those: born since the last value */
	uint64_t low;   /* the least of live since the last value */
};

struct event_scan_own {
	struct trace *trace;
	struct lives lives;
	struct event_scan_birth *births; /* by position in blocks */
	size_t births_n;
	/* By device: temporaries that ended behind its highest peak so far, in which they were. */
	struct event_scan_deaths *corpses;
	struct event_scan_deaths *deaths; /* by device: since its last allocation */
	struct event_scan_held *held;     /* by site, the last row: no site */
	uint64_t *live, *old;             /* values, [site * steps.values + i] */
	uint64_t *seqs;                   /* of the first event behind each value */
	uint64_t young_seq;               /* blocks from there on are young */
	uint64_t window;                  /* events of a window */
	uint64_t frees_warm;              /* frees in front of the first value */
};

/* How many rows there are for sites: the last is for blocks without one. */
static inline size_t event_scan_rows(const struct event_scan *survey)
{
	return survey->own->trace->sites_n + 1;
}

/* event_scan_growth.c */
int event_scan_growth_start(struct event_scan *survey);
/* To be called in front of each event; at the end with seq and t behind the last one. */
void event_scan_growth_time(struct event_scan *survey, uint64_t seq, uint64_t t);
void event_scan_growth_birth(struct event_scan *survey, uint32_t site, uint64_t size);
void event_scan_growth_death(struct event_scan *survey, uint32_t site, const struct block *block);
void event_scan_growth_forget(struct event_scan *survey);
int event_scan_growth_end(struct event_scan *survey);

#endif
