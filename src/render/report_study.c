/* What a report knows beyond sums. */
#include "render/report_study.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "render/report.h"
#include "render/report_facts.h"
#include "render/report_select.h"
#include "render/show.h"

enum {
	FEW = 500000, /* events that are read in a few tenths of a second */
};

bool report_study_wants(const struct trace *trace, const struct report_options *options)
{
	return trace->capture.events_recorded <= FEW || options->full ||
	       (options->show & report_section_bits_of_events());
}

/* A leak that is suppressed is one that is known to grow, too. */
static void suppress_growth(struct report_study *study, const struct trace *trace)
{
	struct survey *survey = &study->survey;
	size_t kept = 0;

	for (size_t i = 0; i < survey->growth_n; i++) {
		const struct trace_site *site = &trace->sites[survey->growth[i].site];
		bool fits = site->stacks_n > 0;

		for (size_t k = 0; k < site->stacks_n; k++)
			fits &= suppressions_fit(&study->suppressions, trace, site->stacks[k]);
		if (!fits)
			survey->growth[kept++] = survey->growth[i];
	}
	survey->growth_n = kept;
}

int report_study(struct report_study *study, struct trace *trace,
		 const struct report_options *options, const struct report_selection *selection)
{
	int error = 0;

	*study = (struct report_study){ 0 };
	if (options->suppressions)
		error = suppressions_read(&study->suppressions, options->suppressions);
	if (error || selection->empty)
		return error;
	if (trace->with_events && !selection->replayed && report_study_wants(trace, options)) {
		error = survey_run(&study->survey, trace);
		study->surveyed = !error;
	}
	if (error)
		return error;
	error = leaks_find(&study->leaks, trace, &study->suppressions);
	if (error)
		return error;
	if (study->surveyed)
		suppress_growth(study, trace);
	facts_find(&study->facts, trace, report_worst(trace, options->device),
		   study->surveyed ? &study->survey : NULL, &study->leaks);
	return 0;
}

void report_study_clear(struct report_study *study)
{
	if (study->surveyed)
		survey_clear(&study->survey);
	suppressions_clear(&study->suppressions);
	leaks_clear(&study->leaks);
	*study = (struct report_study){ 0 };
}

bool report_study_story(const struct report_study *study, char *to, size_t size)
{
	const struct facts *facts = &study->facts;
	char a[SHOW_NUMBER];
	char b[SHOW_NUMBER];

	if (facts->growth && facts->grown * 20 >= facts->peak) {
		snprintf(to, size, "Memory keeps growing: %s more each %s, %s in all, from %s.",
			 show_bytes(a, facts->growth), facts->step, show_bytes(b, facts->grown),
			 facts->growth_site);
		return true;
	}
	if (facts->cached >= 1 << 30 && facts->cached * 3 >= facts->reserved) {
		snprintf(to, size, "%s of %s reserved lay unused when memory was at its peak.",
			 show_bytes(a, facts->cached), show_bytes(b, facts->reserved));
		return true;
	}
	return false;
}
