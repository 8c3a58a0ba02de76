/* memtrace export TRACE --to FORMAT: a trace in another format. */
#include <stdio.h>
#include <string.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/text.h"
#include "cli/cli.h"
#include "render/formats.h"

static const char *const metrics[] = { "allocated", "reserved", "used", NULL };

/* The rows of formats.def are the help. */
static void about_formats(char *to, size_t size)
{
	text_copy(to, size, "Writes a trace, or a spool, in another format:\n\n");
	for (const struct format *format = formats; format->name; format++) {
		char row[200];

		snprintf(row, sizeof(row), "  %-15s %s (.%s)\n", format->name, format->help,
			 format->extension);
		text_append(to, size, row);
	}
	text_append(to, size,
		    "\nFormats that weigh stacks weigh them by the bytes allocated at the peak.\n");
}

static const struct format *find_format(const char *name)
{
	const char *words[64] = { NULL };
	const char *meant;
	size_t count = 0;

	for (const struct format *format = formats; format->name; format++) {
		if (!strcmp(format->name, name))
			return format;
		if (count < 63)
			words[count++] = format->name;
	}
	meant = args_suggestion(name, words);
	if (meant)
		cli_usage("export", "there is no format %s; did you mean %s?", name, meant);
	else
		cli_usage("export", "there is no format %s (memtrace export --help)", name);
	return NULL;
}

static bool find_metric(const char *name, enum trace_metric *metric)
{
	for (*metric = 0; metrics[*metric]; ++*metric) {
		if (!strcmp(metrics[*metric], name))
			return true;
	}
	cli_usage("export", "--metric: %s is not allocated, reserved or used", name);
	return false;
}

int cmd_export(int argc, char **argv)
{
	struct format_options options = { NULL, TRACE_ALLOCATED };
	const char *to = NULL;
	const char *output = NULL;
	const char *metric = "allocated";
	char about[2000];
	const struct arg args[] = {
		{ "to", 't', ARG_TEXT, "FORMAT", "the format, from the list above", NULL, &to },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
		{ "at", 0, ARG_TEXT, "WHEN", "weigh by what is live then: peak (default), exit",
		  NULL, &options.at },
		{ "metric", 0, ARG_TEXT, "allocated|reserved|used",
		  "weigh by that (default: allocated)", NULL, &metric },
	};
	const struct usage usage = { "export", "TRACE", about, args, sizeof(args) / sizeof(args[0]),
				     1,        1,       false };
	const struct format *format;
	enum args_result parsed;
	struct trace trace;
	int error;

	about_formats(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!to)
		return cli_usage("export", "--to FORMAT is missing (memtrace export --help)");
	format = find_format(to);
	if (!format || !find_metric(metric, &options.metric))
		return STATUS_USAGE;
	if (trace_open(&trace, argv[1]))
		return cli_fail("export", STATUS_UNREADABLE);
	error = 0;
	if (trace.capture.baseline)
		error = err("%s: is a baseline: it has no events and no whole stacks to export; "
			    "export the trace it was made from",
			    argv[1]);
	if (!error && output)
		error = cli_redirect(output);
	if (!error)
		error = format->write(&trace, cli_out(), &options);
	trace_close(&trace);
	return error ? cli_fail("export", STATUS_UNREADABLE) : STATUS_DONE;
}
