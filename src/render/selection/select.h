/* Selects the part of a trace that a report is about: the whole run, a selection, or one time. */
#pragma once

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/replay.h"
#include "facts/gaps.h"
#include "render/selection/selection_options.h"

struct report_selection {
	bool replayed;  /* wish and replay are filled: the events were read */
	bool narrow;    /* stacks, sites and peaks[0] are those of the selection */
	bool empty;     /* no event or stack is in the selection */
	bool moment;    /* peaks[0] and `gaps` describe the time of --at */
	bool told;      /* events were dropped, but the exact totals are taken from the trace */
	char what[300]; /* the selection in words: "at 12.5s", "pool torch from 1s to 2s" */
	bool window;    /* the selection is a span of time without other conditions */
	struct replay_wish wish;
	struct replay replay;
	struct gaps gaps; /* empty if events are missing */
	bool *stacks;     /* for each stack, true if it is selected; NULL if all are */
};

/*
 * Replaces the trace's stacks, sites and peaks by the selection's. `categories` must have the
 * category of each allocation if report_asks_categories(). Returns 0 or -errno with err_text().
 */
int report_select(struct report_selection *selection, struct trace *trace,
		  const struct selection_options *options, const struct categories *categories);
void report_select_clear(struct report_selection *selection);

/* True if the options need categories: --by category, or --filter category=NAME. */
bool report_asks_categories(const struct selection_options *options);

/* True if report_select() should be given the category of each allocation, which takes one more
 * reading of the events. `wanted`: the report shows categories and is free to read events. */
bool report_knows_categories(const struct trace *trace, const struct selection_options *options,
			     bool wanted);

/* Appends the selection in words to selection->what, after the time of --at; sets `window`. */
void report_select_describe(struct report_selection *selection,
			    const struct selection_options *options);

/* Returns 0 if the trace has the device (NO_DEVICE: any) and the pool on that device (NULL: any),
 * else -EINVAL, and err_text() lists the devices or pools that exist. */
int report_select_check(const struct trace *trace, int device, const char *pool);

/* Writes a sentence, "12 events are missing ...", on inexact figures; false if all are exact. */
bool report_select_doubt(const struct report_selection *selection, char *to, size_t size);

/* select_filter.c: report_filter_stacks() sets selection->stacks[i] if stack i has a frame that
 * matches; report_filter_facts() clears the totals of all other stacks in the trace. */
void report_filter_stacks(struct report_selection *selection, struct trace *trace,
			  const char *pattern);
void report_filter_facts(const struct report_selection *selection, struct trace *trace);
