/* The report: sites whose live bytes rise step after step. */
#include <stdio.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

static const struct report_column columns[] = {
	{ "each step", 12 }, { "in all", 12 }, { "rose", 11 }, { "chance", 9 }, { NULL, 0 },
};

/* "1e-12": what is below tells nobody more. */
static const char *chance(char *to, size_t size, double p)
{
	snprintf(to, size, p < 1e-99 ? "<1e-99" : "%.0e", p);
	return to;
}

static void growth_row(const struct report *report, const struct survey_growth *growth)
{
	const struct growth_trend *trend = &growth->trend;
	char number[SHOW_NUMBER];
	char other[SHOW_NUMBER];
	char name[300];
	char text[100];

	out_text(report->show.out, "  ");
	show_right(&report->show, show_bytes(number, (uint64_t)(trend->slope + 0.5)), 11);
	show_right(&report->show, show_bytes(number, trend->bytes), 12);
	snprintf(text, sizeof(text), "%s of %s", show_count(number, trend->rose),
		 show_count(other, trend->values - 1));
	show_right(&report->show, text, 11);
	show_right(&report->show, chance(number, sizeof(number), trend->p), 8);
	out_text(report->show.out, "   ");
	trace_site_text(report->trace, growth->site, name, sizeof(name));
	show_safe(text, sizeof(text), name, SHOW_COLUMNS - 47);
	report_say(report, text);
}

static void say_header(const struct report *report)
{
	out_text(report->show.out, "  ");
	for (const struct report_column *column = columns; column->name; column++)
		show_right(&report->show, column->name,
			   column->width - (column == columns || !column[1].name));
	report_say(report, "   site");
}

/* "each of 103 phases `step #`", "each of 64 windows of 1,500 events" */
static void steps_text(const struct survey_steps *steps, char *to, size_t size)
{
	char number[SHOW_NUMBER];

	if (steps->name)
		snprintf(to, size, "%s phases `%.60s`", show_count(number, steps->count),
			 steps->name);
	else
		snprintf(to, size, "%s windows of equally many events",
			 show_count(number, steps->count));
}

/* Asked for by name, it must say why there is nothing to see. */
static int say_nothing(const struct report *report)
{
	const struct survey *survey = &report->study->survey;
	char number[SHOW_NUMBER];
	char steps[120];
	char text[300];

	if (!report->options->show && !report->study->surveyed && !report->selection->replayed &&
	    report->trace->with_events) {
		snprintf(text, sizeof(text),
			 "Growth was not looked for among %s events; --show growth does that.",
			 show_count(number, report->trace->capture.events_recorded));
		out_char(report->show.out, '\n');
		show_wrapped(&report->show, text, 0, false);
	}
	if (!report->options->show)
		return 0;
	if (!report->study->surveyed)
		return report_say_unread(report, "Growth");
	steps_text(&survey->steps, steps, sizeof(steps));
	if (survey->steps.taken - survey->steps.first < GROWTH_LEAST)
		snprintf(text, sizeof(text),
			 "Growth: cannot be told; it takes %d phases of one name, or some 1,000 "
			 "events.",
			 GROWTH_LEAST);
	else
		snprintf(text, sizeof(text), "Growth: none over %s.", steps);
	show_wrapped(&report->show, text, 0, false);
	return 0;
}

int report_text_growth(const struct report *report)
{
	const struct survey *survey = &report->study->survey;
	char steps[120];
	char text[300];
	size_t shown;

	if (!report->study->surveyed || !survey->growth_n)
		return say_nothing(report);
	steps_text(&survey->steps, steps, sizeof(steps));
	snprintf(text, sizeof(text), "Growth over %s, those of the warm-up left out", steps);
	show_heading(&report->show, text);
	say_header(report);
	shown = report_limit(report, survey->growth_n);
	for (size_t i = 0; i < shown; i++)
		growth_row(report, &survey->growth[i]);
	if (shown < survey->growth_n)
		report_more(report, survey->growth_n - shown);
	return 0;
}

static void real(const struct report *report, const char *key, double value)
{
	out_format(report->show.out, "%s%.6g", key, value);
}

static void growth_json(const struct report *report, const struct survey_growth *growth)
{
	const struct growth_trend *trend = &growth->trend;
	const struct trace_site *site = &report->trace->sites[growth->site];
	char line[300];

	report_json_text(report, "{\"site\":", site->site);
	report_json_text(report, ",\"space\":", site->space);
	trace_site_text(report->trace, growth->site, line, sizeof(line));
	report_json_text(report, ",\"line\":", line);
	report_json_number(report, ",\"bytes_per_step\":", (uint64_t)(trend->slope + 0.5));
	report_json_number(report, ",\"bytes\":", trend->bytes);
	report_json_number(report, ",\"rose\":", trend->rose);
	report_json_number(report, ",\"values\":", trend->values);
	real(report, ",\"tau\":", trend->tau);
	real(report, ",\"p\":", trend->p);
	out_char(report->show.out, '}');
}

int report_json_growth(const struct report *report)
{
	const struct survey *survey = &report->study->survey;
	size_t shown = report_limit(report, survey->growth_n);

	if (!report->study->surveyed) {
		out_text(report->show.out, ",\n\"growth\":null");
		return 0;
	}
	report_json_text(report, ",\n\"growth\":{\"phase\":", survey->steps.name);
	report_json_number(report, ",\"steps\":", survey->steps.count);
	report_json_number(report, ",\"values\":", survey->steps.taken - survey->steps.first);
	out_text(report->show.out, ",\"sites\":[");
	for (size_t i = 0; i < shown; i++) {
		out_text(report->show.out, i ? ",\n" : "\n");
		growth_json(report, &survey->growth[i]);
	}
	report_json_number(report, "],\"other_sites\":", survey->growth_n - shown);
	out_char(report->show.out, '}');
	return 0;
}
