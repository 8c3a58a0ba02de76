/* What a report says of the process: its command, what failed, and what else is to be known. */
#include <stdio.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

enum {
	FAILURES = 3, /* told */
	SENTENCE = 4096,
};

/* The events can be read once: who did that has kept the failures. */
int report_find_failures(const struct report *report, struct event *events, size_t most)
{
	const struct survey *survey = &report->study->survey;
	int device = report->options->select.device;
	size_t count = 0;

	if (!report->study->surveyed)
		return report_failures(report->trace, device, events, most);
	for (size_t i = 0; i < survey->failures_n && count < most; i++) {
		if (device == NO_DEVICE || survey->failures[i].device == device)
			events[count++] = survey->failures[i];
	}
	return (int)count;
}

/* What failed stands in the events, of which only those lines are read. */
int report_text_failures(const struct report *report)
{
	uint64_t ooms = report_ooms(report->trace, report->options->select.device);
	struct event events[FAILURES];
	char number[SHOW_NUMBER];
	char text[SENTENCE];
	int count;

	/* A single one that ended the program was the first sentence. */
	if (!ooms || (ooms == 1 && report->screen &&
		      report_fatal(report->trace, report->options->select.device)))
		return 0;
	count = report_find_failures(report, events, FAILURES);
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
	if (report->trace->ooms_n && !report_fatal(report->trace, report->options->select.device))
		report_say(report, "  `memtrace report --oom` explains the last of them.");
	return 0;
}

int report_text_notes(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;
	const struct trace_process *process = &report->trace->process;
	char number[SHOW_NUMBER];
	char last[SHOW_NUMBER];
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
	if (trace_crowded_out(capture)) {
		snprintf(text, sizeof(text),
			 "- %s of the events were dropped for newer ones; sums, peaks and "
			 "sites count them all the same%s%s",
			 show_count(number, trace_crowded_out(capture)),
			 capture->events_since == TRACE_NONE ? ""
							     : "; none is missing of the last ",
			 capture->events_since == TRACE_NONE
				 ? ""
				 : show_time(last,
					     process->duration_ns > capture->events_since
						     ? process->duration_ns - capture->events_since
						     : 0));
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

	/* A baseline is of no process in particular. */
	if (report->trace->capture.baseline)
		return 0;
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
