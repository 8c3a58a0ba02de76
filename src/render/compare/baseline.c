/* A baseline: the document memtrace/1 without what differs between two equal runs. */
#include "render/compare/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "render/compare/baseline_parts.h"
#include "render/emit/members.h"

static void head(struct out *out, const struct trace *trace)
{
	const struct trace_environment *environment = &trace->environment;

	member_number(
		out,
		"{\"schema\":\"memtrace/1\",\n\"process\":{\"pid\":0,\"ppid\":0,\"host\":null,"
		"\"rank\":",
		trace->process.rank);
	member_number(out, ",\"world_size\":", trace->process.world_size);
	out_text(out, ",\"command\":[],\"cwd\":null,\"start_time\":\"1970-01-01T00:00:00Z\","
		      "\"duration_ns\":0,\"exit\":\"exit\"},\n");
	member_text(out, "\"environment\":{\"memtrace\":", environment->memtrace);
	member_number(out, ",\"cuda_driver\":", environment->cuda_driver);
	member_number(out, ",\"cuda_runtime\":", environment->cuda_runtime);
	member_text(out, ",\"torch\":", environment->torch);
	member_text(out, ",\"python\":", environment->python);
	out_text(out, ",\"settings\":{");
	for (size_t i = 0; i < environment->settings_n; i++) {
		member_text(out, i ? "," : "", environment->settings[i].name);
		member_text(out, ":", environment->settings[i].value);
	}
	out_text(out, "},\"devices\":[");
	for (size_t i = 0; i < environment->devices_n; i++) {
		const struct trace_card *card = &environment->devices[i];

		member_number(out, i ? ",{\"device\":" : "{\"device\":", (uint64_t)card->device);
		member_text(out, ",\"name\":", card->name);
		member_number(out, ",\"total_bytes\":", card->total_bytes);
		out_char(out, '}');
	}
	member_text(out, "]},\n\"capture\":{\"baseline\":true,\"doors\":{},\"stacks\":",
		    trace->capture.stacks ? trace->capture.stacks : "");
	out_text(out, ",\"events_recorded\":0,\"events_dropped\":0,\"truncated\":true,\"notes\":["
		      "\"a baseline: it has no events, no timeline, no times and no whole stacks\""
		      "]},\n");
}

/* --- sums --- */

static void sum(struct out *out, const char *key, uint64_t peak, uint64_t exit)
{
	out_text(out, key);
	member_number(out, "{\"peak_bytes\":", peak);
	out_text(out, ",\"peak_t\":0");
	member_number(out, ",\"exit_bytes\":", exit);
	out_char(out, '}');
}

static int by_name(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a;
	const struct run_row *y = *(const struct run_row *const *)b;

	return strcmp(x->name, y->name);
}

/* The rows of a dimension and group in an order that is the same in every run. */
static size_t rows_of(const struct run *run, enum dimension dimension, const char *group,
		      const struct run_row **rows)
{
	size_t count = 0;

	for (size_t i = 0; i < run->rows_n; i++) {
		if (run->rows[i].dimension == (uint8_t)dimension &&
		    !strcmp(run->rows[i].group, group))
			rows[count++] = &run->rows[i];
	}
	qsort(rows, count, sizeof(const void *), by_name);
	return count;
}

static void parts(struct out *out, const struct run *run, enum dimension dimension, int device,
		  const struct run_row **rows)
{
	const char *key = dimension == DIMENSION_POOL ? "\n {\"pool\":" : "\n {\"owner\":";
	char group[16];
	size_t count;

	snprintf(group, sizeof(group), "%d", device);
	count = rows_of(run, dimension, group, rows);
	for (size_t i = 0; i < count; i++) {
		const int64_t *values = rows[i]->values;

		out_text(out, i ? "," : "");
		member_text(out, key, rows[i]->name);
		sum(out, ",\"allocated\":", (uint64_t)values[COLUMN_ALLOCATED],
		    (uint64_t)values[COLUMN_EXIT]);
		sum(out, ",\"reserved\":", (uint64_t)values[COLUMN_RESERVED], TRACE_NONE);
		member_number(out, ",\"allocations\":", (uint64_t)values[COLUMN_COUNT]);
		member_number(
			out, ",\"frees\":", (uint64_t)(values[COLUMN_COUNT] - values[COLUMN_LIVE]));
		out_char(out, '}');
	}
}

