/* memtrace diff BASE HEAD: which call site grew, and is that too much. */
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/gates.h"

static const char about_head[] =
	"Compares two runs by call site: what happened to the peak, and who did it. Each of "
	"BASE and HEAD is a trace, a spool or a baseline, or a folder of them. With --base and "
	"--head each side has several runs; a change within their spread counts as none. Ranks "
	"of a job are no repetitions: those are compared rank by rank. It only reports, unless "
	"a gate is given: then a broken gate ends it with status 1. Runs that are too unlike "
	"to be compared (card, driver, PyTorch, allocator settings, world size) end it with "
	"status 3.\n"
	"\n"
	"  --fail-on 'allocated.peak>2%'             grew by more than 2%\n"
	"  --fail-on 'reserved.peak>1GiB'            by more than that many bytes\n"
	"  --fail-on 'allocated.peak[phase=step]>2%+1MiB'   by more than both\n"
	"\n";

/* Metrics, narrowings and formats, from their tables. */
static void about_diff(char *to, size_t size)
{
	text_copy(to, size, about_head);
	text_append(to, size, "Metrics:\n");
	args_list(to, size, 16, metric_rows, sizeof(metric_rows[0]));
	text_append(to, size, "\nNarrowed by [key=value], where * and ? match as in file names:\n");
	args_list(to, size, 16, narrowing_rows, sizeof(narrowing_rows[0]));
	text_append(to, size, "\nFormats:\n");
	args_list(to, size, 10, diff_formats, sizeof(diff_formats[0]));
}

/* What the options were given. */
struct diff_words {
	const char *base[ARG_MOST + 1], *head[ARG_MOST + 1], *fail_on[ARG_MOST + 1];
	const char *format;
	uint64_t limit;
	bool gate;
};

/* BASE and HEAD as operands, or as lists: false when it is neither. */
static bool take_sides(struct diff_words *words, int argc, char **argv)
{
	if (argc == 3 && !words->base[0] && !words->head[0]) {
		words->base[0] = argv[1];
		words->head[0] = argv[2];
		return true;
	}
	if (argc == 1 && words->base[0] && words->head[0])
		return true;
	cli_usage("wants BASE HEAD, or --base TRACE... --head TRACE... (memtrace diff "
		  "--help)");
	return false;
}

static bool take_gates(const struct diff_words *words, struct gates *gates)
{
	if (words->gate && !gates_add(gates, GATE_GROWTH, GATE_DEFAULT))
		return false;
	for (size_t i = 0; words->fail_on[i]; i++) {
		if (!gates_add(gates, GATE_GROWTH, words->fail_on[i]))
			return false;
	}
	return true;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_words words = { .format = "text", .limit = UINT64_MAX };
	struct comparison comparison = { .sides = { words.base, words.head }, .device = NO_DEVICE };
	char about[6000];
	const struct arg args[] = {
		ARG("base", 0, WORDS, "TRACE...", "several runs of the base", words.base),
		ARG("head", 0, WORDS, "TRACE...", "several runs of the head", words.head),
		ARG("fail-on", 0, LIST, "EXPR", "a gate, as above; may be given again",
		    words.fail_on),
		ARG("gate", 0, FLAG, NULL, "the default gate: " GATE_DEFAULT, &words.gate),
		ARG("format", 'f', TEXT, "FORMAT", "the format, from the list above",
		    &words.format),
		ARG_ONE_DEVICE(&comparison.device),
		ARG("limit", 'n', NUMBER, "N",
		    "rows of each table (default 5, in files 25; 0: all)", &words.limit),
		ARG("full", 0, FLAG, NULL, "every table, whole names, lines of source",
		    &comparison.options.full),
		ARG("force", 0, FLAG, NULL, "compare unlike runs all the same", &comparison.force),
		ARG_RULES_FROM(&comparison.rules),
		ARG_OUTPUT_TO(&comparison.output),
	};
	const struct usage usage = {
		"diff", "BASE HEAD", about, args, sizeof(args) / sizeof(args[0]), 0, 2, false
	};
	int parsed;
	int status;

	about_diff(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (!take_sides(&words, argc, argv))
		return STATUS_USAGE;
	comparison.format =
		args_choose("format", words.format, diff_formats, sizeof(diff_formats[0]));
	if (!comparison.format)
		return STATUS_USAGE;
	/* A screen is short; what is folded or kept in a file need not be. */
	comparison.options.limit = words.limit != UINT64_MAX      ? words.limit
				   : strcmp(words.format, "text") ? 25
								  : 5;
	status = take_gates(&words, &comparison.gates) ? gates_compare(&comparison)
						       : cli_fail(STATUS_USAGE);
	gates_clear(&comparison.gates);
	return status;
}
