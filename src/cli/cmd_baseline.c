/* memtrace baseline TRACE -o FILE: what of a run is worth committing. */
#include "analyse/error.h"
#include "analyse/run.h"
#include "cli/cli.h"
#include "render/baseline.h"

static const char about[] =
	"Writes a small file that stands for a run wherever a trace is read: sums, peaks by call\n"
	"site, pools, owners, phases. It has no events, no curve, no whole stacks, and nothing\n"
	"that differs between two runs of one program (process ids, times, hosts, folders), so it\n"
	"is the same file again when nothing changed. Commit it; compare with memtrace diff.\n";

int cmd_baseline(int argc, char **argv)
{
	const char *output = NULL;
	const struct arg args[] = {
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
	};
	const struct usage usage = {
		"baseline", "TRACE", about, args, sizeof(args) / sizeof(args[0]), 1, 1, false
	};
	enum args_result parsed = args_parse(&usage, &argc, argv);
	struct run run;
	int error;

	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (run_open(&run, argv[1], NO_DEVICE))
		return cli_fail("baseline", STATUS_UNREADABLE);
	error = output ? cli_redirect(output) : 0;
	if (!error)
		error = baseline_write(&run, cli_out());
	run_close(&run);
	return error ? cli_fail("baseline", STATUS_UNREADABLE) : STATUS_DONE;
}
