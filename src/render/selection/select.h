/* What a report is about: the whole run, or what was selected of it, or a moment. */
#ifndef RENDER_SELECTION_SELECT_H
#define RENDER_SELECTION_SELECT_H

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/replay.h"
#include "facts/gaps.h"
#include "render/selection/options.h"

struct report_selection {
	bool replayed;  /* the events were read: what follows holds */
	bool narrow;    /* stacks, sites and peaks[0] are of the selection, not of the run */
	bool empty;     /* nothing is in it */
	bool moment;    /* peaks[0] and the gaps are of a moment */
	bool told;      /* ... that the document itself tells exactly, though events were dropped */
	char what[300]; /* "at 12.5 s"; "pool torch from 1s to 2s" */
	bool window;    /* `what` is "from 1s to 2s", and nothing else */
	struct replay_wish wish;
	struct replay replay;
	struct gaps gaps;
	bool *stacks;
};

/*
 * Makes the trace tell of the selection: its stacks, sites and peaks. `categories` has those of
 * allocations where report_knows_categories(). 0, or -errno with err_text().
 */
int report_select(struct report_selection *selection, struct trace *trace,
		  const struct selection_options *options, const struct categories *categories);
void report_select_clear(struct report_selection *selection);

/* Is something asked for that cannot be told without categories? */
bool report_asks_categories(const struct selection_options *options);

/*
 * True if the selection is made with the category of each allocation: the events are read twice
 * then. `wanted`: the report has a section of categories, and events may be read for it.
 */
bool report_knows_categories(const struct trace *trace, const struct selection_options *options,
			     bool wanted);

/* select_words.c: fills `what`, behind what a moment is called if it is one, and `window`.
 */
void report_select_describe(struct report_selection *selection,
			    const struct selection_options *options);

/* Are there such a device (or NO_DEVICE), and such a pool of it (or NULL)? 0, or -EINVAL with what
 * there is instead in err_text(). */
int report_select_check(const struct trace *trace, int device, const char *pool);

/* "12 events between 1.0 s and 2.0 s were dropped ..."; false when there is nothing to say. */
bool report_select_doubt(const struct report_selection *selection, char *to, size_t size);

/* select_filter.c: fills stacks[] of the selection; takes what the others did out of the trace. */
int report_filter_stacks(struct report_selection *selection, struct trace *trace,
			 const char *pattern);
int report_filter_facts(const struct report_selection *selection, struct trace *trace);

#endif
