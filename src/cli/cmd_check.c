/* memtrace check TRACE: is a run within its budget. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/gates.h"
#include "cli/traces.h"

static const char words[] =
	"Holds a run (a trace, a spool or a baseline) to limits, without anything to compare it\n"
	"with; a limit that is exceeded ends it with status 1. A folder holds the ranks of a job:\n"
	"each is held to the limits, and the worst is told. `memtrace diff --help` lists the\n"
	"metrics and what they are narrowed by.\n"
	"\n"
	"  --max 'allocated.peak<=30GiB'             on every device\n"
	"  --max 'allocated.peak[phase=step]<=4GiB'  in every phase of that name\n"
	"  --max 'ooms<=0'\n"
	"  --budget FILE   {\"schema\":\"memtrace-budget/1\",\"max\":{\"allocated.peak\":\"30 "
	"GiB\"}}\n"
	"\n"
	"Formats:\n";

static int check(const char *path, const struct gates *gates, const struct rules *rules,
		 const struct diff_format *format, const char *output)
{
	const struct diff_options options = { .limit = 0 };
	struct traces traces = { NULL, 0 };
	struct diff_side sides[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct diff diff = { .base = { NULL, 0, 0 } };
	int error = traces_add(&traces, path);
	int status;

	if (!error)
		error = gates_open(&sides[1], &traces, NO_DEVICE);
	if (!error)
		error = gates_categorise(sides, gates, rules, NO_DEVICE);
	if (error)
		diff.head = sides[1];
	else
		error = diff_make(&diff, &sides[0], &sides[1], NO_DEVICE);
	if (!error)
		error = diff_judge(&diff, gates->list, gates->count);
	status = error ? cli_fail("check", STATUS_UNREADABLE)
		       : gates_tell("check", &diff, format, &options, output);
	diff_clear(&diff);
	traces_clear(&traces);
	return status;
}

int cmd_check(int argc, char **argv)
{
	const char *max[ARG_MOST + 1] = { NULL };
	const char *budgets[ARG_MOST + 1] = { NULL };
	const char *format_name = "text";
	const char *output = NULL;
	const char *file = NULL;
	struct rules rules = { 0 };
	char about[3000];
	const struct arg args[] = {
		{ "max", 'm', ARG_LIST, "EXPR", "a limit, as above; may be given again", NULL,
		  max },
		{ "budget", 'b', ARG_LIST, "FILE", "limits from a file", NULL, budgets },
		{ "rules", 0, ARG_TEXT, "FILE", "rules for categories (memtrace help --rules)",
		  NULL, &file },
		{ "format", 'f', ARG_TEXT, "FORMAT", "the format, from the list above", NULL,
		  &format_name },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
	};
	const struct usage usage = { "check", "TRACE", about, args, sizeof(args) / sizeof(args[0]),
				     1,       1,       false };
	const struct diff_format *format;
	struct gates gates = { NULL, 0 };
	enum args_result parsed;
	bool read = true;
	int status;

	text_copy(about, sizeof(about), words);
	gates_about(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	format = gates_format("check", format_name);
	if (!format)
		return STATUS_USAGE;
	if (!max[0] && !budgets[0])
		return cli_usage("check", "wants a limit: --max 'allocated.peak<=30GiB' or "
					  "--budget FILE");
	for (size_t i = 0; read && max[i]; i++)
		read = gates_add(&gates, GATE_MOST, max[i]);
	for (size_t i = 0; read && budgets[i]; i++)
		read = gates_read(&gates, budgets[i]);
	read = read && !rules_read(&rules, file);
	status = read ? check(argv[1], &gates, &rules, format, output)
		      : cli_fail("check", STATUS_USAGE);
	rules_clear(&rules);
	gates_clear(&gates);
	return status;
}
