/* memtrace timeline TRACE: the curves in the terminal. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyse/findings/steps.h"
#include "analyse/input/error.h"
#include "analyse/lifetimes/timepoint.h"
#include "analyse/trace/trace.h"
#include "base/settings/quantity.h"
#include "cli/cli.h"
#include "render/emit/term.h"
#include "render/timeline/timeline.h"

static const char about[] =
	"Draws what was allocated and reserved over time, on each device and in each pool, with\n"
	"the phases below. Each column is the highest of its stretch of time, so no peak is "
	"lost.\n";

/* As wide as the terminal; elsewhere COLUMNS, else 80. */
static unsigned find_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;

	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		number = size.ws_col;
	else if (!columns || !quantity_parse(columns, QUANTITY_SETTING, &number) || !number)
		number = SHOW_COLUMNS;
	if (number < TIMELINE_NARROWEST)
		return TIMELINE_NARROWEST;
	return number < TIMELINE_WIDEST ? (unsigned)number : TIMELINE_WIDEST;
}

/* Does the user's locale show UTF-8? Without changing that of the tool. */
static bool has_unicode(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	bool is = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return is;
}

struct words {
	const char *device, *width, *height;
};

/* False after complaint. */
static bool read_number(const char *option, const char *text, unsigned least, unsigned most,
			unsigned *to)
{
	uint64_t number;

	if (!text)
		return true;
	if (!args_count("timeline", option, text, most, &number))
		return false;
	if (number < least) {
		cli_usage("timeline", "--%s: %s is less than %u", option, text, least);
		return false;
	}
	*to = (unsigned)number;
	return true;
}

/* False after complaint. */
static bool read_words(struct timeline_options *options, const struct words *words)
{
	const char *const bounds[] = { options->from, options->to };
	unsigned device = 0;
	uint64_t ns;

	options->width = find_width(cli_out()->fd);
	options->height = 10;
	if (!read_number("device", words->device, 0, INT16_MAX, &device) ||
	    !read_number("width", words->width, TIMELINE_NARROWEST, TIMELINE_WIDEST,
			 &options->width) ||
	    !read_number("height", words->height, TIMELINE_LOWEST, TIMELINE_HIGHEST,
			 &options->height))
		return false;
	options->device = words->device ? (int)device : NO_DEVICE;
	for (size_t i = 0; i < 2; i++) {
		if (bounds[i] && strncmp(bounds[i], "phase:", 6) != 0 &&
		    moment_time(bounds[i], &ns)) {
			cli_usage("timeline", "%s", err_text());
			return false;
		}
	}
	return true;
}

static int run_timeline(const char *path, const char *output, struct timeline_options *options)
{
	struct trace trace;
	int error;

	if (trace_open(&trace, path))
		return cli_fail("timeline", STATUS_UNREADABLE);
	error = trace.capture.baseline ? err("%s: is a baseline: it has no curves", path) : 0;
	if (!error)
		error = steps_infer_if_few(&trace);
	if (!error && output)
		error = cli_redirect(output);
	options->colour = cli_colour(cli_out()->fd);
	if (!error)
		error = timeline_text(&trace, cli_out(), options);
	trace_close(&trace);
	return error ? cli_fail("timeline", STATUS_UNREADABLE) : STATUS_DONE;
}

int cmd_timeline(int argc, char **argv)
{
	struct timeline_options options = { .ascii = !has_unicode() };
	struct words words = { .device = NULL };
	const char *output = NULL;
	const struct arg args[] = {
		{ "device", 'd', ARG_TEXT, "N", "this device only", NULL, &words.device },
		{ "pool", 'p', ARG_TEXT, "NAME", "this pool only", NULL, &options.pool },
		{ "from", 0, ARG_TEXT, "WHEN", "from then on: 12.5s, 'phase:NAME'", NULL,
		  &options.from },
		{ "to", 0, ARG_TEXT, "WHEN", "until then", NULL, &options.to },
		{ "width", 'w', ARG_TEXT, "N", "columns (default: the terminal's, else 80)", NULL,
		  &words.width },
		{ "height", 0, ARG_TEXT, "N", "rows of a device's curve (default 10)", NULL,
		  &words.height },
		{ "ascii", 0, ARG_FLAG, NULL, "nothing but ASCII (default where that is no UTF-8)",
		  &options.ascii, NULL },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
	};
	const struct usage usage = {
		"timeline", "TRACE", about, args, sizeof(args) / sizeof(args[0]), 1, 1, false
	};
	enum args_result parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!read_words(&options, &words))
		return STATUS_USAGE;
	return run_timeline(argv[1], output, &options);
}
