/* memtrace html TRACE [TRACE2]: one self-contained page to look at. */
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "render/page.h"

static const char about[] =
	"Writes one HTML file that opens from disk, needs no network and holds the whole trace:\n"
	"curves over time and over events, what was live at any moment as flame graph, table, map\n"
	"of blocks and of segments, leaks, growth and advice. With two traces (base and head) "
	"both\n"
	"curves stand on one axis, beside the difference by call site.\n";

/* Half a page shows nothing. What is no file of ours to remove (a device, a pipe) stays. */
static int fail(const char *output)
{
	struct stat status;

	if (output && !lstat(output, &status) && S_ISREG(status.st_mode))
		unlink(output);
	return cli_fail("html", STATUS_UNREADABLE);
}

int cmd_html(int argc, char **argv)
{
	struct page_options options = { .max_events = 0 };
	const char *output = NULL;
	const char *most = "2000000";
	const struct arg args[] = {
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
		{ "anonymize", 0, ARG_FLAG, NULL,
		  "hide paths, and names but those of public libraries", &options.anonymize, NULL },
		{ "max-events", 0, ARG_TEXT, "N",
		  "of longer traces, tell so many events one by one and\n"
		  "                          sum the others (default 2000000; 0: no limit)",
		  NULL, &most },
	};
	const struct usage usage = {
		"html", "TRACE [TRACE2]", about, args, sizeof(args) / sizeof(args[0]), 1, 2, false
	};
	enum args_result parsed = args_parse(&usage, &argc, argv);
	const char *paths[2] = { 0 };

	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!args_count("html", "max-events", most, UINT32_MAX, &options.max_events))
		return STATUS_USAGE;
	if (!output && isatty(STDOUT_FILENO))
		return cli_usage("html",
				 "a page is nothing to read here: -o FILE says where it goes");
	if (!page_is_built())
		return cli_fail("html", STATUS_USAGE);
	for (int i = 1; i < argc; i++)
		paths[i - 1] = argv[i];
	if (output && cli_redirect(output))
		return cli_fail("html", STATUS_UNREADABLE);
	if (page_write(paths, (size_t)argc - 1, cli_out(), &options))
		return fail(output);
	return STATUS_DONE;
}
