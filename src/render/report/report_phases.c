/* The report's section of phases. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"
#include "render/selection/phase_groups.h"

/* On a screen of 80 columns; the rest is told below each row when it is asked for. */
static const struct report_column columns[] = {
	{ "phase", 24 },  { "times", 7 },      { "time", 10 }, { "peak", 12 },
	{ "growth", 12 }, { "outliving", 12 }, { NULL, 0 },
};
static bool is_whole(const struct report *report)
{
	return report->options->full || report->options->show;
}

static void count_cell(const struct report *report, const struct report_column *column,
		       const struct trace_phase_count *count)
{
	char number[SHOW_NUMBER];

	report_cell(report, column,
		    count->count == TRACE_NONE ? "-" : show_bytes(number, count->bytes));
}

static void growth_cell(const struct report *report, const struct report_column *column,
			int64_t growth)
{
	uint64_t bytes = growth < 0 ? 0 - (uint64_t)growth : (uint64_t)growth;
	char number[SHOW_NUMBER];
	char text[SHOW_NUMBER + 1];

	text_join(text, sizeof(text),
		  growth < 0 ? "-"
		  : growth   ? "+"
			     : "",
		  show_bytes(number, bytes));
	report_cell(report, column, text);
}

static void phase_row(const struct report *report, const struct phase_group *phase)
{
	char name[PHASE_GROUPS_NAME];
	char number[SHOW_NUMBER];

	report_first_cell(report, &columns[0], phase_group_title(phase, name, sizeof(name)));
	report_cell(report, &columns[1], show_count(number, phase->count));
	report_cell(report, &columns[2],
		    report->trace->capture.baseline   ? "-"
		    : phase->open && !phase->total_ns ? "open"
						      : show_time(number, phase->total_ns));
	report_cell(report, &columns[3], show_bytes(number, phase->peak_bytes));
	growth_cell(report, &columns[4], phase->growth);
	count_cell(report, &columns[5], &phase->outliving);
	out_char(report->show.out, '\n');
}

/* ", born 4.03 GiB" */
static void add_count(char *to, size_t size, const char *what,
		      const struct trace_phase_count *count)
{
	char number[SHOW_NUMBER];

	if (count->count == TRACE_NONE)
		return;
	text_append(to, size, what);
	text_append(to, size, show_bytes(number, count->bytes));
}

static void indented(const struct report *report, const char *text)
{
	out_text(report->show.out, "    ");
	out_text(report->show.out, text);
	out_char(report->show.out, '\n');
}

/* What was born and freed in it, and the peak of reserved. */
static void more_of(const struct report *report, const struct phase_group *phase)
{
	char number[SHOW_NUMBER];
	char text[200];

	text_join(text, sizeof(text), "reserved at most ",
		  show_bytes(number, phase->peak_reserved));
	add_count(text, sizeof(text), ", born ", &phase->born);
	add_count(text, sizeof(text), ", freed ", &phase->freed);
	indented(report, text);
}

/* Where there is only one device all has been told. */
static void device_rows(const struct report *report, const struct phase_group *phase)
{
	struct trace_phase_device sums;
	char number[SHOW_NUMBER];
	char text[200];

	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		int device = report->trace->summary.devices[i].device;

		if (!report_wants(report, device) || !phase_group_device(phase, device, &sums))
			continue;
		snprintf(text, sizeof(text), "device %d: at most ", device);
		text_append(text, sizeof(text), show_bytes(number, sums.allocated.peak_bytes));
		text_append(text, sizeof(text), " allocated, ");
		text_append(text, sizeof(text), show_bytes(number, sums.reserved.peak_bytes));
		text_append(text, sizeof(text), " reserved");
		indented(report, text);
		text_copy(text, sizeof(text), "         ");
		add_count(text, sizeof(text), " born ", &sums.born);
		add_count(text, sizeof(text), ", freed ", &sums.freed);
		add_count(text, sizeof(text), ", outliving ", &sums.outliving);
		if (sums.born.count != TRACE_NONE)
			indented(report, text);
	}
}

int report_text_phases(const struct report *report)
{
	struct phase_groups groups;
	int error = phase_groups_find(&groups, report->trace->phases, report->trace->phases_n);
	size_t shown = report_limit(report, groups.count);

	if (!error && groups.count) {
		show_heading(&report->show, "Phases, by peak of allocated memory");
		report_header(report, columns);
	}
	for (size_t i = 0; !error && i < shown; i++) {
		phase_row(report, &groups.list[i]);
		if (!is_whole(report))
			continue;
		more_of(report, &groups.list[i]);
		if (report->trace->summary.devices_n > 1)
			device_rows(report, &groups.list[i]);
	}
	if (!error && shown < groups.count)
		report_more(report, groups.count - shown);
	phase_groups_clear(&groups);
	return error;
}

/* --- for programs --- */

static void json_count(const struct report *report, const char *key,
		       const struct trace_phase_count *count)
{
	out_text(report->show.out, key);
	if (count->count == TRACE_NONE) {
		out_text(report->show.out, "null");
		return;
	}
	report_json_number(report, "{\"bytes\":", count->bytes);
	report_json_number(report, ",\"count\":", count->count);
	out_char(report->show.out, '}');
}

static void json_devices(const struct report *report, const struct phase_group *phase)
{
	struct trace_phase_device sums;
	const char *comma = "";

	out_text(report->show.out, ",\"devices\":[");
	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		int device = report->trace->summary.devices[i].device;

		if (!report_wants(report, device) || !phase_group_device(phase, device, &sums))
			continue;
		out_text(report->show.out, comma);
		comma = ",";
		report_json_number(report, "{\"device\":", (uint64_t)device);
		report_json_number(report, ",\"allocated_peak_bytes\":", sums.allocated.peak_bytes);
		report_json_number(report, ",\"reserved_peak_bytes\":", sums.reserved.peak_bytes);
		json_count(report, ",\"born\":", &sums.born);
		json_count(report, ",\"freed\":", &sums.freed);
		json_count(report, ",\"outliving\":", &sums.outliving);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
}

static void json_phase(const struct report *report, const struct phase_group *phase, bool first)
{
	char name[PHASE_GROUPS_NAME];

	report_json_text(report, first ? "\n{\"name\":" : ",\n{\"name\":",
			 phase_group_name(phase, name, sizeof(name)));
	report_json_text(report, ",\"domain\":", phase->first->domain);
	report_json_number(report, ",\"times\":", phase->count);
	report_json_number(report, ",\"total_ns\":", phase->total_ns);
	report_json_number(report, ",\"allocated_peak_bytes\":", phase->peak_bytes);
	report_json_number(report, ",\"reserved_peak_bytes\":", phase->peak_reserved);
	out_text(report->show.out, ",\"growth_bytes\":");
	out_i64(report->show.out, phase->growth);
	json_count(report, ",\"born\":", &phase->born);
	json_count(report, ",\"freed\":", &phase->freed);
	json_count(report, ",\"outliving\":", &phase->outliving);
	json_devices(report, phase);
	out_char(report->show.out, '}');
}

int report_json_phases(const struct report *report)
{
	struct phase_groups groups;
	int error = phase_groups_find(&groups, report->trace->phases, report->trace->phases_n);
	size_t shown = report_limit(report, groups.count);

	if (!error) {
		out_text(report->show.out, ",\n\"phases\":[");
		for (size_t i = 0; i < shown; i++)
			json_phase(report, &groups.list[i], !i);
		report_json_number(report, "],\"other_phases\":", groups.count - shown);
	}
	phase_groups_clear(&groups);
	return error;
}
