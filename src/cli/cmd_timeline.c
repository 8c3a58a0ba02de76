/* memtrace timeline TRACE: draws curves of memory over time in the terminal. */
#include <stdlib.h>
#include <string.h>

#include "analyse/findings/steps.h"
#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/settings/quantity.h"
#include "cli/cli.h"
#include "render/emit/term.h"
#include "render/timeline/timeline.h"

static const char about[] =
	"Draws allocated and reserved memory over time, for each device and each pool, and the "
	"phases below the curves. Each column shows the highest value in its stretch of time, so "
	"no peak is lost.\n";

/* Returns the terminal's width in columns; for other files, $COLUMNS or else SHOW_COLUMNS. */
static unsigned find_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	uint64_t number = cli_columns(fd);

	if (!number && (!columns || !quantity_parse(columns, QUANTITY_SETTING, &number) || !number))
		number = SHOW_COLUMNS;
	if (number < TIMELINE_NARROWEST)
		return TIMELINE_NARROWEST;
	return number < TIMELINE_WIDEST ? (unsigned)number : TIMELINE_WIDEST;
}

static int run_timeline(const char *path, const char *output, struct timeline_options *options)
{
	struct trace trace;
	int error;

	if (trace_open(&trace, path))
		return cli_fail(STATUS_UNREADABLE);
	error = trace.capture.baseline ? err("%s is a baseline, which has no curves", path) : 0;
	if (!error)
		error = steps_infer_if_few(&trace);
	if (!error)
		error = cli_redirect(output);
	options->colour = cli_colour(cli_out()->fd);
	if (!error)
		error = timeline_text(&trace, cli_out(), options);
	trace_close(&trace);
	return error ? cli_fail(STATUS_UNREADABLE) : STATUS_DONE;
}

int cmd_timeline(int argc, char **argv)
{
	struct timeline_options options = { .device = NO_DEVICE, .ascii = !cli_unicode() };
	const char *output = NULL;
	uint64_t width = find_width(cli_out()->fd);
	uint64_t height = 10;
	const struct arg args[] = {
		ARG_ONE_DEVICE(&options.device),
		ARG_ONE_POOL(&options.pool),
		ARG("from", 0, TIME, "WHEN",
		    "start the curves at WHEN: 12.5s, 'phase:NAME' or 'mark:NAME'", &options.from),
		ARG("to", 0, TIME, "WHEN", "end the curves at WHEN", &options.to),
		ARG_BOUNDED("width", 'w', "N", "width in columns (default: the terminal's, or 80)",
			    &width, TIMELINE_NARROWEST, TIMELINE_WIDEST),
		ARG_BOUNDED("height", 0, "N", "height of a device's curve in rows (default 10)",
			    &height, TIMELINE_LOWEST, TIMELINE_HIGHEST),
		ARG("ascii", 0, FLAG, NULL, "draw in ASCII (default if the locale is not UTF-8)",
		    &options.ascii),
		ARG_OUTPUT_TO(&output),
	};
	const struct usage usage = USAGE("timeline", "TRACE", about, args, 1, 1);
	int parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed;
	options.width = (unsigned)width;
	options.height = (unsigned)height;
	return run_timeline(argv[1], output, &options);
}
