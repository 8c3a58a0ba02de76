/*
 * The report for people: the answer in one sentence, then what supports it.
 *
 * Sums stay exact: rows that are left out are summed in a row of their own.
 */

#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"

enum { SENTENCE = 4096 };

/* --- the table of sections --- */

static const struct {
	const char *name;
	enum report_when when;
	report_section *tell;
} sections[] = {
#define SECTION(name, when, what) { #name, REPORT_##when, report_tell_##name },
#include "render/report/report_sections.def"
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
#include "render/report/report_sections.def"
#undef SECTION
		;
}

uint32_t report_section_bits_of_events(void)
{
	/* On the screen as well, when they may. */
	uint32_t bits = report_section_bit("growth", 6) | report_section_bit("categories", 10);

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		bits |= (uint32_t)(sections[i].when == REPORT_EVENTS) << i;
	return bits;
}

static bool of_whole(enum report_when when)
{
	return when == REPORT_WHOLE || when == REPORT_ASIDE || when == REPORT_EVENTS;
}

/* Is there a peak that the screen is about? */
static bool has_peak(const struct report *report)
{
	const struct trace_device *device =
		report_worst(report->trace, report->options->select.device);

	return report->selection->narrow || (device && device->allocated.peak_bytes &&
					     device->allocated.peak_bytes != TRACE_NONE);
}

static bool is_shown(const struct report *report, size_t i)
{
	const struct report_options *options = report->options;
	bool moment = sections[i].when == REPORT_MOMENT;

	if (moment && !options->select.at)
		return false;
	if (options->show)
		return options->show >> i & 1;
	if (options->oom)
		return sections[i].when == REPORT_OOM;
	if (options->select.at)
		return moment;
	if (report->selection->narrow && of_whole(sections[i].when))
		return false;
	if (options->full || sections[i].when < REPORT_DETAIL)
		return true;
	if (sections[i].when == REPORT_DETAIL && !has_peak(report))
		return true;
	return report->json && (sections[i].when <= REPORT_MORE || sections[i].when == REPORT_OOM);
}

/* What the screen leaves to --show, from the table. */
static void say_more(const struct report *report)
{
	char text[SENTENCE] = "More with --show:";

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		enum report_when when = sections[i].when;

		if (is_shown(report, i) || when == REPORT_OOM || when == REPORT_MOMENT)
			continue;
		text_append(text, sizeof(text), " ");
		text_append(text, sizeof(text), sections[i].name);
	}
	if (report->options->select.device == NO_DEVICE && report->trace->summary.devices_n > 1)
		text_append(text, sizeof(text), "; another device with --device N");
	text_append(text, sizeof(text), "; all of it with --full.");
	out_char(report->show.out, '\n');
	show_wrapped(&report->show, text, 2, false);
}

/* One that people asked for by name and that has nothing to tell says so. */
static void run_section(const struct report *report, size_t i)
{
	const struct report_options *options = report->options;
	const struct out *out = report->show.out;
	uint64_t before = out->written + out->used;
	bool asked = !report->json && options->show >> i & 1;

	if (is_shown(report, i))
		sections[i].tell(report);
	if (*report->error || !asked || out->written + out->used != before)
		return;
	if (sections[i].when == REPORT_MOMENT && !options->select.at)
		report_say(report, 0, "%s: told of a moment, add --at WHEN.", sections[i].name);
	else
		report_say(report, 0, "%s: none in this %s.", sections[i].name,
			   report->trace->capture.baseline ? "baseline" : "trace");
}

static int run_sections(const struct report *report)
{
	for (size_t i = 0; !*report->error && i < sizeof(sections) / sizeof(sections[0]); i++)
		run_section(report, i);
	return *report->error;
}

/* --- the answer --- */

/* Of a selection: "Of pool torch, from 1 s to 2 s: at most 1.23 GiB, at 1.5 s." */
static int selection_answer(const struct report *report, char *to, size_t size)
{
	const struct report_selection *selection = report->selection;
	size_t used;

	if (selection->empty) {
		snprintf(to, size, "Nothing matches: %s.", selection->what);
		return 0;
	}
	if (selection->moment) {
		text_copy(to, size, "Live ");
		text_append(to, size, selection->what);
	} else {
		text_join(to, size, selection->window ? "" : "Of ",
			  selection->what[0] ? selection->what : "the whole run");
		if (selection->window) /* "From 1s to 2s" */
			to[0] = to[0] == 'f' ? 'F' : 'U';
	}
	used = strlen(to);
	if (!report->trace->peaks->bytes)
		snprintf(to + used, size - used, ": nothing.");
	else
		snprintf(to + used, size - used, ": %s%s, at %s.",
			 selection->moment ? "" : "at most ",
			 SAY_BYTES(report->trace->peaks->bytes), SAY_TIME(report->trace->peaks->t));
	return 0;
}

