/* memtrace check TRACE: is a run within its budget. */
#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/gates.h"

static const char about_head[] =
	"Holds a run (a trace, a spool or a baseline) to limits, without anything to compare "
	"it with; a limit that is exceeded ends it with status 1. A folder holds the ranks of "
	"a job: each is held to the limits, and the worst is told. `memtrace diff --help` "
	"lists the metrics and what they are narrowed by.\n"
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
	struct comparison comparison = { .sides = { head + 1, head }, .device = NO_DEVICE };
	const char *format = "text";
	char about[3000];
	const struct arg args[] = {
		ARG("max", 'm', LIST, "EXPR", "a limit, as above; may be given again", max),
		ARG("budget", 'b', LIST, "FILE", "limits from a file", budgets),
		ARG_RULES_FROM(&comparison.rules),
		ARG("format", 'f', TEXT, "FORMAT", "the format, from the list above", &format),
		ARG_OUTPUT_TO(&comparison.output),
	};
	const struct usage usage = { "check", "TRACE", about, args, sizeof(args) / sizeof(args[0]),
				     1,       1,       false };
	bool read = true;
	int parsed;
	int status;

	text_copy(about, sizeof(about), about_head);
	args_list(about, sizeof(about), 10, diff_formats, sizeof(diff_formats[0]));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	comparison.format = args_choose("format", format, diff_formats, sizeof(diff_formats[0]));
	if (!comparison.format)
		return STATUS_USAGE;
	if (!max[0] && !budgets[0])
		return cli_usage("wants a limit: --max 'allocated.peak<=30GiB' or "
				 "--budget FILE");
	for (size_t i = 0; read && max[i]; i++)
		read = gates_add(&comparison.gates, GATE_MOST, max[i]);
	for (size_t i = 0; read && budgets[i]; i++)
		read = gates_read(&comparison.gates, budgets[i]);
	head[0] = argv[1];
	status = read ? gates_compare(&comparison) : cli_fail(STATUS_USAGE);
	gates_clear(&comparison.gates);
	return status;
}
