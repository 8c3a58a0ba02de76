/* The report's section of phases. */
#include <stdio.h>
#include <stdlib.h>

#include "base/out.h"
#include "base/text.h"
#include "render/phase_groups.h"
#include "render/report_parts.h"

/* On a screen of 80 columns, and all of it when it is asked for. */
static const struct report_column brief[] = {
	{ "phase", 24 },  { "times", 7 },      { "time", 10 }, { "peak", 12 },
	{ "growth", 12 }, { "outliving", 12 }, { NULL, 0 },
};
static const struct report_column whole[] = {
	{ "phase", 24 },     { "times", 7 }, { "time", 10 },  { "peak", 12 },     { "growth", 12 },
	{ "outliving", 12 }, { "born", 12 }, { "freed", 12 }, { "reserved", 12 }, { NULL, 0 },
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

	report_first_cell(report, &whole[0], phase_group_name(phase, name, sizeof(name)));
	report_cell(report, &whole[1], show_count(number, phase->count));
	report_cell(report, &whole[2],
		    phase->open && !phase->total_ns ? "open" : show_time(number, phase->total_ns));
	report_cell(report, &whole[3], show_bytes(number, phase->peak_bytes));
	growth_cell(report, &whole[4], phase->growth);
	count_cell(report, &whole[5], &phase->outliving);
	if (is_whole(report)) {
		count_cell(report, &whole[6], &phase->born);
		count_cell(report, &whole[7], &phase->freed);
		report_cell(report, &whole[8], show_bytes(number, phase->peak_reserved));
	}
	out_char(report->show.out, '\n');
}

static void device_rows(const struct report *report, const struct phase_group *phase)
{
	struct trace_phase_device sums;
	char text[SHOW_NUMBER];

	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		int device = report->trace->summary.devices[i].device;

		if (!report_wants(report, device) || !phase_group_device(phase, device, &sums))
			continue;
		snprintf(text, sizeof(text), "  device %d", device);
		report_first_cell(report, &whole[0], text);
		report_cell(report, &whole[1], "");
		report_cell(report, &whole[2], "");
		report_cell(report, &whole[3], show_bytes(text, sums.allocated.peak_bytes));
		report_cell(report, &whole[4], "");
		count_cell(report, &whole[5], &sums.outliving);
		count_cell(report, &whole[6], &sums.born);
		count_cell(report, &whole[7], &sums.freed);
		report_cell(report, &whole[8], show_bytes(text, sums.reserved.peak_bytes));
		out_char(report->show.out, '\n');
	}
}

int report_text_phases(const struct report *report)
{
	struct phase_groups groups;
	int error = phase_groups_find(&groups, report->trace->phases, report->trace->phases_n);
	size_t shown = report_limit(report, groups.count);

	if (!error && groups.count) {
		show_heading(&report->show, "Phases, by peak of allocated memory");
		report_header(report, is_whole(report) ? whole : brief);
	}
	for (size_t i = 0; !error && i < shown; i++) {
		phase_row(report, &groups.list[i]);
		if (is_whole(report))
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