/* Only where every block told its own, or the next run could not be compared. */
static void categories(struct out *out, const struct run *run, int device, const char *space)
{
	const char *comma = "";

	if (run->categories_from != RUN_BLOCKS || !run->categories_n)
		return;
	out_text(out, ",\"categories\":[");
	for (size_t i = 0; i < run->categories_n; i++) {
		const struct run_category *category = &run->categories[i];

		if (category->device != device || strcmp(category->space, space) != 0)
			continue;
		out_text(out, comma);
		member_text(out, "\n {\"category\":", category->name);
		member_number(out, ",\"peak_bytes\":", category->peak);
		member_number(out, ",\"exit_bytes\":", category->exit);
		out_char(out, '}');
		comma = ",";
	}
	out_char(out, ']');
}

static void summary(struct out *out, const struct run *run, const struct run_row **rows)
{
	const struct trace *trace = &run->trace;

	out_text(out, "\"summary\":{\"devices\":[");
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];

		member_number(out,
			      i ? ",\n{\"device\":" : "\n{\"device\":", (uint64_t)device->device);
		member_text(out, ",\"name\":", device->name);
		member_number(out, ",\"total_bytes\":", device->total_bytes);
		sum(out, ",\"allocated\":", device->allocated.peak_bytes,
		    device->allocated.exit_bytes);
		sum(out, ",\"reserved\":", device->reserved.peak_bytes,
		    device->reserved.exit_bytes);
		member_number(out, ",\"used\":null,\"allocations\":", device->allocations);
		member_number(out, ",\"frees\":", device->frees);
		member_number(out, ",\"ooms\":", device->ooms);
		member_number(out, ",\"retries\":", device->retries);
		out_text(out, ",\"pools\":[");
		parts(out, run, DIMENSION_POOL, device->device, rows);
		out_text(out, "],\"owners\":[");
		parts(out, run, DIMENSION_OWNER, device->device, rows);
		out_char(out, ']');
		categories(out, run, device->device, "device");
		out_char(out, '}');
	}
	out_text(out, "],\"spaces\":[");
	for (size_t i = 0; i < trace->summary.spaces_n; i++) {
		const struct trace_space *space = &trace->summary.spaces[i];

		member_text(out, i ? ",\n{\"space\":" : "\n{\"space\":", space->space);
		sum(out, ",\"allocated\":", space->allocated.peak_bytes,
		    space->allocated.exit_bytes);
		member_number(out, ",\"allocations\":", space->allocations);
		member_number(out, ",\"frees\":", space->frees);
		if (space->space && strcmp(space->space, "device") != 0 &&
		    strcmp(space->space, "array") != 0)
			categories(out, run, NO_DEVICE, space->space);
		out_char(out, '}');
	}
	out_text(out, "]},\n");
}

/* A site is its position, and so are its stack and its share of a peak. */
static void peaks(struct out *out, const struct kept *kept)
{
	static const char *const metrics[] = { "allocated", "reserved", "used" };

	out_text(out, "\"peaks\":[");
	for (size_t p = 0; p < kept->peaks_n; p++) {
		const struct trace_peak *peak = kept_peak(kept, p);
		const char *comma = "";

		member_number(out,
			      p ? ",\n{\"device\":" : "\n{\"device\":", (uint64_t)peak->device);
		member_text(out, ",\"pool\":null,\"metric\":", metrics[peak->metric]);
		member_number(out, ",\"t\":0,\"bytes\":", peak->bytes);
		out_text(out, ",\"stacks\":[");
		for (size_t i = 0; i < kept->sites_n; i++) {
			const uint64_t *share = &kept->sites[i].shares[2 * p];

			if (!share[0] && !share[1])
				continue;
			out_text(out, comma);
			member_number(out, "{\"stack\":", i);
			member_number(out, ",\"bytes\":", share[0]);
			member_number(out, ",\"count\":", share[1]);
			out_char(out, '}');
			comma = ",";
		}
		out_text(out, "]}");
	}
	out_text(out, "],\n");
}

/* --- names --- */

/* The number of a path among the modules, which are few; *count grows with a new one. */
static size_t module_of(const char **modules, size_t *count, const char *path)
{
	size_t i = 0;

	while (i < *count && strcmp(modules[i], path) != 0)
		i++;
	if (i == *count)
		modules[(*count)++] = path;
	return i;
}

