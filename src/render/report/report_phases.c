/* The section of phases: each one's time, peak, growth, and memory not freed by the phase's end. */
#include "render/report/report_parts.h"
#include "render/selection/phase_groups.h"

struct phase_told {
	struct phase_group of;
	const char *name, *title, *domain;
	const char *open; /* a word shown in place of the phase's time; NULL to show the time */
	struct emit_rows devices;
};

static const char *show_duration(char *to, const void *row)
{
	const struct phase_told *phase = row;

	return phase->open ? phase->open : show_time(to, phase->of.total_ns);
}

static const struct emit_column count_members[] = {
	EMIT_FIELD(BYTES, struct trace_phase_count, bytes),
	EMIT_FIELD(COUNT, struct trace_phase_count, count),
	EMIT_END,
};

static const struct emit_column value_members[] = {
	EMIT_MEMBER("allocated_peak_bytes", BYTES, struct phase_values, peak_bytes),
	EMIT_MEMBER("reserved_peak_bytes", BYTES, struct phase_values, peak_reserved),
	EMIT_MEMBER("above_start_bytes", BYTES, struct phase_values, above_start),
	EMIT_MEMBER("growth_bytes", CHANGE, struct phase_values, growth),
	EMIT_NESTED("allocations", KNOWN, struct phase_values, allocations, count_members),
	EMIT_NESTED("freed", KNOWN, struct phase_values, freed, count_members),
	EMIT_NESTED("kept", KNOWN, struct phase_values, kept, count_members),
	EMIT_END,
};

static const struct emit_column device_columns[] = {
	EMIT_COLUMN("device", "device", 10, INTEGER, struct phase_values, device),
	EMIT_CELL("peak", 12, BYTES, struct phase_values, peak_bytes),
	EMIT_CELL("above start", 13, BYTES, struct phase_values, above_start),
	EMIT_CELL("growth", 12, CHANGE, struct phase_values, growth),
	EMIT_CELL("kept", 12, BYTES, struct phase_values, kept.bytes, .flags = EMIT_OPTIONAL),
	EMIT_CELL("reserved", 12, BYTES, struct phase_values, peak_reserved),
	EMIT_NESTED(NULL, INLINED, struct phase_values, device, value_members),
	EMIT_END,
};

/* A row has the columns that fit in 80 characters; --full and --show add the others below it. */
static const struct emit_column phase_columns[] = {
	EMIT_FIELD(TEXT, struct phase_told, name),
	EMIT_CELL("phase", -17, TEXT, struct phase_told, title),
	EMIT_FIELD(TEXT, struct phase_told, domain),
	EMIT_COLUMN("times", "times", 6, COUNT, struct phase_told, of.count),
	EMIT_COLUMN("total_ns", "time", 9, TIME, struct phase_told, of.total_ns,
		    .show = show_duration),
	EMIT_CELL("peak", 11, BYTES, struct phase_told, of.values.peak_bytes),
	EMIT_CELL("above start", 12, BYTES, struct phase_told, of.values.above_start),
	EMIT_CELL("growth", 12, CHANGE, struct phase_told, of.values.growth),
	EMIT_CELL("kept", 11, BYTES, struct phase_told, of.values.kept.bytes,
		  .flags = EMIT_OPTIONAL),
	EMIT_NESTED(NULL, INLINED, struct phase_told, of.values, value_members),
	EMIT_LIST("devices", "", struct phase_told, devices, device_columns),
	EMIT_END,
};

static const struct emit_column phases_members[] = {
	{ .key = "\nphases", .kind = EMIT_ROWS, .of = phase_columns, .between = "\n" },
	{ .key = "other_phases", .kind = EMIT_HIDDEN },
	EMIT_END,
};

/* Returns a value for the line below a phase, ", freed 4.03 GiB", or "" if it is not known. */
static const char *count_text(const struct report *report, const char *what,
			      const struct trace_phase_count *count)
{
	return count->count == TRACE_NONE
		       ? ""
		       : report_format(report, "%s%s", what, SAY_BYTES(count->bytes));
}

/* Writes, below a phase, its further values and, if there are several devices, a row for each. */
static void phase_below(const struct show *show, const void *row, const void *with)
{
	const struct phase_told *phase = row;
	const struct report *report = with;

	if (!report->options->full && !report->options->show)
		return;
	report_say(report, SAID_LINE, "    reserved peak %s%s%s",
		   SAY_BYTES(phase->of.values.peak_reserved),
		   count_text(report, ", allocated in total ", &phase->of.values.allocations),
		   count_text(report, ", freed ", &phase->of.values.freed));
	if (report->trace->summary.devices_n > 1)
		emit_table(show, &(struct emit_table){ .columns = device_columns,
						       .rows = &phase->devices,
						       .indent = 2 });
}

static struct emit_rows devices_of(const struct report *report, const struct phase_group *phase)
{
	const struct trace_summary *summary = &report->trace->summary;
	struct emit_rows rows = EMIT_NONE_OF(struct phase_values, SIZE_MAX);
	struct phase_values values;

	for (size_t i = 0; i < summary->devices_n; i++) {
		int device = summary->devices[i].device;

		if (report_wants(report, device) &&
		    phase_group_device(phase, report->trace, device, &values))
			report_add(report, &rows, &values);
	}
	return rows;
}

static void add_phase(const struct report *report, struct emit_rows *rows,
		      const struct phase_group *group)
{
	char name[PHASE_GROUPS_NAME];
	const char *known = phase_group_name(group, name, sizeof(name));
	char title[PHASE_GROUPS_NAME];

	report_add(report, rows,
		   &(struct phase_told){
			   .of = *group,
			   .name = report_format(report, "%s", known),
			   .title = report_format(report, "%s",
						  phase_group_title(group, title, sizeof(title))),
			   .domain = group->first->domain,
			   .open = report->trace->capture.baseline   ? "-"
				   : group->open && !group->total_ns ? "open"
								     : NULL,
			   .devices = devices_of(report, group),
		   });
}

void report_tell_phases(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = report_rows(report, struct phase_told);
	const struct emit_rows groups =
		phase_groups_find(report->trace, trace->phases, trace->phases_n);
	const char *heading = "Phases, by peak of allocated memory";

	foreach (group, ROWS_IN(const struct phase_group, groups)) {
		add_phase(report, &rows, group);
		if (group->count > 1)
			heading = "Phases, by peak of allocated memory; growth and kept are "
				  "medians of a phase's repetitions";
	}
	report_members(report, phases_members, &rows);
	if (rows.count)
		report_put(report, (struct emit_table){
					   .columns = phase_columns,
					   .rows = &rows,
					   .heading = heading,
					   .below = phase_below,
				   });
}
