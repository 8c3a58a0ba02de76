/* memtrace report TRACE: what filled the memory, which line put it there. */
#include <string.h>
#include <unistd.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/text.h"
#include "cli/cli.h"
#include "render/report.h"

static const char about[] =
	"Explains a trace, or the spool of a killed process: the peak and who held it, what is\n"
	"still allocated at exit, pools, owners, phases and failed allocations.\n";

/* Events are needed for failed allocations only: from a spool they are printed only then. */
static int open_trace(struct trace *trace, const char *path)
{
	bool failed = false;
	int error = trace_open_facts(trace, path);

	if (error || trace->with_events)
		return error;
	for (size_t i = 0; i < trace->summary.devices_n; i++)
		failed = failed || trace->summary.devices[i].ooms;
	if (!failed)
		return 0;
	trace_close(trace);
	return trace_open(trace, path);
}

/* "peaks,live": the bits of the sections; 0 after complaint. */
static uint32_t read_sections(const char *text)
{
	uint32_t bits = 0;

	for (;; text++) {
		size_t length = strcspn(text, ",");
		uint32_t bit = report_section_bit(text, length);

		if (!bit) {
			cli_usage("report", "--show: there is no section %.*s, but: %s",
				  (int)length, text, report_section_names());
			return 0;
		}
		bits |= bit;
		text += length;
		if (!*text)
			return bits;
	}
}

/* The position of the word in a list, -1 after complaint. */
static int read_word(const char *option, const char *text, const char *const *words)
{
	char list[200] = "";

	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i]))
			return i;
		text_append(list, sizeof(list), i ? ", " : "");
		text_append(list, sizeof(list), words[i]);
	}
	cli_usage("report", "--%s: %s is none of %s", option, text, list);
	return -1;
}

static const char *const stack_words[] = { "merged", "native", "python", NULL };
static const char *const by_words[] = {
#define BY(id, name, title) name,
#include "analyse/trace_by.def"
#undef BY
	NULL
};

int cmd_report(int argc, char **argv)
{
	struct report_options options = { .device = NO_DEVICE, .limit = 10 };
	const char *device = NULL;
	const char *limit = "10";
	const char *output = NULL;
	const char *show = NULL;
	const char *stacks = "merged";
	const char *by = "site";
	int stacks_word, by_word;
	bool json = false;
	const struct arg args[] = {
		{ "json", 0, ARG_FLAG, NULL, "the document memtrace-report/1, for programs", &json,
		  NULL },
		{ "device", 'd', ARG_TEXT, "N", "this device only", NULL, &device },
		{ "limit", 'n', ARG_TEXT, "N", "rows of each list (default 10; 0: all)", NULL,
		  &limit },
		{ "full", 0, ARG_FLAG, NULL, "every row, every stack, every frame", &options.full,
		  NULL },
		{ "by", 'b', ARG_TEXT, "ROWS",
		  "what the rows are: site, line, function, stack, module, owner", NULL, &by },
		{ "stacks", 0, ARG_TEXT, "KIND", "frames that count: merged, native, python", NULL,
		  &stacks },
		{ "show", 's', ARG_TEXT, "SECTIONS", "these sections only, by name: peaks,live",
		  NULL, &show },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &output },
	};
	const struct usage usage = { "report", "TRACE", about, args, sizeof(args) / sizeof(args[0]),
				     1,        1,       false };
	enum args_result parsed = args_parse(&usage, &argc, argv);
	struct trace trace;
	uint64_t number;
	int error;

	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!args_count("report", "limit", limit, UINT32_MAX, &number))
		return STATUS_USAGE;
	options.limit = number;
	if (show && !(options.show = read_sections(show)))
		return STATUS_USAGE;
	if (device) {
		if (!args_count("report", "device", device, INT16_MAX, &number))
			return STATUS_USAGE;
		options.device = (int)number;
	}
	stacks_word = read_word("stacks", stacks, stack_words);
	by_word = stacks_word < 0 ? -1 : read_word("by", by, by_words);
	if (by_word < 0)
		return STATUS_USAGE;
	if (open_trace(&trace, argv[1]))
		return cli_fail("report", STATUS_UNREADABLE);
	if (trace_choose(&trace, (enum trace_stacks)stacks_word, (enum trace_by)by_word)) {
		trace_close(&trace);
		return cli_fail("report", STATUS_UNREADABLE);
	}
	error = output ? cli_redirect(output) : 0;
	options.colour = cli_colour(cli_out()->fd);
	if (!error)
		error = json ? report_json(&trace, cli_out(), &options)
			     : report_text(&trace, cli_out(), &options);
	trace_close(&trace);
	return error ? cli_fail("report", STATUS_UNREADABLE) : STATUS_DONE;
}
