/* memtrace top: shows the memory of running traced processes, again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/top/top_parts.h"

static const char about_head[] =
	"Shows traced processes without touching them: the bytes allocated and reserved, the "
	"bytes in use as the driver reported them last, the source lines that hold "
	"the most memory, and the open ranges. PID is a process, or the spool of a process; "
	"without PID, all processes of this user are shown. All data comes from the spool, "
	"which is only read.\n"
	"\n"
	"On a terminal the display is redrawn; otherwise it is printed again and again. The "
	"command ends when all named processes have ended. Rates are averages between two "
	"readings: --once shows them only with --interval, and then reads twice.\n"
	"\n"
	"--prometheus FILE writes a file for node_exporter's textfile collector at each "
	"reading; the file is complete at any moment. --prometheus :PORT serves "
	"http://127.0.0.1:PORT/metrics and reads at each request; ADDRESS:PORT serves everybody "
	"who can reach that address. A request for a host name other than localhost, this "
	"machine's own name or one given by --host is refused, because a web page could make "
	"its own host name point at this machine; requests for an IP address are always served. "
	"Figures have the labels pid, rank, host and command; those of a device also have its "
	"uuid.\n"
	"\n"
	"The status is 0 even when a process ends while it is watched; 1 when --once finds no "
	"traced process; 3 when a named process does not exist, is not traced, or has a spool "
	"that cannot be read.\n"
	"\n"
	"Keys: q quits, + and - show more or fewer source lines; these keys sort the lines:\n";

enum {
	DEFAULT_LINES = 20,
	LONGEST_INTERVAL = 86400, /* seconds */
};

/* The words of --sort, each after a bar: "|bytes|count|rate". */
static const char orders[] =
#define ORDER(name, key, by, what) "|" #name
#include "analyse/live/live_view_orders.def"
	;

/* Parses "0.5", "2", "2s" or "500ms" into nanoseconds; on an error prints why and returns false. */
static bool read_interval(const char *text, uint64_t *ns)
{
	char *rest;
	double seconds = strtod(text, &rest);

	if (!strcmp(rest, "ms"))
		seconds /= 1000;
	if (rest == text || (*rest && strcmp(rest, "s") != 0 && strcmp(rest, "ms") != 0) ||
	    !(seconds >= 0.01 && seconds <= LONGEST_INTERVAL))
		return !cli_usage("--interval: %s is not a time from 10ms to %ds", text,
				  LONGEST_INTERVAL);
	*ns = (uint64_t)(seconds * 1e9);
	return true;
}

static void write_about(char *about, size_t size)
{
	text_copy(about, size, about_head);
#define ORDER(name, key, by, what) \
	snprintf(about + strlen(about), size - strlen(about), "  %c  %-6s %s\n", key, #name, what);
#include "analyse/live/live_view_orders.def"
}

int cmd_top(int argc, char **argv)
{
	struct top_options options = { .interval = 1000000000 };
	const char *interval = NULL;
	uint64_t lines = DEFAULT_LINES;
	int order = 0;
	char about[3000];
	const struct arg args[] = {
		ARG("interval", 'i', TEXT, "TIME",
		    "time between readings: 0.5 (seconds), 2s, 500ms (default 1s)", &interval),
		ARG("once", '1', FLAG, NULL, "print one reading and end", &options.once),
		ARG("json", 'j', FLAG, NULL,
		    "print a JSON document at each reading (share/memtrace/top.schema.json)",
		    &options.json),
		ARG("prometheus", 'p', TEXT, "FILE|[ADDRESS]:PORT",
		    "write or serve metrics for Prometheus, see above", &options.prometheus),
		ARG("host", 0, LIST, "NAME", "accept requests for the host NAME, too; see above",
		    options.hosts),
		ARG_BOUNDED("lines", 'n', "N", "show N source lines of each process (default 20)",
			    &lines, 0, TOP_LINES_MOST),
		ARG("sort", 's', WORD, orders + 1, "order of the source lines, see above", &order),
	};
	const struct usage usage = USAGE("top", "[PID...]", about, args, 0, 1000);
	int parsed;

	write_about(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (interval && !read_interval(interval, &options.interval))
		return STATUS_USAGE;
	if (options.json && options.prometheus)
		return cli_usage("--json and --prometheus cannot be combined");
	options.paced = interval != NULL;
	options.lines = (unsigned)lines;
	options.order = (enum live_view_order)order;
	return top_session(&options, argv + 1);
}
