/* The report: one sentence that gives the peak and its cause, then the sections, as text for people
 * or as JSON for programs. */
#include <string.h>

#include "base/text/out.h"
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
};

_Static_assert(COUNT_OF(sections) <= 32, "each section needs a bit of uint32_t");

uint32_t report_section_bit(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT_OF(sections); i++) {
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
		;
}

uint32_t report_section_bits_of_events(void)
{
	/* These two are not REPORT_EVENTS, as the short report has them if events were read. */
	uint32_t bits = report_section_bit("growth", 6) | report_section_bit("categories", 10);

	for (size_t i = 0; i < COUNT_OF(sections); i++)
		bits |= (uint32_t)(sections[i].when == REPORT_EVENTS) << i;
	return bits;
}

static bool has_peak(const struct report *report)
{
	const struct trace_device *device = report_worst(report);

	return report->selection->narrow || (device && device->allocated.peak_bytes &&
					     device->allocated.peak_bytes != TRACE_NONE);
}

static bool is_shown(const struct report *report, size_t i)
{
	const struct report_options *options = report->options;
	enum report_when when = sections[i].when;
	bool moment = when == REPORT_MOMENT;

	if (moment && !options->select.at)
		return false;
	if (options->show)
		return options->show >> i & 1;
	if (options->oom)
		return when == REPORT_OOM;
	if (options->select.at)
		return moment;
	if (report->selection->narrow &&
	    (when == REPORT_WHOLE || when == REPORT_ASIDE || when == REPORT_EVENTS))
		return false;
	if (options->full || when < REPORT_DETAIL)
		return true;
	if (when == REPORT_DETAIL && !has_peak(report))
		return true;
	return report->json && (when <= REPORT_MORE || when == REPORT_OOM);
}

/* True if the section would write nothing or, in the report on a baseline, only that there are no
 * events. To find out, the section is run and its output is discarded. */
static bool is_void(const struct report *report, size_t i)
{
	struct report tried = *report;
	char buffer[4096];
	struct out out;

	if (sections[i].when == REPORT_EVENTS && report->trace->capture.baseline)
		return true;
	out_init(&out, -1, buffer, sizeof(buffer));
	tried.show.out = &out;
	sections[i].tell(&tried);
	return !out.written && !out.used;
}

/* Ends the short report with the names of all further sections that are not empty. */
static void say_more(const struct report *report)
{
	bool others =
		report->options->select.device == NO_DEVICE && report->trace->summary.devices_n > 1;
	char names[SENTENCE] = "";

	for (size_t i = 0; i < COUNT_OF(sections); i++) {
		enum report_when when = sections[i].when;

		if (!is_shown(report, i) && when != REPORT_OOM && when != REPORT_MOMENT &&
		    !is_void(report, i))
			show_more(names, sizeof(names), " %s", sections[i].name);
	}
	out_char(report->show.out, '\n');
	report_say(report, 2, "More sections with --show NAME:%s%s; everything with --full.", names,
		   others ? "; another device with --device N" : "");
}

/* Runs a section. If it was named with --show and wrote nothing, a line says so. */
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
		report_say(report, 0, "%s: add --at WHEN to choose a time.", sections[i].name);
	else
		report_say(report, 0, "%s: this %s has nothing for this section.", sections[i].name,
			   report->trace->capture.baseline ? "baseline" : "trace");
}

static void run_sections(const struct report *report)
{
	for (size_t i = 0; !*report->error && i < COUNT_OF(sections); i++)
		run_section(report, i);
}

/* --- the text for people, the JSON for programs --- */

static void tell_people(const struct report *report)
{
	const char *sentences[] = { report_story(report), report_answer(report),
				    report_doubt(report) };

	for (size_t i = 0; !report->options->oom && i < 3; i++) {
		if (sentences[i])
			show_wrapped(&report->show, sentences[i], 0, i < 2);
	}
	if (!report->options->oom && report->selection->empty && report->selection->what[0])
		return;
	run_sections(report);
	if (!*report->error && report->screen)
		say_more(report);
}

struct selected {
	struct selection_options of;
	const char *stacks, *by, *space, *doubt;
	uint64_t from, to;
};

static const struct emit_column selected_members[] = {
	EMIT_FIELD(TEXT, struct selected, stacks),
	EMIT_FIELD(TEXT, struct selected, by),
	EMIT_OF(DEVICE, struct selected, device),
	EMIT_OF(TEXT, struct selected, pool),
	EMIT_FIELD(TEXT, struct selected, space),
	EMIT_FIELD(TIME, struct selected, from),
	EMIT_FIELD(TIME, struct selected, to),
	EMIT_OF(TEXT, struct selected, filter),
	EMIT_OF(TEXT, struct selected, at),
	EMIT_FIELD(TEXT, struct selected, doubt),
	EMIT_END,
};