static int answer_of(const struct report *report, char *to, size_t size)
{
	const struct report_selection *selection = report->selection;

	if (selection->narrow || selection->moment || (selection->empty && selection->stacks))
		return selection_answer(report, to, size);
	return report_answer(report->trace, report->options->select.device, to, size);
}

/* --- for people, for programs --- */

/* What matters more than the peak does, if anything. */
static bool story_of(const struct report *report, char *to, size_t size)
{
	return report_fatal_text(report->trace, report->options->select.device, to, size) ||
	       report_study_story(report->study, to, size);
}

static int tell_people(const struct report *report)
{
	char text[SENTENCE];
	int error;

	if (report->options->oom)
		return run_sections(report);
	if (!report->selection->replayed && story_of(report, text, sizeof(text)))
		show_wrapped(&report->show, text, 0, true);
	error = answer_of(report, text, sizeof(text));
	if (error)
		return error;
	show_wrapped(&report->show, text, 0, true);
	if (report_select_doubt(report->selection, text, sizeof(text)))
		show_wrapped(&report->show, text, 0, false);
	if (report->selection->empty && report->selection->what[0])
		return 0;
	error = run_sections(report);
	if (!error && report->screen)
		say_more(report);
	return error;
}

struct selected {
	const char *stacks, *by, *pool, *space, *filter, *at, *doubt;
	uint64_t from, to;
	int device;
};

static const struct emit_column selected_members[] = {
	EMIT_MEMBER("stacks", TEXT, struct selected, stacks),
	EMIT_MEMBER("by", TEXT, struct selected, by),
	EMIT_MEMBER("device", DEVICE, struct selected, device),
	EMIT_MEMBER("pool", TEXT, struct selected, pool),
	EMIT_MEMBER("space", TEXT, struct selected, space),
	EMIT_MEMBER("from", TIME, struct selected, from),
	EMIT_MEMBER("to", TIME, struct selected, to),
	EMIT_MEMBER("filter", TEXT, struct selected, filter),
	EMIT_MEMBER("at", TEXT, struct selected, at),
	EMIT_MEMBER("doubt", TEXT, struct selected, doubt),
	EMIT_END,
};

static void tell_selection(const struct report *report)
{
	static const char *const kinds[] = { "merged", "native", "python" };
	const struct report_options *options = report->options;
	const struct replay_wish *wish = &report->selection->wish;
	bool replayed = report->selection->replayed;
	char text[SENTENCE];
	const struct selected selected = {
		.stacks = kinds[options->select.stacks],
		.by = trace_by_name((enum trace_by)options->select.by),
		.pool = options->select.pool,
		.space = options->select.space == SPACES
				 ? NULL
				 : space_name((unsigned)options->select.space),
		.filter = options->select.filter,
		.at = options->select.at,
		.doubt = report_select_doubt(report->selection, text, sizeof(text)) ? text : NULL,
		.from = replayed && options->select.from ? wish->from : TRACE_NONE,
		.to = replayed && options->select.to ? wish->to : TRACE_NONE,
		.device = options->select.device,
	};

	report_member(report, "\nselection", selected_members, &selected);
}

struct report_head {
	const char *trace, *answer;
};

static const struct emit_column head_members[] = {
	EMIT_MEMBER("\ntrace", TEXT, struct report_head, trace),
	EMIT_MEMBER("\nanswer", TEXT, struct report_head, answer),
	EMIT_END,
};

static int tell_programs(const struct report *report)
{
	char answer[SENTENCE];
	const struct report_head head = {
		report->options->name ? report->options->name : report->trace->path,
		answer,
	};
	int error = answer_of(report, answer, sizeof(answer));

	if (error)
		return error;
	out_text(report->show.out, "{\"schema\":\"memtrace-report/1\"");
	emit_members(report->show.out, head_members, &head);
	tell_selection(report);
	error = run_sections(report);
	out_text(report->show.out, "}\n");
	return error;
}

static int write_report(struct trace *trace, struct out *out, const struct report_options *options,
			bool json)
{
	struct report_selection selection = { 0 };
	struct report_study study = { 0 };
	int error = 0;
	struct report report = {
		trace, { out, options->colour }, options, &selection, &study, &error, json, false
	};

	error = report_oom_check(&report);

	if (!error)
		error = report_study_start(&study, trace, options);
	if (!error)
		error = report_select(&selection, trace, &options->select, &study.categories);
	if (!error)
		error = report_study(&study, trace, options, &selection);
	report.screen = !json && !options->show && !options->full && !options->select.at &&
			!options->oom && !selection.narrow;
	if (!error)
		error = json ? tell_programs(&report) : tell_people(&report);
	report_study_clear(&study);
	report_select_clear(&selection);
	return error;
}

int report_text(struct trace *trace, struct out *out, const struct report_options *options)
{
	return write_report(trace, out, options, false);
}

int report_json(struct trace *trace, struct out *out, const struct report_options *options)
{
	return write_report(trace, out, options, true);
}
