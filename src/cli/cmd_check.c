/* memtrace check TRACE: is a run within its budget. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/gates.h"
#include "cli/traces.h"

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
		ARG("max", 'm', LIST, "EXPR", "a limit, as above; may be given again", max),
		ARG("budget", 'b', LIST, "FILE", "limits from a file", budgets),
		ARG_RULES_FROM(&file),
		ARG("format", 'f', TEXT, "FORMAT", "the format, from the list above", &format_name),
		ARG_OUTPUT_TO(&output),
	};
	const struct usage usage = { "check", "TRACE", about, args, sizeof(args) / sizeof(args[0]),
				     1,       1,       false };
	const struct diff_format *format;
	struct gates gates = { NULL, 0 };
	int parsed;
	bool read = true;
	int status;

	text_copy(about, sizeof(about), about_head);
	args_list(about, sizeof(about), 10, diff_formats, sizeof(diff_formats[0]));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	format = args_choose("check", "format", format_name, diff_formats, sizeof(diff_formats[0]));
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
