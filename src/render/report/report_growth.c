/* The report: sites whose live bytes rise step after step. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

struct grown {
	const char *site, *space, *line;
	uint64_t per_step, bytes, rose, values;
	double tau, p;
};

/* "12 of 13": of the steps after the first. */
static const char *show_rose(char *to, const void *row)
{
	const struct grown *grown = row;

	snprintf(to, EMIT_CELL_MOST, "%s of %s", SAY_COUNT(grown->rose),
		 SAY_COUNT(grown->values - 1));
	return to;
}

/* "1e-12": less than that says no more. */
static const char *show_chance(char *to, const void *row)
{
	double p = ((const struct grown *)row)->p;

	snprintf(to, EMIT_CELL_MOST, p < 1e-99 ? "<1e-99" : "%.0e", p);
	return to;
}

static const struct emit_column grown_columns[] = {
	EMIT_MEMBER("site", TEXT, struct grown, site),
	EMIT_MEMBER("space", TEXT, struct grown, space),
	EMIT_MEMBER("line", TEXT, struct grown, line),
	EMIT_COLUMN("bytes_per_step", "each step", 11, BYTES, struct grown, per_step),
	EMIT_COLUMN("bytes", "in all", 12, BYTES, struct grown, bytes),
	{ EMIT_KEYED("rose", COUNT, struct grown, rose), EMIT_HEADED("rose", 11),
	  .show = show_rose },
	EMIT_MEMBER("values", COUNT, struct grown, values),
	EMIT_MEMBER("tau", REAL, struct grown, tau),
	{ EMIT_KEYED("p", REAL, struct grown, p), EMIT_HEADED("chance", 8), .show = show_chance },
	{ EMIT_KEYED(NULL, TEXT, struct grown, line), .heading = "site", .gap = 3 },
	EMIT_END,
};

struct growths {
	const char *phase;
	uint64_t steps, values;
	struct emit_rows sites;
};

static const struct emit_column growth_members[] = {
	EMIT_MEMBER("phase", TEXT, struct growths, phase),
	EMIT_MEMBER("steps", COUNT, struct growths, steps),
	EMIT_MEMBER("values", COUNT, struct growths, values),
	EMIT_LIST("sites", "\n", struct growths, sites, grown_columns),
	EMIT_MEMBER("other_sites", HIDDEN, struct growths, sites),
	EMIT_END,
};

static int find_growths(const struct report *report, struct growths *growths)
{
	const struct event_scan *survey = &report->study->survey;
	const struct event_scan_steps *steps = &survey->steps;
	struct grown *list = report_room(report, (survey->growth_n + 1) * sizeof(*list));
	char line[300];

	if (!list)
		return err_no_memory(report->trace->path);
	for (size_t i = 0; i < survey->growth_n; i++) {
		const struct growth_trend *trend = &survey->growth[i].trend;
		const struct trace_site *site = &report->trace->sites[survey->growth[i].site];

		trace_site_text(report->trace, survey->growth[i].site, line, sizeof(line));
		list[i] = (struct grown){
			site->site,
			site->space,
			report_text_kept(report, line),
			(uint64_t)(trend->slope + 0.5),
			trend->bytes,
			trend->rose,
			trend->values,
			trend->tau,
			trend->p,
		};
	}
	*growths = (struct growths){ steps->name, steps->count, steps->taken - steps->first,
				     report_rows(report, list, survey->growth_n) };
	return 0;
}

/* "each of 103 phases `step #`", "each of 64 windows of 1,500 events" */
static void steps_text(const struct event_scan_steps *steps, char *to, size_t size)
{
	if (steps->name)
		snprintf(to, size, "%s phases `%.60s`", SAY_COUNT(steps->count), steps->name);
	else
		snprintf(to, size, "%s windows of equally many events", SAY_COUNT(steps->count));
}

/* Asked for by name, it must say why there is nothing to see. */
static int say_nothing(const struct report *report)
{
	const struct event_scan *survey = &report->study->survey;
	char steps[120];

	if (!report->options->show && !report->study->surveyed && !report->selection->replayed) {
		out_char(report->show.out, '\n');
		report_say(report, 0,
			   "Growth was not looked for among %s events; --show growth does that.",
			   SAY_COUNT(report->trace->capture.events_recorded));
	}
	if (!report->options->show)
		return 0;
	if (!report->study->surveyed)
		return report_say_unread(report, "Growth");
	steps_text(&survey->steps, steps, sizeof(steps));
	if (survey->steps.taken - survey->steps.first < GROWTH_LEAST)
		report_say(report, 0,
			   "Growth: cannot be told; it takes %d phases of one name, or some 1,000 "
			   "events.",
			   GROWTH_LEAST);
	else
		report_say(report, 0, "Growth: none over %s.", steps);
	return 0;
}

int report_tell_growth(const struct report *report)
{
	bool known = report->study->surveyed;
	struct growths growths;
	char steps[120];
	char text[300];
	int error;

	if (!report->json && (!known || !report->study->survey.growth_n))
		return say_nothing(report);
	error = known ? find_growths(report, &growths) : 0;
	if (!error && report->json)
		report_member(report, "\ngrowth", growth_members, known ? &growths : NULL);
	if (error || report->json)
		return error;
	steps_text(&report->study->survey.steps, steps, sizeof(steps));
	snprintf(text, sizeof(text), "Growth over %s, those of the warm-up left out", steps);
	report_table(report, grown_columns, &growths.sites, text);
	return 0;
}
