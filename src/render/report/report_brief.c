/* The few lines that `memtrace run` prints at the end. */
#include "render/report/report_parts.h"

enum {
	DEVICES = 2,
	SITES = 3,
};

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

	for (size_t i = 0; peak && i < groups.count && i < SITES; i++) {
		const struct report_group *group = (const struct report_group *)groups.rows + i;

		say_sentence(report->show.out, prefix,
			     report_format(report, "%13s %6s  %s", SAY_BYTES(group->bytes),
					   SAY_SHARE(group->bytes, peak->bytes),
					   report_line(report, group->shares->stack)));
	}
}

int report_brief(struct trace *trace, struct out *out, const char *prefix)
{
	const struct report_options options = { .select.device = NO_DEVICE };
	int error = 0;
	const struct report report = {
		.trace = trace, .show = { out, false }, .options = &options, .error = &error
	};
	uint64_t ooms = report_ooms(&report);
	size_t devices = trace->summary.devices_n;

	for (size_t i = 0; i < devices && i < DEVICES; i++)
		say_sentence(out, prefix, device_text(&report, &trace->summary.devices[i]));
	if (devices > DEVICES)
		say_sentence(out, prefix,
			     report_format(&report, "and %zu more devices", devices - DEVICES));
	if (!devices)
		say_sentence(out, prefix, report_answer(&report));
	say_sites(&report, prefix);
	if (ooms)
		say_sentence(out, prefix,
			     report_format(&report, "%s failed for want of memory",
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
