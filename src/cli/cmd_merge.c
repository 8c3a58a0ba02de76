/* memtrace merge TRACE...: summarizes the ranks of a job. */

#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"

static const char about_head[] =
	"Reads the traces of a job's ranks, one after the other, and summarizes them: which "
	"rank has the highest peak and at which call site, which would run out of memory "
	"first, what every rank and every card held, and which ranks are missing. Each TRACE is "
	"a trace, a spool, a baseline, or a folder with any of them. Ranks that share a card "
	"(by host and UUID) are added up where they ran at the same time; memory that one rank "
	"imported from another counts once. It is an error (status 3) if a rank is given twice "
	"or if the world sizes of the traces differ.\n"
	"\n"
	"  MEMTRACE_OUTPUT=trace.%r.json memtrace run -- torchrun --nproc-per-node 8 train.py\n"
	"  memtrace merge trace.*.json\n"
	"\n"
	"Formats:\n";

int cmd_merge(int argc, char **argv)
{
	struct merge_options options = { .full = false };
	const struct merge_format *format = merge_formats; /* the default, text */
	uint64_t limit = UINT64_MAX;
	const char *output = NULL;
	bool json = false;
	bool force = false;
	char about[3000];
	const struct arg args[] = {
		ARG_ONE_FORMAT("format", 'f', merge_formats, &format),
		ARG_ONE_JSON(&json),
		ARG("limit", 'n', NUMBER, "N",
		    "show at most N rows per table (default 10, in markdown 25; 0: all)", &limit),
		ARG("full", 0, FLAG, NULL,
		    "show every table, names in full, and the path of each trace", &options.full),
		ARG("force", 0, FLAG, NULL,
		    "merge ranks even if they are from different jobs or given twice", &force),
		ARG_OUTPUT_TO(&output),
	};
	const struct usage usage = USAGE("merge", "TRACE...", about, args, 1, 0);
	struct traces traces = { NULL, 0 };
	int parsed;
	int status;

	text_copy(about, sizeof(about), about_head);
	args_list(about, sizeof(about), 10, merge_formats, sizeof(merge_formats[0]));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (json)
		format = args_choose("format", "json", merge_formats, sizeof(merge_formats[0]));
	options.limit = limit != UINT64_MAX ? limit : format != merge_formats ? 25 : 10;
	if (traces_add(&traces, (const char *const *)argv + 1))
		status = cli_fail(STATUS_UNREADABLE);
	else
		status = traces_merge(&traces, format, &options, output, force);
	traces_clear(&traces);
	return status;
}
