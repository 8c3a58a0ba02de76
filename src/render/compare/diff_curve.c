/*
 * Two curves above each other, on one scale: allocated memory over the time of each run.
 *
 * A column shows the highest value in its stretch of time, so no peak is lost.
 */
#include <stdio.h>
#include <string.h>

#include "render/compare/diff.h"
#include "render/emit/term.h"

enum { HEIGHT = 3, NAME = 18, WIDTH = SHOW_COLUMNS - NAME };

struct picture {
	uint64_t columns[WIDTH];
	uint64_t peak;
	bool known;
};

/* The highest value of the curve in each column; values hold until the next point. */
static void draw_curve(struct picture *picture, const struct run *run, int device)
{
	const struct trace_curve *curve = trace_curve(&run->trace, device, NULL);
	uint64_t end = run->trace.process.duration_ns;
	uint64_t start;
	uint64_t value = 0;
	size_t i = 0;

	memset(picture, 0, sizeof(*picture));
	if (!curve || !curve->t_n)
		return;
	picture->known = true;
	if (end <= curve->t[curve->t_n - 1])
		end = curve->t[curve->t_n - 1] + 1;
	/* Nothing happens while a program loads its libraries. */
	while (i + 1 < curve->t_n && !curve->allocated[i + 1])
		i++;
	start = curve->t[i];
	for (unsigned column = 0; column < WIDTH; column++) {
		uint64_t until = start + (uint64_t)((double)(end - start) * (column + 1) / WIDTH);
		uint64_t most = value;

		for (; i < curve->t_n && (curve->t[i] < until || column + 1 == WIDTH); i++) {
			value = curve->allocated[i] == TRACE_NONE ? value : curve->allocated[i];
			most = value > most ? value : most;
		}
		picture->columns[column] = most;
		picture->peak = most > picture->peak ? most : picture->peak;
	}
}

/* One line of a picture, in eighths of a line's height. */
static void draw_line(const struct picture *picture, const struct show *show, unsigned row,
		      uint64_t scale, bool ascii)
{
	static const char *const blocks[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
					      "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const letters[] = { " ", ".", ".", ":", ":", "+", "+", "#", "#" };
	unsigned last = WIDTH;
	unsigned eighths[WIDTH];

	for (unsigned i = 0; i < WIDTH; i++) {
		double full = (double)picture->columns[i] * HEIGHT * 8 / (double)scale;
		unsigned height = picture->columns[i] ? (unsigned)(full + 0.999) : 0;
		unsigned below = (HEIGHT - 1 - row) * 8;

		eighths[i] = height <= below ? 0 : height - below > 8 ? 8 : height - below;
	}
	while (last && !eighths[last - 1])
		last--;
	for (unsigned i = 0; i < last; i++)
		out_text(show->out, (ascii ? letters : blocks)[eighths[i]]);
}

static void show_picture(const struct picture *picture, const struct show *show, const char *name,
			 uint64_t scale, bool ascii)
{
	for (unsigned row = 0; row < HEIGHT; row++) {
		char label[NAME + 1];
		bool first = row == 0;

		snprintf(label, sizeof(label), first ? "%-5s%11s" : "%16s", first ? name : "",
			 first ? SAY_BYTES(picture->peak) : "");
		out_format(show->out, "%-16s %s", label, ascii ? "|" : "\u2502");
		draw_line(picture, show, row, scale, ascii);
		out_char(show->out, '\n');
	}
}

void diff_curves(const struct diff *diff, const struct show *show, bool ascii)
{
	const struct run *const runs[] = { diff_base(diff), diff_head(diff) };
	const struct trace_summary *summary = &runs[1]->trace.summary;
	struct picture pictures[2];
	uint64_t scale = 0;

	for (size_t i = 0; i < 2 && summary->devices_n; i++) {
		draw_curve(&pictures[i], runs[i], summary->devices[0].device);
		scale = pictures[i].peak > scale ? pictures[i].peak : scale;
	}
	if (!scale)
		return;
	show_heading(show, "Allocated over time");
	for (size_t i = 0; i < 2; i++) {
		if (pictures[i].known)
			show_picture(&pictures[i], show, i ? "head" : "base", scale, ascii);
	}
	if (!pictures[0].known || !pictures[1].known)
		show_dim(show, "(a baseline has no curve)\n");
}
