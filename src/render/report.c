/*
 * The report for people: the answer in one sentence, then what supports it.
 *
 * Sums stay exact: rows that are left out are summed in a row of their own.
 */
#include "render/report.h"

#include <stdio.h>
#include <string.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/out.h"
#include "base/text.h"
#include "render/report_facts.h"
#include "render/report_parts.h"

enum {
	FAILURES = 3,
	SENTENCE = 4096,
};

/* What failed stands in the events, of which only those lines are read. */
int report_text_failures(const struct report *report)
{
	uint64_t ooms = report_ooms(report->trace, report->options->device);
	struct trace_event events[FAILURES];
	char number[SHOW_NUMBER];
	char text[SENTENCE];
	int count;

	if (!ooms)
		return 0;
	count = report_failures(report->trace, report->options->device, events, FAILURES);
	if (count < 0)
		return count;
	snprintf(text, sizeof(text), "Out of memory: %s %s", show_count(number, ooms),
		 ooms == 1 ? "allocation failed" : "allocations failed");
	show_heading(&report->show, text);
	for (int i = 0; i < count; i++) {
		text_copy(text, sizeof(text), "- ");
		report_failure_text(report->trace, &events[i], text + 2, sizeof(text) - 2);
		show_wrapped(&report->show, text, 2, false);
	}
	if ((uint64_t)count < ooms && count) {
		snprintf(text, sizeof(text), "... and %s more",
			 show_count(number, ooms - (uint64_t)count));
		report_say(report, text);
	}
	return 0;
}

int report_text_notes(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;
	const struct trace_process *process = &report->trace->process;
	char number[SHOW_NUMBER];
	char text[SENTENCE];

	if (process->exit == TRACE_EXIT && !capture->events_dropped && !capture->notes_n)
		return 0;
	show_heading(&report->show, "Notes");
	if (process->signal != TRACE_NONE) {
		snprintf(text, sizeof(text),
			 "- the process was killed by signal %llu; this is what was "
			 "recorded until then",
			 (unsigned long long)process->signal);
		show_wrapped(&report->show, text, 2, false);
	} else if (process->exit != TRACE_EXIT) {
		show_wrapped(&report->show,
			     process->exit == TRACE_RUNNING
				     ? "- the process was still running when this was read"
				     : "- the process ended without finishing its trace (killed, "
				       "crashed or "
				       "_exit); this is what was recorded until then",
			     2, false);
	}
	if (capture->events_dropped) {
		snprintf(text, sizeof(text),
			 "- %s of the events were dropped for newer ones; sums, peaks and "
			 "sites count them all the same",
			 show_count(number, capture->events_dropped));
		show_wrapped(&report->show, text, 2, false);
	}
	for (size_t i = 0; i < capture->notes_n; i++) {
		text_join(text, sizeof(text), "- ", capture->notes[i]);
		show_wrapped(&report->show, text, 2, false);
	}
	return 0;
}

/* "`python train.py` (pid 4242, rank 0, on node7) ran for 81.2 ms from 2026-11-21T02:03:04Z." */
int report_text_process(const struct report *report)
{
	const struct trace_process *process = &report->trace->process;
	char duration[SHOW_NUMBER];
	char text[SENTENCE] = "`";
	size_t used = 1;

	for (size_t i = 0; i < process->command_n && used < 200; i++) {
		text_append(text, 204, i ? " " : "");
		used = text_append(text, 204, process->command[i]);
	}
	if (used > 200) /* a long command says little at its end */
		used = 200 + text_copy(text + 200, sizeof(text) - 200, "...");
	snprintf(text + used, sizeof(text) - used, "` (pid %llu, rank %llu, on %.60s) ran for %s",
		 (unsigned long long)process->pid, (unsigned long long)process->rank,
		 process->host ? process->host : "?", show_time(duration, process->duration_ns));
	if (process->start_time && strlen(process->start_time) > 19) {
		used = text_append(text, sizeof(text), " from ");
		text_copy_n(text + used, sizeof(text) - used, process->start_time, 19);
		text_append(text, sizeof(text), "Z");
	}
	text_append(text, sizeof(text), ".");
	show_wrapped(&report->show, text, 0, false);
	return 0;
}

/* --- the table of sections --- */

static const struct {
	const char *name;
	enum report_when when;
	report_section *text, *json;
} sections[] = {
#define SECTION(name, when, what) { #name, REPORT_##when, report_text_##name, report_json_##name },
#include "render/report_sections.def"
#undef SECTION
};

_Static_assert(sizeof(sections) / sizeof(sections[0]) <= 32, "a bit each");

uint32_t report_section_bit(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strlen(sections[i].name) == length && !memcmp(sections[i].name, name, length))
			return 1u << i;
	}
	return 0;
}

const char *report_section_names(void)
{
	return ""
#define SECTION(name, when, what) #name " "
#include "render/report_sections.def"
#undef SECTION
		;
}

static bool is_shown(const struct report_options *options, size_t i, bool json)
{
	if (options->show)
		return options->show >> i & 1;
	return sections[i].when == REPORT_SCREEN || options->full || json;
}

static int run_sections(const struct report *report, bool json)
{
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (is_shown(report->options, i, json))
			error = json ? sections[i].json(report) : sections[i].text(report);
	}
	return error;
}

static int begin(const struct report *report, char *answer, size_t size)
{
	const struct report_options *options = report->options;

	if (options->device != NO_DEVICE && !trace_device(report->trace, options->device))
		return err("%s: has no device %d", report->trace->path, options->device);
	return report_answer(report->trace, options->device, answer, size);
}

int report_text(struct trace *trace, struct out *out, const struct report_options *options)
{
	struct report report = { trace, { out, options->colour }, options };
	char answer[SENTENCE];
	int error = begin(&report, answer, sizeof(answer));

	if (error)
		return error;
	show_wrapped(&report.show, answer, 0, true);
	return run_sections(&report, false);
}

int report_json(struct trace *trace, struct out *out, const struct report_options *options)
{
	struct report report = { trace, { out, false }, options };
	char answer[SENTENCE];
	int error = begin(&report, answer, sizeof(answer));

	if (error)
		return error;
	report_json_text(&report, "{\"schema\":\"memtrace-report/1\",\n\"trace\":", trace->path);
	report_json_text(&report, ",\n\"answer\":", answer);
	error = run_sections(&report, true);
	out_text(out, "}\n");
	return error;
}
