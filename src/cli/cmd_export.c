/* memtrace export TRACE --to FORMAT: a trace in another format. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyse/findings/steps.h"
#include "analyse/input/error.h"
#include "analyse/lifetimes/timepoint.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "facts/trace_rows.h"
#include "render/export/export.h"
#include "render/export/formats.h"

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
	text_append(
		to, size,
		"\nFormats that weigh stacks weigh them by the bytes allocated at the peak; the "
		"others\ntell of the whole run.\n");
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

static bool find_metric(const char *name, int *metric)
{
	for (*metric = 0; *metric < TRACE_METRICS; ++*metric) {
		if (!strcmp(rows_word(WORDS_METRICS, (int)*metric), name))
			return true;
	}
	cli_usage("export", "--metric: %s is not allocated, reserved or used", name);
	return false;
}

/* What the options were given, as texts; NULL for those that were not. */
struct words {
	const char *to, *output, *at, *metric, *device, *pool, *by;
};

/* Does the format take what was given? False after complaint. */
static bool takes(const struct format *format, const struct words *words)
{
	const struct {
		const char *option, *value;
		unsigned needs;
	} rows[] = {
		{ "at", words->at, FORMAT_AT },
		{ "metric", words->metric, FORMAT_METRIC },
		{ "device", words->device, FORMAT_SELECT },
		{ "pool", words->pool, FORMAT_SELECT },
		{ "by", words->by, FORMAT_BY },
	};
	char list[500] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].value || (format->takes & rows[i].needs))
			continue;
		for (const struct format *other = formats; other->name; other++) {
			if (!(other->takes & rows[i].needs))
				continue;
			text_append(list, sizeof(list), list[0] ? ", " : "");
			text_append(list, sizeof(list), other->name);
		}
		cli_usage("export", "--%s means nothing to %s; it does to: %s", rows[i].option,
			  format->name, list);
		return false;
	}
	return true;
}

/* False after complaint. */
static bool read_words(struct selection_options *options, const struct words *words)
{
	uint64_t number;

	if (words->metric && !find_metric(words->metric, &options->metric))
		return false;
	if (words->device) {
		if (!args_count("export", "device", words->device, INT16_MAX, &number))
			return false;
		options->device = (int)number;
	}
	if (words->by && strcmp(words->by, "phase") != 0 && strcmp(words->by, "thread") != 0) {
		cli_usage("export", "--by: %s is not phase or thread", words->by);
		return false;
	}
	if (words->by)
		options->by = !strcmp(words->by, "phase") ? TRACE_BY_PHASE : TRACE_BY_THREAD;
	options->at = words->at;
	options->pool = words->pool;
	if (words->at && !moment_makes_sense(words->at)) {
		cli_usage("export", "%s", err_text());
		return false;
	}
	return true;
}

static int run_export(const char *path, const char *output, const struct format *format,
		      const struct selection_options *options)
{
	struct trace trace;
	int error = 0;

	if ((format->takes & FORMAT_BINARY) && !output && isatty(cli_out()->fd))
		return cli_usage("export", "%s is nothing for a terminal: -o FILE.%s", format->name,
				 format->extension);
	if (trace_open(&trace, path))
		return cli_fail("export", STATUS_UNREADABLE);
	if (trace.capture.baseline)
		error = err("%s: is a baseline: it has no events and no whole stacks to export; "
			    "export the trace it was made from",
			    path);
	if (!error)
		error = steps_infer_if_few(&trace);
	if (!error)
		error = export_check(&trace, options);
	if (!error && output)
		error = format->takes & FORMAT_GZIPPED ? cli_redirect_as_is(output)
						       : cli_redirect(output);
	if (!error)
		error = format->write(&trace, cli_out(), options);
	trace_close(&trace);
	return error ? cli_fail("export", STATUS_UNREADABLE) : STATUS_DONE;
}

int cmd_export(int argc, char **argv)
{
	struct selection_options options = { .metric = TRACE_ALLOCATED,
					     .device = NO_DEVICE,
					     .by = TRACE_BY_SITE };
	struct words words = { .to = NULL };
	char about[4000];
	const struct arg args[] = {
		{ "to", 't', ARG_TEXT, "FORMAT", "the format, from the list above", NULL,
		  &words.to },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &words.output },
		{ "at", 0, ARG_TEXT, "WHEN",
		  "what was live then: 12.5s, peak, exit, 'phase:NAME'\n"
		  "                          (its highest moment), seq:N",
		  NULL, &words.at },
		{ "metric", 0, ARG_TEXT, "allocated|reserved|used",
		  "weigh by that (default: allocated)", NULL, &words.metric },
		{ "device", 'd', ARG_TEXT, "N", "this device only", NULL, &words.device },
		{ "pool", 'p', ARG_TEXT, "NAME", "this pool only", NULL, &words.pool },
		{ "by", 0, ARG_TEXT, "phase|thread",
		  "tell stacks apart by where they were born, too: the\n"
		  "                          outermost frame; in pprof a label",
		  NULL, &words.by },
	};
	const struct usage usage = { "export", "TRACE", about, args, sizeof(args) / sizeof(args[0]),
				     1,        1,       false };
	const struct format *format;
	enum args_result parsed;

	about_formats(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!words.to)
		return cli_usage("export", "--to FORMAT is missing (memtrace export --help)");
	format = find_format(words.to);
	if (!format || !takes(format, &words) || !read_words(&options, &words))
		return STATUS_USAGE;
	return run_export(argv[1], words.output, format, &options);
}
