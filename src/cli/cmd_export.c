/* memtrace export TRACE --to FORMAT: writes a trace in the format of another program. */
#include <string.h>
#include <unistd.h>

#include "analyse/findings/steps.h"
#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "render/export/formats.h"
#include "render/selection/select.h"

/* Values of the options; NULL or less than 0 for options that were not given. */
struct export_words {
	const char *output, *at, *pool;
	int metric, device, by;
};

/* True if all given options affect the format; otherwise prints which option does not. */
static bool takes(const struct format *format, const struct export_words *words)
{
	const struct {
		const char *option;
		bool given;
		unsigned needs;
	} rows[] = {
		{ "at", words->at, FORMAT_AT },
		{ "metric", words->metric >= 0, FORMAT_METRIC },
		{ "device", words->device >= 0, FORMAT_SELECT },
		{ "pool", words->pool, FORMAT_SELECT },
		{ "by", words->by >= 0, FORMAT_BY },
	};
	char list[500] = "";

	foreach (row, rows, COUNT_OF(rows)) {
		if (!row->given || (format->takes & row->needs))
			continue;
		for (const struct format *other = formats; other->name; other++) {
			if (!(other->takes & row->needs))
				continue;
			text_append(list, sizeof(list), list[0] ? ", " : "");
			text_append(list, sizeof(list), other->name);
		}
		return !cli_usage("--%s has no effect on %s, only on: %s", row->option,
				  format->name, list);
	}
	return true;
}

static int run_export(const char *path, const char *output, const struct format *format,
		      const struct selection_options *options)
{
	struct trace trace;
	int error = 0;

	if ((format->takes & FORMAT_BINARY) && !output && isatty(cli_out()->fd))
		return cli_usage("not writing binary %s to a terminal; use -o FILE.%s",
				 format->name, format->extension);
	if (trace_open(&trace, path))
		return cli_fail(STATUS_UNREADABLE);
	if (trace.capture.baseline)
		error = err("%s is a baseline, which has no events and no complete stacks: export "
			    "the trace it was made from",
			    path);
	if (!error) {
		trace_find_lines(&trace);
		error = steps_infer_if_few(&trace);
	}
	if (!error)
		error = report_select_check(&trace, options->device, options->pool);
	if (!error)
		error = format->takes & FORMAT_GZIPPED ? cli_redirect_gzipped(output)
						       : cli_redirect(output);
	if (!error)
		error = format->write(&trace, cli_out(), options);
	trace_close(&trace);
	return error ? cli_fail(STATUS_UNREADABLE) : STATUS_DONE;
}

int cmd_export(int argc, char **argv)
{
	struct export_words words = { .metric = -1, .device = NO_DEVICE, .by = -1 };
	struct selection_options options;
	const struct format *format = NULL;
	char about[4000] = "Writes a trace, or a spool, in another format:\n\n";
	const struct arg args[] = {
		ARG_ONE_FORMAT("to", 't', formats, &format),
		ARG_OUTPUT_TO(&words.output),
		ARG("at", 0, WHEN, "WHEN",
		    "the moment to show: 12.5s (after the start), peak, exit, 'phase:NAME' (the "
		    "peak of that phase), 'mark:NAME', seq:N (event N)",
		    &words.at),
		ARG("metric", 0, WORD, "allocated|reserved|used",
		    "which bytes to show for each stack (default: allocated)", &words.metric),
		ARG_ONE_DEVICE(&words.device),
		ARG_ONE_POOL(&words.pool),
		ARG("by", 0, WORD, "phase|thread",
		    "split stacks by phase or thread, which becomes the outermost frame (in pprof "
		    "a label)",
		    &words.by),
	};
	const struct usage usage = USAGE("export", "TRACE", about, args, 1, 1);
	int parsed;

	args_list(about, sizeof(about), 15, formats, sizeof(formats[0]));
	text_append(about, sizeof(about),
		    "\nfolded, speedscope and pprof show what was allocated at the peak, or at the "
		    "moment of --at; the other formats show the whole run.\n");
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (!format)
		return cli_usage("--to FORMAT is missing; see memtrace export --help");
	if (!takes(format, &words))
		return STATUS_USAGE;
	options = (struct selection_options){
		.metric = words.metric < 0 ? TRACE_ALLOCATED : words.metric,
		.device = words.device,
		.by = words.by < 0    ? TRACE_BY_SITE
		      : words.by == 0 ? TRACE_BY_PHASE
				      : TRACE_BY_THREAD,
		.at = words.at,
		.pool = words.pool,
	};
	return run_export(argv[1], words.output, format, &options);
}
