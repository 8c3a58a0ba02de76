/* The subject of a report: the whole run, a selection of it, or a moment. */
#pragma once

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/replay.h"
#include "facts/gaps.h"
#include "render/selection/options.h"

struct report_selection {
	bool replayed;  /* the events were read, for the fields below */
	bool narrow;    /* stacks, sites and peaks[0] are of the selection, not of the run */
	bool empty;     /* nothing is in it */
	bool moment;    /* peaks[0] and the gaps are of a moment */
	bool told;      /* ... and the document has them exactly, though events were dropped */
	char what[300]; /* "at 12.5 s"; "pool torch from 1s to 2s" */
	bool window;    /* `what` is "from 1s to 2s", and nothing else */
	struct replay_wish wish;
	struct replay replay;
	struct gaps gaps;
	bool *stacks;
};

/*
 * Changes the trace's stacks, sites and peaks to those of the selection. `categories` has the
 * category of each allocation if report_knows_categories(). Returns 0, or -errno with err_text().
 */
int report_select(struct report_selection *selection, struct trace *trace,
		  const struct selection_options *options, const struct categories *categories);
void report_select_clear(struct report_selection *selection);

/* True if the options ask for something that needs categories. */
bool report_asks_categories(const struct selection_options *options);

/* True if the selection is made with the category of each allocation: the events are read twice
 * then. `wanted`: the report has a section of categories, and events may be read for it. */
bool report_knows_categories(const struct trace *trace, const struct selection_options *options,
			     bool wanted);

/* Appends the selection to `what`, after the moment's name, and sets `window`. */
void report_select_describe(struct report_selection *selection,
			    const struct selection_options *options);

/* 0 if there is such a device (or NO_DEVICE), and such a pool of it (or NULL); else -EINVAL, and
 * err_text() lists those that there are. */
int report_select_check(const struct trace *trace, int device, const char *pool);

/* Writes a sentence on missing events ("12 events are missing ..."); false without doubt. */
bool report_select_doubt(const struct report_selection *selection, char *to, size_t size);

/* select_filter.c: the first fills stacks[] of the selection with the stacks that fit; the second
 * removes the figures of all others from the trace. */
void report_filter_stacks(struct report_selection *selection, struct trace *trace,
			  const char *pattern);
void report_filter_facts(const struct report_selection *selection, struct trace *trace);
