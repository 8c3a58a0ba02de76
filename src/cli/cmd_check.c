/* memtrace check TRACE: checks that one run is within limits. */
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/compare_runs.h"

static const char about_check_head[] =
	"Checks that a run (a trace, a spool or a baseline) stays within limits; if it exceeds "
	"one, the status is 1. The traces in a folder are the ranks of a job: each is checked, "
	"and the worst is shown. `memtrace diff --help` lists the metrics and their filters.\n"
	"\n"
	"  --max 'allocated.peak<=30GiB'             on every device\n"
	"  --max 'allocated.peak[phase=step]<=4GiB'  in every phase of that name\n"
	"  --max 'ooms<=0'\n"
	"  --budget FILE   {\"schema\":\"memtrace-budget/1\",\"max\":{\"allocated.peak\":\"30 "
	"GiB\"}}\n"
	"\n"
	"Formats:\n";

int cmd_check(int argc, char **argv)
{
	const char *max[ARG_MOST + 1] = { NULL };
	const char *budgets[ARG_MOST + 1] = { NULL };
	const char *head[] = { NULL, NULL };
	struct comparison comparison = { .sides = { head + 1, head },
					 .device = NO_DEVICE,
					 .format = diff_formats };
	char about[3000];
	const struct arg args[] = {
		ARG("max", 'm', LIST, "EXPR", "fail if EXPR is not true; repeatable", max),
		ARG("budget", 'b', LIST, "FILE", "read limits from a budget file", budgets),
		ARG_RULES_FROM(&comparison.rules),
		ARG_ONE_FORMAT("format", 'f', diff_formats, &comparison.format),
		ARG_ONE_JSON(&comparison.json),
		ARG_OUTPUT_TO(&comparison.output),
	};
	const struct usage usage = USAGE("check", "TRACE", about, args, 1, 1);
	int error = 0;
	int parsed;
	int status;

	text_copy(about, sizeof(about), about_check_head);
	args_list(about, sizeof(about), 10, diff_formats, sizeof(diff_formats[0]));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (!max[0] && !budgets[0])
		return cli_usage("give a limit: --max 'allocated.peak<=30GiB' or "
				 "--budget FILE");
	for (size_t i = 0; !error && max[i]; i++)
		error = gates_add(&comparison.gates, GATE_MOST, max[i]);
	for (size_t i = 0; !error && budgets[i]; i++)
		error = gates_read(&comparison.gates, budgets[i]);
	head[0] = argv[1];
	status = error ? cli_fail(STATUS_USAGE) : compare_runs(&comparison);
	gates_clear(&comparison.gates);
	return status;
}
