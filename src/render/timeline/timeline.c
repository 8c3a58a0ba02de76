/* Draws the curves of a trace in the terminal: glyphs, lines, the time shown and the legend. */
#include "render/timeline/timeline.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/lifetimes/timepoint.h"
#include "analyse/trace/trace.h"
#include "render/emit/term.h"
#include "render/selection/select.h"
#include "render/timeline/timeline_parts.h"

enum { LEGEND_COLUMNS = 64 };

static const struct {
	const char *text, *ascii, *colour;
} glyphs[GLYPHS] = {
	[GLYPH_BLANK] = { " ", " ", NULL },      [GLYPH_EIGHTH] = { "▁", "_", "34" },
	[GLYPH_EIGHTH + 1] = { "▂", "_", "34" }, [GLYPH_EIGHTH + 2] = { "▃", "_", "34" },
	[GLYPH_EIGHTH + 3] = { "▄", "#", "34" }, [GLYPH_EIGHTH + 4] = { "▅", "#", "34" },
	[GLYPH_EIGHTH + 5] = { "▆", "#", "34" }, [GLYPH_EIGHTH + 6] = { "▇", "#", "34" },
	[GLYPH_FULL] = { "█", "#", "34" },       [GLYPH_CACHED] = { "░", ".", "2" },
	[GLYPH_PEAK] = { "▼", "v", "1" },        [GLYPH_OOM] = { "✗", "X", "1;31" },
	[GLYPH_AXIS] = { "│", "|", "2" },        [GLYPH_TICK] = { "┤", "+", "2" },
	[GLYPH_CORNER] = { "└", "+", "2" },      [GLYPH_LINE] = { "─", "-", "2" },
	[GLYPH_BEGIN] = { "├", "[", "36" },      [GLYPH_END] = { "┤", "]", "36" },
	[GLYPH_SHORT] = { "│", "|", "36" },      [GLYPH_MANY] = { "▒", "*", "36" },
};

static void put_glyph(const struct timeline *timeline, enum timeline_glyph glyph)
{
	const char *text = timeline->options->ascii ? glyphs[glyph].ascii : glyphs[glyph].text;

	if (timeline->show.colour && glyphs[glyph].colour)
		out_format(timeline->show.out, "\033[%sm%s\033[0m", glyphs[glyph].colour, text);
	else
		out_text(timeline->show.out, text);
}

struct timeline_cell *timeline_cells(const struct timeline *timeline)
{
	/* Zeroed cells are blank, because GLYPH_BLANK is 0. */
	return need(&timeline->trace->arena, timeline->columns * sizeof(struct timeline_cell));
}

/* Writes the name that begins in the cell. Returns its width, or 0 if there is no room for it. */
static unsigned put_phase_name(const struct timeline *timeline, const struct timeline_cell *cell)
{
	char text[TIMELINE_WIDEST * 4 + 4];

	/* A name is not written if fewer than two letters and "..." would remain of it. */
	if (!cell->room || (cell->room < 5 && show_columns(cell->name) > cell->room))
		return 0;
	show_cut(text, sizeof(text), cell->name, cell->room, SHOW_MIDDLE);
	timeline_ascii(timeline, text);
	out_text(timeline->show.out, text);
	return show_columns(text);
}

void timeline_line(const struct timeline *timeline, const char *label, enum timeline_glyph axis,
		   const struct timeline_cell *cells)
{
	unsigned end = timeline->columns;
	char safe[SHOW_NUMBER];

	while (end && cells[end - 1].glyph == GLYPH_BLANK)
		end--;
	show_safe(safe, sizeof(safe), label ? label : "", TIMELINE_LEFT - 2);
	out_format(timeline->show.out, "%*s ", TIMELINE_LEFT - 2, safe);
	put_glyph(timeline, label ? axis : GLYPH_BLANK);
	for (unsigned i = 0; i < end;) {
		unsigned named = cells[i].name ? put_phase_name(timeline, &cells[i]) : 0;

		if (!named)
			put_glyph(timeline, cells[i].glyph);
		i += named ? named : 1;
	}
	out_char(timeline->show.out, '\n');
}

unsigned timeline_column(const struct timeline *timeline, uint64_t t)
{
	uint64_t stretch = timeline->to - timeline->from;

	return stretch ? (unsigned)((unsigned __int128)(t - timeline->from) *
				    (timeline->columns - 1) / stretch)
		       : 0;
}

void timeline_ascii(const struct timeline *timeline, char *text)
{
	char *to = text;

	if (!timeline->options->ascii)
		return;
	for (const char *p = text; *p; p++) {
		if ((*p & 0x80) == 0)
			*to++ = *p;
		else if ((*p & 0xc0) == 0xc0) /* first byte of a UTF-8 sequence */
			*to++ = '?';
	}
	*to = '\0';
}