static void tell_selection(const struct report *report)
{
	static const char *const kinds[] = { "merged", "native", "python" };
	const struct selection_options *options = &report->options->select;
	const struct replay_wish *wish = &report->selection->wish;
	bool replayed = report->selection->replayed;
	const struct selected selected = {
		.of = *options,
		.stacks = kinds[options->stacks],
		.by = trace_by_name((enum trace_by)options->by),
		.space = options->space == SPACES ? NULL : space_name((unsigned)options->space),
		.doubt = report_doubt(report),
		.from = replayed && options->from ? wish->from : TRACE_NONE,
		.to = replayed && options->to ? wish->to : TRACE_NONE,
	};

	report_member(report, "\nselection", selected_members, &selected);
}

struct report_head {
	const char *schema, *trace, *answer;
};

static const struct emit_column head_members[] = {
	EMIT_FIELD(TEXT, struct report_head, schema),
	EMIT_MEMBER("\ntrace", TEXT, struct report_head, trace),
	EMIT_MEMBER("\nanswer", TEXT, struct report_head, answer),
	EMIT_END,
};

static void tell_programs(const struct report *report)
{
	const struct report_head head = {
		"memtrace-report/1",
		report->options->name ? report->options->name : report->trace->path,
		report_answer(report),
	};

	emit_begin(report->show.out, head_members, &head);
	tell_selection(report);
	run_sections(report);
	out_text(report->show.out, "}\n");
}

int report_write(struct trace *trace, struct out *out, const struct report_options *options,
		 bool json)
{
	struct report_selection selection = { 0 };
	struct report_study study = { 0 };
	int error = 0;
	const struct show show = { out, options->colour, options->columns, options->full, NULL };
	struct report report = { trace, show, options, &selection, &study, &error, json, false };

	error = report_oom_check(&report);
	if (!error)
		error = report_study_start(&study, &report);
	if (!error)
		error = report_select(&selection, trace, &options->select, &study.categories);
	if (!error)
		error = report_study(&study, &report);
	report.screen = !json && !options->show && !options->full && !options->select.at &&
			!options->oom && !selection.narrow;
	if (!error && json)
		tell_programs(&report);
	else if (!error)
		tell_people(&report);
	report_study_clear(&study);
	report_select_clear(&selection);
	return error;
}

/* --- the few lines that `memtrace run` prints at the end --- */

enum { BRIEF_DEVICES = 2, BRIEF_SITES = 3 };

static void say_sentence(struct out *out, const char *prefix, const char *text)
{
	char safe[512];

	show_safe(safe, sizeof(safe), text, 120);
	out_format(out, "%s%s\n", prefix, safe);
}

static const char *device_text(const struct report *report, const struct trace_device *device)
{
	bool used = device->used.peak_bytes != TRACE_NONE;

	return report_format(report, "device %d (%.60s): peak %s allocated, %s reserved%s%s%s",
			     device->device, device->name ? device->name : "unnamed",
			     SAY_BYTES(device->allocated.peak_bytes),
			     SAY_BYTES(device->reserved.peak_bytes), used ? ", " : "",
			     used ? SAY_BYTES(device->used.peak_bytes) : "", used ? " used" : "");
}

static void say_sites(const struct report *report, const char *prefix)
{
	const struct trace_device *worst = report_worst(report);
	const struct trace_peak *peak =
		worst ? trace_peak(report->trace, worst->device, NULL, TRACE_ALLOCATED) : NULL;
	const struct emit_rows groups = report_group_peak(report, peak);
	const struct show show = { .out = report->show.out, .prefix = prefix };

	for (size_t i = 0; peak && i < groups.count && i < BRIEF_SITES; i++) {
		const struct report_group *group = (const struct report_group *)groups.rows + i;

		emit_row(&show, report_site_cells,
			 &(struct report_site){ { group->bytes, peak->bytes },
						report_line(report, group->shares->stack),
						"" },
			 2);
	}
}

int report_brief(struct trace *trace, struct out *out, const char *prefix)
{
	const struct report_options options = { .select.device = NO_DEVICE };
	int error = 0;
	const struct report report = {
		.trace = trace, .show = { .out = out }, .options = &options, .error = &error
	};
	uint64_t ooms = trace_ooms(trace, NO_DEVICE);
	size_t devices = trace->summary.devices_n;

	for (size_t i = 0; i < devices && i < BRIEF_DEVICES; i++)
		say_sentence(out, prefix, device_text(&report, &trace->summary.devices[i]));
	if (devices > BRIEF_DEVICES)
		say_sentence(out, prefix,
			     report_format(&report, "and %zu more device%s",
					   devices - BRIEF_DEVICES,
					   devices - BRIEF_DEVICES == 1 ? "" : "s"));
	if (!devices)
		say_sentence(out, prefix, report_run_answer(&report));
	say_sites(&report, prefix);
	if (ooms)
		say_sentence(out, prefix,
			     report_format(&report, "%s failed: out of memory",
					   SAY_MANY(ooms, "allocation")));
	return error;
}

void report_last_words(const struct trace *trace, struct out *out, const char *prefix)
{
	const struct trace_oom *last = trace->ooms_n ? &trace->ooms[trace->ooms_n - 1] : NULL;

	if (!last || last->survived || trace->process.exit != TRACE_UNFINISHED)
		return;
	for (size_t i = 0; i < last->text_n; i++)
		say_sentence(out, i ? "" : prefix, last->text[i]);
}
