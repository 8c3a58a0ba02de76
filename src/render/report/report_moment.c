/* The report on a moment: who held what then. */
#include <stdio.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

static bool is_of_moment(const struct report *report, const struct replay_device *device)
{
	int wanted = report->selection->wish.device;

	return wanted == NO_DEVICE || wanted == device->device;
}

/* "Device 0: 68.00 MiB allocated of 72.00 MiB reserved." What the events say, whatever is selected.
 */
static void device_lines(const struct report *report)
{
	const struct replay *replay = &report->selection->replay;
	char allocated[SHOW_NUMBER];
	char reserved[SHOW_NUMBER];
	char text[200];

	for (size_t i = 0; i < replay->devices_n; i++) {
		const struct replay_device *device = &replay->devices[i];

		if (!is_of_moment(report, device) || report->selection->told)
			continue;
		snprintf(text, sizeof(text), "Device %d: %s allocated of %s reserved.",
			 device->device, show_bytes(allocated, device->at_allocated),
			 show_bytes(reserved, device->at_reserved));
		report_say(report, text);
	}
}

int report_text_moment(const struct report *report)
{
	const struct trace_peak *peak = report->trace->peaks;
	char text[400];
	int error;

	device_lines(report);
	if (!peak->bytes)
		return 0;
	snprintf(text, sizeof(text), "Live %s, by %s", report->selection->what,
		 trace_by_title((enum trace_by)report->trace->by));
	show_heading(&report->show, text);
	error = report_composition(report, peak, "[not known: born before events were dropped]");
	if (!error && report->trace->by != TRACE_BY_CATEGORY)
		report_category_table(report, peak);
	return error;
}

static void json_devices(const struct report *report)
{
	const struct replay *replay = &report->selection->replay;
	const char *comma = "";

	out_text(report->show.out, ",\"devices\":[");
	for (size_t i = 0; i < replay->devices_n; i++) {
		const struct replay_device *device = &replay->devices[i];

		if (!is_of_moment(report, device) || report->selection->told)
			continue;
		out_text(report->show.out, comma);
		report_json_number(report, "{\"device\":", (uint64_t)device->device);
		report_json_number(report, ",\"allocated_bytes\":", device->at_allocated);
		report_json_number(report, ",\"reserved_bytes\":", device->at_reserved);
		out_char(report->show.out, '}');
		comma = ",";
	}
	out_char(report->show.out, ']');
}

int report_json_moment(const struct report *report)
{
	const struct replay *replay = &report->selection->replay;
	int error;

	report_json_text(report, ",\n\"moment\":{\"what\":", report->selection->what);
	report_json_number(report, ",\"t\":", replay->any ? replay->t : TRACE_NONE);
	report_json_number(report, ",\"seq\":",
			   replay->any && !report->selection->told ? replay->seq : TRACE_NONE);
	json_devices(report);
	out_text(report->show.out, ",\n\"live\":");
	error = report_json_composition(report, report->trace->peaks);
	out_char(report->show.out, '}');
	return error;
}
