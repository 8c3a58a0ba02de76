/* The sections on the process: its command, its failed allocations, advice, and notes on what the
 * trace lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "render/report/report_parts.h"

enum {
	SAID = 3,       /* maximum number of failed allocations that the text lists */
	FAILURES = 100, /* maximum number of failed allocations that the JSON lists */
	ADVICE = 1024,  /* bytes of the buffer for a piece of advice */
};

/* --- failures --- */

struct failed {
	struct event of;
	int device;
	const char *api, *error, *line, *thread_name;
};

static const struct emit_column failed_members[] = {
	EMIT_OF(NUMBER, struct failed, seq),
	EMIT_OF(TIME, struct failed, t),
	EMIT_FIELD(DEVICE, struct failed, device),
	EMIT_MEMBER("bytes", BYTES, struct failed, of.size),
	EMIT_OF(BYTES, struct failed, allocated),
	EMIT_OF(BYTES, struct failed, reserved),
	EMIT_FIELD(TEXT, struct failed, api),
	EMIT_FIELD(TEXT, struct failed, error),
	EMIT_FIELD(TEXT, struct failed, line),
	EMIT_OF(POSITION, struct failed, thread),
	EMIT_FIELD(TEXT, struct failed, thread_name),
	EMIT_OF(POSITION, struct failed, stack),
	EMIT_END,
};

static void add_failure(const struct report *report, struct emit_rows *rows,
			const struct event *event)
{
	const struct trace *trace = report->trace;
	const struct trace_thread *thread = trace_thread(trace, event->thread);

	report_add(report, rows,
		   &(struct failed){
			   *event,
			   event->device,
			   trace_text(trace, event->api),
			   trace_text(trace, event->error),
			   report_line(report, event->stack),
			   thread ? thread->name : NULL,
		   });
}

/* Returns the first `most` failures on selected devices; reads the events if not yet read. */
static struct emit_rows find_failures(const struct report *report, size_t most)
{
	const struct event_scan *survey = &report->study->survey;
	struct emit_rows rows = EMIT_NONE_OF(struct failed, SIZE_MAX);
	struct event event;
	int more = 1;

	for (size_t next = 0; rows.count < most; next++) {
		if (!report->study->surveyed)
			more = trace_next_of(report->trace, EVENT_OOM, &event);
		else if (next < survey->failures_n)
			event = survey->failures[next];
		else
			more = 0;
		if (more != 1)
			break;
		if (report_is_wanted(report, event.device))
			add_failure(report, &rows, &event);
	}
	if (more < 0)
		report_fail(report, more);
	return rows;
}

static const char *failure_text(const struct report *report, const struct failed *failed)
{
	const struct event *event = &failed->of;
	const struct trace_thread *thread = trace_thread(report->trace, event->thread);
	bool named = thread && !thread->main;
	bool known = event->allocated != TRACE_NONE && event->reserved != TRACE_NONE;
	const char *sums =
		!known ? ""
		       : report_format(report, ", with %s allocated and %s reserved",
				       SAY_BYTES(event->allocated), SAY_BYTES(event->reserved));

	return report_format(report, "%s%s at %s%s: %s, by %s (%.80s)%s%.40s",
			     SAY_BYTES(event->size), report_place(report, event->device),
			     SAY_TIME(event->t), sums, failed->error ? failed->error : "failed",
			     failed->line, failed->api ? failed->api : "?",
			     named ? " in thread " : "", named ? thread->name : "");
}

void report_tell_failures(const struct report *report)
{
	const struct trace_oom *fatal = report_fatal(report);
	uint64_t ooms = trace_ooms(report->trace, report->options->select.device);
	/* If the only failure ended the program, the report's first sentence is about it. */
	bool shown = ooms && !(ooms == 1 && report->screen && fatal);
	struct emit_rows rows = EMIT_NONE_OF(struct failed, SIZE_MAX);

	if (shown)
		rows = find_failures(report, report->json ? FAILURES : SAID);
	report_list(report, "\nfailures", failed_members, &rows);
	if (!shown || *report->error)
		return;
	report_say(report, SAID_HEADING, "Out of memory: %s failed", SAY_MANY(ooms, "allocation"));
	foreach (row, ROWS_IN(const struct failed, rows))
		report_say(report, 2, "- %s", failure_text(report, row));
	if (rows.count < ooms && rows.count)
		emit_more(&report->show, 0, ooms - rows.count, NULL);
	if (report->trace->ooms_n && !fatal)
		report_say(report, SAID_LINE,
			   "  `memtrace report --oom` explains the last failure.");
}

