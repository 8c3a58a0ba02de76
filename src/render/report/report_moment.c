/* The report on a moment: who held what then. */
#include <stdio.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
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

	for (size_t i = 0; i < replay->devices_n; i++) {
		const struct replay_device *device = &replay->devices[i];

		if (!is_of_moment(report, device) || report->selection->told)
			continue;
		report_say(report, SAID_LINE, "Device %d: %s allocated of %s reserved.",
			   device->device, SAY_BYTES(device->at_allocated),
			   SAY_BYTES(device->at_reserved));
	}
}

static int say_moment(const struct report *report)
{
	const struct trace_peak *peak = report->trace->peaks;
	int error;

	device_lines(report);
	if (!peak->bytes)
		return 0;
	report_say(report, SAID_HEADING, "Live %s, by %s", report->selection->what,
		   trace_by_title((enum trace_by)report->trace->by));
	error = report_composition(report, peak, "[not known: born before events were dropped]");
	if (!error && report->trace->by != TRACE_BY_CATEGORY)
		report_category_table(report, peak);
	return error;
}

struct moment_told {
	const char *what;
	uint64_t t, seq;
	struct emit_rows devices;
	struct report_composed live;
};

static const struct emit_column moment_device_members[] = {
	EMIT_MEMBER("device", INTEGER, struct replay_device, device),
	EMIT_MEMBER("allocated_bytes", BYTES, struct replay_device, at_allocated),
	EMIT_MEMBER("reserved_bytes", BYTES, struct replay_device, at_reserved),
	EMIT_END,
};

static const struct emit_column moment_members[] = {
	EMIT_MEMBER("what", TEXT, struct moment_told, what),
	EMIT_MEMBER("t", TIME, struct moment_told, t),
	EMIT_MEMBER("seq", NUMBER, struct moment_told, seq),
	EMIT_LIST("devices", "", struct moment_told, devices, moment_device_members),
	EMIT_NESTED("\nlive", OBJECT, struct moment_told, live, report_composed_members),
	EMIT_END,
};

int report_tell_moment(const struct report *report)
{
	const struct replay *replay = &report->selection->replay;
	struct replay_device *list = report_room(report, (replay->devices_n + 1) * sizeof(*list));
	struct moment_told told = {
		.what = report->selection->what,
		.t = replay->any ? replay->t : TRACE_NONE,
		.seq = replay->any && !report->selection->told ? replay->seq : TRACE_NONE,
		.devices = EMIT_ROWS_OF(list, 0),
	};
	int error;

	if (!report->json)
		return say_moment(report);
	error = list ? report_compose(report, report->trace->peaks, &told.live)
		     : err("no memory left");
	for (size_t i = 0; !error && i < replay->devices_n; i++) {
		if (is_of_moment(report, &replay->devices[i]) && !report->selection->told)
			list[told.devices.count++] = replay->devices[i];
	}
	if (!error)
		report_member(report, "\nmoment", moment_members, &told);
	return error;
}
