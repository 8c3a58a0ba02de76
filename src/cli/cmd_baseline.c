/* memtrace baseline TRACE -o FILE: writes a run's totals and peaks to a small file. */
#include "analyse/compare/run_totals.h"
#include "cli/cli.h"
#include "render/compare/diff.h"

static const char about[] =
	"Writes a small file that most commands accept in place of the trace: totals, peaks by "
	"call site and category, pools, libraries, phases, names of the program and its script. It "
	"has no command-line arguments, events, curves or complete stacks, and no values that "
	"differ between runs of the same program (process ids, times, hosts, folders), so an "
	"unchanged program gives an identical file. Commit it; memtrace diff compares with it.\n";

int cmd_baseline(int argc, char **argv)
{
	const char *output = NULL;
	const char *file = NULL;
	const struct arg args[] = {
		ARG_RULES_FROM(&file),
		ARG_OUTPUT_TO(&output),
	};
	const struct usage usage = USAGE("baseline", "TRACE", about, args, 1, 1);
	int parsed = args_parse(&usage, &argc, argv);
	struct rules rules;
	struct run run;
	int error;

	if (parsed != ARGS_GO)
		return parsed;
	if (rules_read(&rules, file))
		return cli_fail(STATUS_USAGE);
	if (run_open(&run, argv[1], NO_DEVICE)) {
		rules_clear(&rules);
		return cli_fail(STATUS_UNREADABLE);
	}
	error = run_find_categories(&run, &rules, true);
	if (!error)
		error = cli_redirect(output);
	if (!error)
		baseline_write(&run, cli_out());
	run_close(&run);
	rules_clear(&rules);
	return error ? cli_fail(STATUS_UNREADABLE) : STATUS_DONE;
}