/* --- advice --- */

/* Writes the number without commas, so that it can be copied into a setting. */
static const char *show_plain(char *to, uint64_t number)
{
	snprintf(to, SHOW_NUMBER, "%" PRIu64, number);
	return to;
}

#define SAY_PLAIN(number) show_plain((char[SHOW_NUMBER]){ 0 }, number)
#define SAY_BLOCKS(blocks) SAY_MANY(blocks, "block")

static size_t put_fact(char *to, size_t size, const char *name, const void *from)
{
	const struct facts *facts = from;

#define NUMBER(fact, unit, what) FILL_FACT(fact, SAY_##unit(facts->fact))
#define WORDS(fact, what) FILL_FACT(fact, facts->fact)
#include "analyse/findings/report_facts.def"
	return 0;
}

/* Advice for an allocation that failed and ended the program; it comes before all other advice. */
static void tell_fatal(const struct report *report, const struct trace_oom *oom)
{
	foreach (advice, oom->advice) {
		if (advice->text)
			report_say(report, 2, "- %s", advice->text);
	}
	report_say(report, 2, "- %s",
		   "`memtrace report --oom` shows what held the memory at the failure");
}

struct advised {
	const char *rule, *text;
};

static const struct emit_column advised_members[] = {
	EMIT_FIELD(TEXT, struct advised, rule),
	EMIT_FIELD(TEXT, struct advised, text),
	EMIT_END,
};

void report_tell_advice(const struct report *report)
{
	const struct facts *facts = &report->study->facts;
	const struct trace_oom *oom = report_fatal(report);
	struct emit_rows rows = EMIT_NONE_OF(struct advised, SIZE_MAX);
	char text[ADVICE];

	for (unsigned i = 0; i < ADVICES; i++) {
		if (!advice_applies((enum advice)i, facts))
			continue;
		fill_text(text, sizeof(text), advice_text((enum advice)i), put_fact, facts);
		report_add(report, &rows,
			   &(struct advised){ advice_name((enum advice)i),
					      report_format(report, "%s", text) });
	}
	report_list(report, "\nadvice", advised_members, &rows);
	if (oom || rows.count)
		report_say(report, SAID_HEADING, "What to do");
	else if (report->options->show)
		report_say(report, SAID_LINE, "No advice: nothing stands out.");
	if (oom)
		tell_fatal(report, oom);
	foreach (row, ROWS_IN(const struct advised, rows))
		report_say(report, 2, "- %s", row->text);
}

/* --- notes --- */

static void say_notes(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;
	const struct trace_process *process = &report->trace->process;
	uint64_t crowded = trace_crowded_out(capture);
	uint64_t since = capture->events_since;
	uint64_t end = process->duration_ns;

	if (process->exit == TRACE_EXIT && !capture->events_dropped && !capture->notes_n)
		return;
	report_say(report, SAID_HEADING, "Notes");
	if (process->signal != TRACE_NONE)
		report_say(report, 2,
			   "- the process was killed by signal %llu; the trace has what was "
			   "recorded until then",
			   (unsigned long long)process->signal);
	else if (process->exit == TRACE_RUNNING)
		report_say(report, 2, "- the process was still running when the spool was read");
	else if (process->exit != TRACE_EXIT)
		report_say(report, 2,
			   "- the process ended without finishing its trace (killed, crashed or "
			   "_exit); the trace has what was recorded until then");
	if (crowded)
		report_say(report, 2,
			   "- %s events are not in the trace (MEMTRACE_MAX_EVENTS, MEMTRACE_KEEP); "
			   "totals, peaks and sites still include them%s%s",
			   SAY_COUNT(crowded),
			   since == TRACE_NONE ? "" : "; none is missing from the last ",
			   since == TRACE_NONE ? "" : SAY_TIME(end > since ? end - since : 0));
	foreach (note, capture->notes)
		report_say(report, 2, "- %s", *note);
}

