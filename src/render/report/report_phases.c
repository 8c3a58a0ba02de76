/* The report's section of phases. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"
#include "render/selection/phase_groups.h"

struct phase_told {
	const struct phase_group *group;
	const char *name, *title, *domain;
	const char *open; /* instead of the time */
	uint64_t times, total_ns, peak, reserved;
	int64_t growth;
	struct trace_phase_count born, freed, outliving;
	struct emit_rows devices;
};

struct phases_told {
	struct emit_rows phases;
};

static const char *show_duration(char *to, const void *row)
{
	const struct phase_told *phase = row;

	return phase->open ? phase->open : show_time(to, phase->total_ns);
}

static const struct emit_column count_members[] = {
	EMIT_MEMBER("bytes", BYTES, struct trace_phase_count, bytes),
	EMIT_MEMBER("count", COUNT, struct trace_phase_count, count),
	EMIT_END,
};

static const struct emit_column phase_device_members[] = {
	EMIT_MEMBER("device", INTEGER, struct trace_phase_device, device),
	EMIT_MEMBER("allocated_peak_bytes", BYTES, struct trace_phase_device, allocated.peak_bytes),
	EMIT_MEMBER("reserved_peak_bytes", BYTES, struct trace_phase_device, reserved.peak_bytes),
	EMIT_NESTED("born", KNOWN, struct trace_phase_device, born, count_members),
	EMIT_NESTED("freed", KNOWN, struct trace_phase_device, freed, count_members),
	EMIT_NESTED("outliving", KNOWN, struct trace_phase_device, outliving, count_members),
	EMIT_END,
};

/* On a screen of 80 columns; the rest is below each row when it is asked for. */
static const struct emit_column phase_columns[] = {
	EMIT_MEMBER("name", TEXT, struct phase_told, name),
	EMIT_CELL("phase", -24, TEXT, struct phase_told, title),
	EMIT_MEMBER("domain", TEXT, struct phase_told, domain),
	EMIT_COLUMN("times", "times", 7, COUNT, struct phase_told, times),
	{ EMIT_KEYED("total_ns", TIME, struct phase_told, total_ns), EMIT_HEADED("time", 10),
	  .show = show_duration },
	EMIT_COLUMN("allocated_peak_bytes", "peak", 12, BYTES, struct phase_told, peak),
	EMIT_MEMBER("reserved_peak_bytes", BYTES, struct phase_told, reserved),
	EMIT_COLUMN("growth_bytes", "growth", 12, CHANGE, struct phase_told, growth),
	EMIT_NESTED("born", KNOWN, struct phase_told, born, count_members),
	EMIT_NESTED("freed", KNOWN, struct phase_told, freed, count_members),
	EMIT_NESTED("outliving", KNOWN, struct phase_told, outliving, count_members),
	EMIT_CELL("outliving", 12, BYTES, struct phase_told, outliving.bytes),
	EMIT_LIST("devices", "", struct phase_told, devices, phase_device_members),
	EMIT_END,
};

static const struct emit_column phases_members[] = {
	EMIT_LIST("\nphases", "\n", struct phases_told, phases, phase_columns),
	EMIT_MEMBER("other_phases", HIDDEN, struct phases_told, phases),
	EMIT_END,
};

static bool is_whole(const struct report *report)
{
	return report->options->full || report->options->show;
}

/* ", born 4.03 GiB" */
static void add_count(char *to, size_t size, const char *what,
		      const struct trace_phase_count *count)
{
	if (count->count == TRACE_NONE)
		return;
	text_append(to, size, what);
	text_append(to, size, SAY_BYTES(count->bytes));
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
	char text[200];

	text_join(text, sizeof(text), "reserved at most ", SAY_BYTES(phase->peak_reserved));
	add_count(text, sizeof(text), ", born ", &phase->born);
	add_count(text, sizeof(text), ", freed ", &phase->freed);
	indented(report, text);
}

static void device_rows(const struct report *report, const struct emit_rows *devices)
{
	char text[200];

	for (size_t i = 0; i < devices->count; i++) {
		const struct trace_phase_device *sums =
			(const struct trace_phase_device *)devices->rows + i;

		snprintf(text, sizeof(text), "device %d: at most ", sums->device);
		text_append(text, sizeof(text), SAY_BYTES(sums->allocated.peak_bytes));
		text_append(text, sizeof(text), " allocated, ");
		text_append(text, sizeof(text), SAY_BYTES(sums->reserved.peak_bytes));
		text_append(text, sizeof(text), " reserved");
		indented(report, text);
		text_copy(text, sizeof(text), "         ");
		add_count(text, sizeof(text), " born ", &sums->born);
		add_count(text, sizeof(text), ", freed ", &sums->freed);
		add_count(text, sizeof(text), ", outliving ", &sums->outliving);
		if (sums->born.count != TRACE_NONE)
			indented(report, text);
	}
}

/* Where there is only one device its sums are those of the row. */
static void phase_below(const struct show *show, const void *row, const void *with)
{
	const struct phase_told *phase = row;
	const struct report *report = with;

	(void)show;
	if (!is_whole(report))
		return;
	more_of(report, phase->group);
	if (report->trace->summary.devices_n > 1)
		device_rows(report, &phase->devices);
}

static struct emit_rows devices_of(const struct report *report, const struct phase_group *phase)
{
	size_t devices = report->trace->summary.devices_n;
	struct trace_phase_device *list = report_room(report, (devices + 1) * sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; list && i < devices; i++) {
		int device = report->trace->summary.devices[i].device;

		if (report_wants(report, device) && phase_group_device(phase, device, &list[count]))
			count++;
	}
	return EMIT_ROWS_OF(list, count);
}

static struct phase_told phase_of(const struct report *report, const struct phase_group *group)
{
	char name[PHASE_GROUPS_NAME];

	return (struct phase_told){
		.group = group,
		.name = report_text_kept(report, phase_group_name(group, name, sizeof(name))),
		.title = report_text_kept(report, phase_group_title(group, name, sizeof(name))),
		.domain = group->first->domain,
		.open = report->trace->capture.baseline   ? "-"
			: group->open && !group->total_ns ? "open"
							  : NULL,
		.times = group->count,
		.total_ns = group->total_ns,
		.peak = group->peak_bytes,
		.reserved = group->peak_reserved,
		.growth = group->growth,
		.born = group->born,
		.freed = group->freed,
		.outliving = group->outliving,
		.devices = devices_of(report, group),
	};
}

static int find_phases(const struct report *report, struct phase_groups *groups,
		       struct phases_told *told)
{
	int error = phase_groups_find(groups, report->trace->phases, report->trace->phases_n);
	struct phase_told *list =
		error ? NULL : report_room(report, (groups->count + 1) * sizeof(*list));

	if (error)
		return error;
	if (!list)
		return err("no memory left");
	told->phases = report_rows(report, list, groups->count);
	for (size_t i = 0; i < told->phases.shown; i++)
		list[i] = phase_of(report, &groups->list[i]);
	return 0;
}

int report_tell_phases(const struct report *report)
{
	struct phase_groups groups;
	struct phases_told told;
	int error = find_phases(report, &groups, &told);

	if (!error && report->json)
		emit_members(report->show.out, phases_members, &told);
	else if (!error && told.phases.count)
		emit_table(&report->show, &(struct emit_table){
						  .columns = phase_columns,
						  .rows = &told.phases,
						  .heading = "Phases, by peak of allocated memory",
						  .indent = 2,
						  .below = phase_below,
						  .with = report,
					  });
	phase_groups_clear(&groups);
	return error;
}
