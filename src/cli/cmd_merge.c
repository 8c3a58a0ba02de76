/* memtrace merge TRACE...: the ranks of a job as one picture. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"

static const char words[] =
	"Reads the traces of a job's ranks, one after the other, and tells them as one: which "
	"rank\n"
	"peaks above the others and at which call site, which would run out of memory first, what\n"
	"every rank and every card held, and which ranks are missing. Each TRACE is a trace, a\n"
	"spool, a baseline, or a folder with any of them. Ranks on one card (by host and UUID) "
	"are\n"
	"summed where they ran at the same time; memory that one imported from another counts "
	"once.\n"
	"A rank given twice and traces of different world sizes end it with status 3.\n"
	"\n"
	"  MEMTRACE_OUTPUT=trace.%r.json memtrace run -- torchrun --nproc-per-node 8 train.py\n"
	"  memtrace merge trace.*.json\n"
	"\n"
	"Formats:\n";

static void about_merge(char *to, size_t size)
{
	text_copy(to, size, words);
	for (const struct merge_format *format = merge_formats; format->name; format++) {
		char row[200];

		snprintf(row, sizeof(row), "  %-10s %s\n", format->name, format->help);
		text_append(to, size, row);
	}
}

/* NULL after complaint. */
static const struct merge_format *find_format(const char *name)
{
	const char *names[8] = { NULL };
	const char *meant;
	size_t count = 0;

	for (const struct merge_format *format = merge_formats; format->name; format++) {
		if (!strcmp(format->name, name))
			return format;
		if (count < 7)
			names[count++] = format->name;
	}
	meant = args_suggestion(name, names);
	if (meant)
		cli_usage("merge", "there is no format %s; did you mean %s?", name, meant);
	else
		cli_usage("merge", "there is no format %s (memtrace merge --help)", name);
	return NULL;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_options options = { .full = false };
	const char *name = "text";
	const char *limit = NULL;
	const char *output = NULL;
	bool json = false;
	bool force = false;
	char about[3000];
	const struct arg args[] = {
		{ "format", 'f', ARG_TEXT, "FORMAT", "the format, from the list above", NULL,
		  &name },
		{ "json", 0, ARG_FLAG, NULL, "the same as --format json", &json, NULL },
		{ "limit", 'n', ARG_TEXT, "N",
		  "rows of each table (default 10, in files 25; 0: all)", NULL, &limit },
		{ "full", 0, ARG_FLAG, NULL, "every table, whole names, paths of traces",
		  &options.full, NULL },
		{ "force", 0, ARG_FLAG, NULL,
		  "merge what is not of one job, or there twice, all the same", &force, NULL },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
	};
	const struct usage usage = {
		"merge", "TRACE...", about, args, sizeof(args) / sizeof(args[0]), 1, 0, false
	};
	const struct merge_format *format;
	struct traces traces = { NULL, 0 };
	enum args_result parsed;
	uint64_t rows;
	int status = STATUS_DONE;

	about_merge(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	format = find_format(json ? "json" : name);
	if (!format)
		return STATUS_USAGE;
	if (!limit)
		limit = !strcmp(format->name, "text") ? "10" : "25";
	if (!args_count("merge", "limit", limit, UINT32_MAX, &rows))
		return STATUS_USAGE;
	options.limit = rows;
	for (int i = 1; status == STATUS_DONE && i < argc; i++) {
		if (traces_add(&traces, argv[i]))
			status = cli_fail("merge", STATUS_UNREADABLE);
	}
	if (status == STATUS_DONE)
		status = traces_merge("merge", &traces, format, &options, output, force);
	traces_clear(&traces);
	return status;
}