static void frame(struct out *out, const struct kept_frame *kept, const char **modules,
		  size_t *modules_n)
{
	if (kept->python) {
		member_text(out, "{\"language\":\"python\",\"function\":", kept->function);
		member_text(out, ",\"file\":", kept->path);
		member_number(out, ",\"line\":", kept->line);
		out_char(out, '}');
		return;
	}
	member_text(out, "{\"language\":\"native\",\"function\":", kept->function);
	out_text(out, ",\"symbol\":null,\"module\":");
	if (kept->path && kept->path[0])
		out_u64(out, module_of(modules, modules_n, kept->path));
	else
		out_text(out, "null");
	out_text(out, ",\"offset\":null,\"file\":null,\"line\":null}");
}

static int names(struct out *out, const struct kept *kept)
{
	const char **modules = calloc(KEPT_FRAMES * kept->sites_n + 1, sizeof(*modules));
	size_t modules_n = 0;
	size_t frames = 0;

	if (!modules)
		return err("no memory left");
	/* Modules stand before the frames that name them, so they are gathered first. */
	for (size_t i = 0; i < kept->sites_n; i++) {
		for (unsigned k = 0; k < kept->sites[i].frames_n; k++) {
			const struct kept_frame *one = &kept->sites[i].frames[k];

			if (!one->python && one->path && one->path[0])
				module_of(modules, &modules_n, one->path);
		}
	}
	out_text(out, "\"modules\":[");
	for (size_t i = 0; i < modules_n; i++) {
		member_text(out, i ? ",\n{\"path\":" : "\n{\"path\":", modules[i]);
		out_text(out, ",\"build_id\":null,\"base\":\"0x0\"}");
	}
	out_text(out, "],\n\"frames\":[");
	for (size_t i = 0; i < kept->sites_n; i++) {
		for (unsigned k = 0; k < kept->sites[i].frames_n; k++) {
			out_text(out, frames++ ? ",\n" : "\n");
			frame(out, &kept->sites[i].frames[k], modules, &modules_n);
		}
	}
	out_text(out, "],\n\"stacks\":[");
	frames = 0;
	for (size_t i = 0; i < kept->sites_n; i++) {
		out_text(out, i ? ",{\"frames\":[" : "\n{\"frames\":[");
		for (unsigned k = 0; k < kept->sites[i].frames_n; k++)
			member_number(out, k ? "," : "", frames++);
		out_text(out, "]}");
	}
	out_text(out, "],\n");
	free(modules);
	return 0;
}

static void sites(struct out *out, const struct kept *kept)
{
	const char *comma = "\n";

	out_text(out, "\"sites\":[");
	for (size_t i = 0; i < kept->sites_n; i++) {
		const struct kept_site *site = &kept->sites[i];

		if (!site->space[0])
			continue;
		out_text(out, comma);
		member_text(out, "{\"site\":", site->name);
		member_text(out, ",\"space\":", site->space);
		member_number(out, ",\"stacks\":[", i);
		member_number(out, "],\"allocations\":", site->sums.allocations);
		member_number(out, ",\"frees\":", site->sums.frees);
		member_number(out, ",\"bytes\":", site->sums.bytes);
		member_number(out, ",\"live_bytes\":", site->sums.live_bytes);
		member_number(out, ",\"peak_bytes\":", site->sums.peak_bytes);
		out_text(out, ",\"lifetime_min_ns\":null,\"lifetime_max_ns\":null}");
		comma = ",\n";
	}
	out_text(out, "],\n");
}

int baseline_write(struct run *run, struct out *out)
{
	const struct run_row **rows = calloc(run->rows_n + 1, sizeof(const void *));
	struct kept kept;
	int error;

	if (!rows)
		return err("no memory left");
	error = kept_read(&kept, run);
	if (!error) {
		head(out, &run->trace);
		summary(out, run, rows);
		peaks(out, &kept);
		error = names(out, &kept);
	}
	if (!error) {
		sites(out, &kept);
		error = baseline_phases(out, &run->trace);
		out_text(out, "\"timeline\":[],\n\"events\":[\n]}\n");
	}
	kept_clear(&kept);
	free(rows);
	return error;
}
