/* The few lines that `memtrace run` ends with. */
#include <stdio.h>

#include "base/text/out.h"
#include "render/report/report_parts.h"

enum {
	DEVICES = 2,
	SITES = 3,
};

static void say_sentence(struct out *out, const char *prefix, const char *text)
{
	char safe[512];

	show_safe(safe, sizeof(safe), text, 120);
	out_text(out, prefix);
	out_text(out, safe);
	out_char(out, '\n');
}

static void say_device(const struct trace_device *device, struct out *out, const char *prefix)
{
	bool used = device->used.peak_bytes != TRACE_NONE;
	char text[300];

	snprintf(text, sizeof(text), "device %d (%.60s): peak %s allocated, %s reserved%s%s%s",
		 device->device, device->name ? device->name : "unnamed",
		 SAY_BYTES(device->allocated.peak_bytes), SAY_BYTES(device->reserved.peak_bytes),
		 used ? ", " : "", used ? SAY_BYTES(device->used.peak_bytes) : "",
		 used ? " used" : "");
	say_sentence(out, prefix, text);
}

static int say_sites(struct trace *trace, struct out *out, const char *prefix)
{
	const struct trace_device *worst = report_worst(trace, NO_DEVICE);
	const struct trace_peak *peak =
		worst ? trace_peak(trace, worst->device, NULL, TRACE_ALLOCATED) : NULL;
	struct emit_rows groups;
	int error = report_group_peak(&groups, trace, peak);

	for (size_t i = 0; !error && i < groups.count && i < SITES; i++) {
		const struct report_group *group = (const struct report_group *)groups.rows + i;
		char line[300];
		char text[400];

		report_line_text(trace, (uint32_t)group->shares->stack, line, sizeof(line));
		snprintf(text, sizeof(text), "%13s %6s  %s", SAY_BYTES(group->bytes),
			 SAY_SHARE(group->bytes, peak->bytes), line);
		say_sentence(out, prefix, text);
	}
	return error;
}

int report_brief(struct trace *trace, struct out *out, const char *prefix)
{
	uint64_t ooms = report_ooms(trace, NO_DEVICE);
	size_t devices = trace->summary.devices_n;
	char text[300];
	int error;

	for (size_t i = 0; i < devices && i < DEVICES; i++)
		say_device(&trace->summary.devices[i], out, prefix);
	if (devices > DEVICES) {
		snprintf(text, sizeof(text), "and %zu more devices", devices - DEVICES);
		say_sentence(out, prefix, text);
	}
	if (!devices) {
		error = report_answer(trace, NO_DEVICE, text, sizeof(text));
		if (error)
			return error;
		say_sentence(out, prefix, text);
	}
	error = say_sites(trace, out, prefix);
	if (!error && ooms) {
		snprintf(text, sizeof(text), "%s failed for want of memory",
			 SAY_MANY(ooms, "allocation"));
		say_sentence(out, prefix, text);
	}
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