static const struct emit_column noted_members[] = {
	EMIT_MEMBER("\nevents_recorded", COUNT, struct trace_capture, events_recorded),
	EMIT_FIELD(COUNT, struct trace_capture, events_dropped),
	EMIT_FIELD(TIME, struct trace_capture, events_since),
	EMIT_IF_KNOWN("events_filtered", COUNT, struct trace_capture, events_filtered),
	EMIT_IF_KNOWN("sample_bytes", BYTES, struct trace_capture, sample_bytes),
	EMIT_FIELD(TRUTH, struct trace_capture, truncated),
	EMIT_ITEMS("\nnotes", "", struct trace_capture, notes, notes_n, emit_texts),
	EMIT_END,
};

void report_tell_notes(const struct report *report)
{
	struct trace_capture capture = report->trace->capture;

	say_notes(report);
	if (!capture.events_filtered)
		capture.events_filtered = TRACE_NONE;
	if (!capture.sample_bytes)
		capture.sample_bytes = TRACE_NONE;
	report_members(report, noted_members, &capture);
}

/* --- the process --- */

/* Appends a word of a command, quoted if a shell would not read it as one word. */
static void add_quoted(char *to, size_t size, const char *word)
{
	if (*word && !word[strcspn(word, " \t\n'\"\\$`*?[](){}<>|&;~#!")]) {
		text_append(to, size, word);
		return;
	}
	text_append(to, size, "'");
	for (size_t length; *word; word += length + (word[length] != '\0')) {
		length = strcspn(word, "'");
		show_more(to, size, "%.*s%s", (int)length, word, word[length] ? "'\\''" : "");
	}
	text_append(to, size, "'");
}

/* Writes "`python train.py` (pid 4242, rank 3, on node7) ran for 81.2 ms from 2026-...Z." */
static void say_process(const struct report *report)
{
	const struct trace_process *process = &report->trace->process;
	const char *start = process->start_time;
	bool timed = start && strlen(start) > 19;
	bool ranked = process->rank || process->world_size > 1; /* rank 0 of 1 is not shown */
	char command[4096] = "";
	char rank[SHOW_NUMBER];
	size_t most = report->options->full ? sizeof(command) : 199;

	/* A baseline may stand for many runs, so it has no command and no start time. */
	if (report->trace->capture.baseline)
		return;
	for (size_t i = 0; i < process->command_n && strlen(command) <= most; i++) {
		text_append(command, sizeof(command), i ? " " : "");
		add_quoted(command, sizeof(command), process->command[i]);
	}
	report_say(report, 0, "`%.*s%s` (pid %llu%s%s, on %.60s) ran for %s%s%.19s%s.", (int)most,
		   command, strlen(command) > most ? "..." : "", (unsigned long long)process->pid,
		   ranked ? ", rank " : "", ranked ? show_count(rank, process->rank) : "",
		   process->host ? process->host : "?", SAY_TIME(process->duration_ns),
		   timed ? " from " : "", timed ? start : "", timed ? "Z" : "");
}

struct told_process {
	struct trace_process of;
	const char *exit;
};

static const struct emit_column process_members[] = {
	EMIT_OF(NUMBER, struct told_process, pid),
	EMIT_OF(TEXT, struct told_process, host),
	EMIT_OF(NUMBER, struct told_process, rank),
	EMIT_ITEMS("command", "", struct told_process, of.command, of.command_n, emit_texts),
	EMIT_OF(TEXT, struct told_process, start_time),
	EMIT_OF(TIME, struct told_process, duration_ns),
	EMIT_FIELD(TEXT, struct told_process, exit),
	EMIT_OF(NUMBER, struct told_process, status),
	EMIT_OF(NUMBER, struct told_process, signal),
	EMIT_END,
};

void report_tell_process(const struct report *report)
{
	const struct trace_process *process = &report->trace->process;
	const struct told_process told = { *process, rows_word(WORDS_EXITS, process->exit) };

	report_member(report, "\nprocess", process_members, &told);
	say_process(report);
}