const char *timeline_time(const struct timeline *timeline, char *to, uint64_t t)
{
	uint64_t step = (timeline->to - timeline->from) / timeline->columns;
	char fraction[24];
	int decimals = 0;

	if (step >= 1000000000)
		return show_time(to, t);
	for (uint64_t part = 1000000000; part > step && part > 1; part /= 10)
		decimals++;
	snprintf(fraction, sizeof(fraction), "%09u", (unsigned)(t % 1000000000));
	snprintf(to, SHOW_NUMBER, "%llu.%.*s s", (unsigned long long)(t / 1000000000), decimals,
		 fraction);
	return to;
}

static bool is_wanted(const struct timeline *timeline, const struct trace_curve *curve)
{
	const struct timeline_options *options = timeline->options;

	return curve->t_n && (options->device == NO_DEVICE || options->device == curve->device) &&
	       (!options->pool || (curve->pool && !strcmp(curve->pool, options->pool)));
}

/* Sets the time to show: --from and --to; else from the first memory held to the end of the run. */
static int find_stretch(struct timeline *timeline)
{
	const struct trace *trace = timeline->trace;
	const struct timeline_options *options = timeline->options;
	int error = 0;

	timeline->from = UINT64_MAX;
	timeline->to = trace->process.duration_ns;
	foreach (curve, trace->timeline) {
		size_t first = 0;

		if (!is_wanted(timeline, curve))
			continue;
		while (first + 1 < curve->t_n && !curve->allocated[first] &&
		       !curve->reserved[first])
			first++;
		if (curve->t[first] < timeline->from)
			timeline->from = curve->t[first];
		if (curve->t[curve->t_n - 1] > timeline->to)
			timeline->to = curve->t[curve->t_n - 1];
	}
	if (options->from)
		error = timepoint_bound(trace, options->from, false, &timeline->from);
	if (!error && options->to)
		error = timepoint_bound(trace, options->to, true, &timeline->to);
	if (!error && timeline->from > timeline->to && (options->from || options->to))
		error = err("%s: nothing to draw: %.60s is later than %.60s", trace->path,
			    options->from ? options->from : "the start of the run",
			    options->to ? options->to : "the end of the run");
	/* If --to names a phase that never ended, the phase lasts until the process ends. */
	if (timeline->to == TRACE_NONE)
		timeline->to = trace->process.duration_ns;
	return error;
}

static int find_ooms(struct timeline *timeline)
{
	struct trace *trace = timeline->trace;
	struct event event;
	int more;

	if (!trace_ooms(trace, NO_DEVICE))
		return 0;
	while ((more = trace_next_of(trace, EVENT_OOM, &event)) == 1) {
		const struct timeline_oom oom = { event.t, event.device };

		emit_add(&trace->arena, &timeline->ooms, &oom);
	}
	return more < 0 ? more : 0;
}

static void put_legend(const struct timeline *timeline)
{
	static const struct {
		const char *before;
		enum timeline_glyph glyph;
		const char *text;
	} rows[] = {
		{ "", GLYPH_FULL, "allocated" },
		{ "   ", GLYPH_CACHED, "cached" },
		{ "   ", GLYPH_PEAK, "peak" },
		{ "   ", GLYPH_OOM, "out of memory" },
	};
	unsigned indent = timeline->options->width < LEGEND_COLUMNS ? 0 : TIMELINE_LEFT;

	out_format(timeline->show.out, "\n%*s", (int)indent, "");
	for (size_t i = 0; i < (timeline->ooms.count ? 4 : 3); i++) {
		out_text(timeline->show.out, rows[i].before);
		put_glyph(timeline, rows[i].glyph);
		out_format(timeline->show.out, " %s", rows[i].text);
	}
	out_char(timeline->show.out, '\n');
}

static int put_all(struct timeline *timeline)
{
	const struct trace *trace = timeline->trace;
	bool any = false;
	int error = find_stretch(timeline);

	if (!error)
		error = find_ooms(timeline);
	if (error)
		return error;
	foreach (curve, trace->timeline) {
		if (!is_wanted(timeline, curve))
			continue;
		timeline_chart(timeline, curve);
		any = true;
	}
	if (!any) {
		out_text(timeline->show.out, "No device memory was used, so there is no curve.\n");
		return 0;
	}
	timeline_phases(timeline);
	put_legend(timeline);
	return 0;
}

static struct timeline timeline_of(struct trace *trace, struct out *out,
				   const struct timeline_options *options)
{
	return (struct timeline){
		.trace = trace,
		.show = { out, options->colour, options->width, false, NULL },
		.options = options,
		.columns = options->width - TIMELINE_LEFT,
		.ooms = EMIT_NONE_OF(struct timeline_oom, SIZE_MAX),
	};
}

bool timeline_sketch(struct trace *trace, struct out *out, const struct timeline_options *options,
		     const char *name, uint64_t top)
{
	struct timeline timeline = timeline_of(trace, out, options);
	const struct trace_curve *curve = trace_curve(trace, options->device, NULL);

	if (!curve || !curve->t_n || find_stretch(&timeline))
		return false;
	timeline_bare_chart(&timeline, curve, name, top);
	return true;
}

int timeline_text(struct trace *trace, struct out *out, const struct timeline_options *options)
{
	struct timeline timeline = timeline_of(trace, out, options);
	int error = report_select_check(trace, options->device, options->pool);

	return error ? error : put_all(&timeline);
}
