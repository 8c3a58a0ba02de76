/*
 * What a report knows beyond the sums of the trace: leaks, growth and temporaries, facts for
 * advice.
 *
 * The events are read for it when a section that tells of them is asked for, and in any case when
 * they are few: so the screen of an ordinary trace knows of growth, and that of ten million events
 * comes at once.
 */
#ifndef RENDER_REPORT_REPORT_ANALYSIS_H
#define RENDER_REPORT_REPORT_ANALYSIS_H

#include <stdbool.h>

#include "analyse/categories/categories.h"
#include "analyse/findings/advice.h"
#include "analyse/findings/event_scan.h"
#include "analyse/findings/leaks.h"
#include "analyse/findings/suppressions.h"

struct report_options;
struct report_selection;

struct report_study {
	bool surveyed; /* `survey` holds what the events say */
	struct event_scan survey;
	struct suppressions suppressions;
	struct leaks leaks;
	struct facts facts;
	struct rules builtin; /* where the options have none */
	struct categories categories;
	bool categorised; /* `categories` holds what the events, or stacks, say */
	bool again_open;
	struct trace again; /* whose events they were found in, if those are read twice */
};

/* In front of report_select(), which changes what stacks are: 0, or -errno with err_text(). */
int report_study_start(struct report_study *study, struct trace *trace,
		       const struct report_options *options);

/* Behind report_select(). Reads the trace's events if need be: 0, or -errno with err_text(). */
int report_study(struct report_study *study, struct trace *trace,
		 const struct report_options *options, const struct report_selection *selection);
void report_study_clear(struct report_study *study);

/* The bigger story than the peak, in a sentence: growth, or memory that nobody can use. */
bool report_study_story(const struct report_study *study, char *to, size_t size);

#endif
