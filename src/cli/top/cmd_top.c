/* memtrace top: the processes that are traced right now, live. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/top/top_session.h"

static const char about_head[] =
	"Looks at processes that are being traced, without touching them: what they have\n"
	"allocated and reserved, what the driver says is used (the last sample), the lines of\n"
	"source that hold most, the ranges that are open. PID is a process, or the spool of one;\n"
	"without it, all of this user's are shown. Figures come from the spool, which is only\n"
	"read.\n"
	"\n"
	"On a terminal the page is redrawn; elsewhere it is printed again and again. It ends\n"
	"when the processes that were named have ended. Rates are of the time between two looks:\n"
	"--once has none unless --interval is given too, and then looks twice.\n"
	"\n"
	"--prometheus FILE writes a file for node_exporter's textfile collector at each look,\n"
	"complete at any moment. --prometheus :PORT serves http://127.0.0.1:PORT/metrics and\n"
	"looks when it is asked; ADDRESS:PORT serves to whoever reaches that address. Who asks "
	"for\n"
	"it under a name that is not localhost, this machine's own or given by --host is refused,\n"
	"for a page of the web can make its own name lead here; addresses are always taken.\n"
	"\n"
	"It ends with 0 also when a process ends while it is looked at; with 1 when --once finds\n"
	"no process that is traced; with 3 when one that was named is not there, is not traced,\n"
	"or has a spool that cannot be read.\n"
	"\n"
	"Keys: q ends, + and - show more and fewer lines of source, and for the order of these:\n";

enum {
	DEFAULT_LINES = 20,
	LONGEST_INTERVAL = 86400, /* s */
};

struct words {
	const char *interval, *lines, *sort;
};

/* "0.5", "2", "2s", "500ms": ns. False after complaint. */
static bool read_interval(const char *text, uint64_t *ns)
{
	char *rest;
	double seconds = strtod(text, &rest);

	if (!strcmp(rest, "ms"))
		seconds /= 1000;
	if (rest == text || (*rest && strcmp(rest, "s") != 0 && strcmp(rest, "ms") != 0) ||
	    !(seconds >= 0.01 && seconds <= LONGEST_INTERVAL)) {
		cli_usage("top", "--interval: %s is no time from 10ms to %ds", text,
			  LONGEST_INTERVAL);
		return false;
	}
	*ns = (uint64_t)(seconds * 1e9);
	return true;
}

static bool read_order(const char *text, enum look_order *order)
{
	static const char *const names[] = {
#define ORDER(name, key, what) #name,
#include "analyse/live/live_view_orders.def"
#undef ORDER
	};

	for (enum look_order i = 0; i < LOOK_ORDERS; i++) {
		if (!strcmp(text, names[i])) {
			*order = i;
			return true;
		}
	}
	cli_usage("top", "--sort: %s is not one of bytes, count, rate", text);
	return false;
}

/* False after complaint. */
static bool read_words(struct top_options *options, const struct words *words)
{
	uint64_t lines = DEFAULT_LINES;

	options->interval = 1000000000;
	options->paced = words->interval != NULL;
	if (words->interval && !read_interval(words->interval, &options->interval))
		return false;
	if (words->lines && !args_count("top", "lines", words->lines, TOP_LINES_MOST, &lines))
		return false;
	options->lines = (unsigned)lines;
	if (options->json && options->prometheus) {
		cli_usage("top", "--json and --prometheus are two outputs: one at a time");
		return false;
	}
	return !words->sort || read_order(words->sort, &options->order);
}

static void write_about(char *about, size_t size)
{
	text_copy(about, size, about_head);
#define ORDER(name, key, what) \
	snprintf(about + strlen(about), size - strlen(about), "  %c  %-6s %s\n", key, #name, what);
#include "analyse/live/live_view_orders.def"
#undef ORDER
}

int cmd_top(int argc, char **argv)
{
	struct top_options options = { .order = 0 };
	struct words words = { .interval = NULL };
	char about[3000];
	const struct arg args[] = {
		{ "interval", 'i', ARG_TEXT, "TIME",
		  "between two looks: 0.5, 2s, 500ms (default 1s)", NULL, &words.interval },
		{ "once", '1', ARG_FLAG, NULL, "one page, as it is now", &options.once, NULL },
		{ "json", 'j', ARG_FLAG, NULL,
		  "a document a look, as share/memtrace/top.schema.json says", &options.json,
		  NULL },
		{ "prometheus", 'p', ARG_TEXT, "FILE|[ADDRESS]:PORT", "for Prometheus, see above",
		  NULL, &options.prometheus },
		{ "host", 0, ARG_LIST, "NAME",
		  "a name that Prometheus knows this machine by, see above", NULL, options.hosts },
		{ "lines", 'n', ARG_TEXT, "N", "lines of source of each process (default 20)", NULL,
		  &words.lines },
		{ "sort", 's', ARG_TEXT, "bytes|count|rate", "what the first lines are, see above",
		  NULL, &words.sort },
	};
	const struct usage usage = { "top", "[PID...]", about, args, sizeof(args) / sizeof(args[0]),
				     0,     1000,       false };
	enum args_result parsed;

	write_about(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!read_words(&options, &words))
		return STATUS_USAGE;
	return top_session(&options, argv + 1);
}
