/* memtrace diff BASE HEAD: compares two runs by call site, and checks limits of growth (gates). */
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/compare_runs.h"

static const char about_head[] =
	"Compares two runs by call site: how the peak changed, and which call sites changed it. "
	"Each of BASE and HEAD is a trace, a spool or a baseline, or a folder of them. With "
	"--base and --head, each side has several runs; changes within the spread of the runs are "
	"ignored. Ranks of a job do not count as several runs: they are compared rank by rank. "
	"With a gate (a limit of growth: --fail-on, --gate), the status is 1 if memory grew beyond "
	"that; for runs that used no GPU, CPU memory counts. Runs that are too different to be "
	"compared (card, driver, PyTorch, allocator settings, world size) are an error: status 3.\n"
	"With --phase, the peak in a phase is compared: of BASE and HEAD, or of one trace with "
	"itself.\n"
	"\n"
	"  memtrace diff TRACE --phase fp32 --phase bf16   compares two phases of a trace\n"
	"  --fail-on 'allocated.peak>2%'             fails if it grew by more than 2%\n"
	"  --fail-on 'reserved.peak>1GiB'            fails if it grew by more than 1 GiB\n"
	"  --fail-on 'allocated.peak[phase=step]>2%+1MiB'   fails if it grew by more than 2% and "
	"by more than 1 MiB\n"
	"\n";

static void about_diff(char *to, size_t size)
{
	text_copy(to, size, about_head);
	text_append(to, size, "Metrics:\n");
	args_list(to, size, 16, metric_rows, sizeof(metric_rows[0]));
	text_append(to, size, "\nFilters of metrics, [key=value]; * and ? as in file names:\n");
	args_list(to, size, 16, narrowing_rows, sizeof(narrowing_rows[0]));
	text_append(to, size, "\nFormats:\n");
	args_list(to, size, 10, diff_formats, sizeof(diff_formats[0]));
}

struct diff_words {
	const char *base[ARG_MOST + 1], *head[ARG_MOST + 1], *fail_on[ARG_MOST + 1];
	const char *phases[ARG_MOST + 1];
	uint64_t limit;
	bool gate;
};

/* Stores BASE and HEAD from operands or options; false, with a message, if one is missing. */
static bool take_sides(struct diff_words *words, int argc, char **argv)
{
	bool one = argc == 2 && words->phases[0] && words->phases[1];

	if ((argc == 3 || one) && !words->base[0] && !words->head[0]) {
		words->base[0] = argv[1];
		words->head[0] = argv[argc - 1];
		return true;
	}
	return (argc == 1 && words->base[0] && words->head[0]) ||
	       !cli_usage("give BASE and HEAD, or --base TRACE... --head TRACE...; see memtrace "
			  "diff --help");
}

/* Stores the phases of base and head; one --phase is for both. */
static bool take_phases(const struct diff_words *words, struct comparison *comparison)
{
	if (words->phases[0] && words->phases[1] && words->phases[2])
		return !cli_usage("--phase can be given twice at most: for BASE and for HEAD");
	comparison->phases[0] = words->phases[0];
	comparison->phases[1] = words->phases[words->phases[0] && words->phases[1]];
	return true;
}

static int take_gates(const struct diff_words *words, struct gates *gates)
{
	int error = words->gate ? gates_add(gates, GATE_GROWTH, GATE_DEFAULT) : 0;

	for (size_t i = 0; !error && words->fail_on[i]; i++)
		error = gates_add(gates, GATE_GROWTH, words->fail_on[i]);
	return error;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_words words = { .limit = UINT64_MAX };
	struct comparison comparison = { .sides = { words.base, words.head },
					 .device = NO_DEVICE,
					 .format = diff_formats };
	char about[6000];
	const struct arg args[] = {
		ARG("base", 0, WORDS, "TRACE...", "several runs in place of BASE", words.base),
		ARG("head", 0, WORDS, "TRACE...", "several runs in place of HEAD", words.head),
		ARG("fail-on", 0, LIST, "EXPR", "fail if EXPR is true; repeatable", words.fail_on),
		ARG("gate", 0, FLAG, NULL, "the same as --fail-on '" GATE_DEFAULT "'", &words.gate),
		ARG("phase", 0, LIST, "NAME",
		    "compare only this phase (given twice: of BASE, then of HEAD)", words.phases),
		ARG_ONE_FORMAT("format", 'f', diff_formats, &comparison.format),
		ARG_ONE_JSON(&comparison.json),
		ARG_ONE_DEVICE(&comparison.device),
		ARG("limit", 'n', NUMBER, "N",
		    "show at most N rows per table (default 5, in markdown and junit 25; 0: all)",
		    &words.limit),
		ARG("full", 0, FLAG, NULL, "show every table, full names and source lines",
		    &comparison.options.full),
		ARG("force", 0, FLAG, NULL, "compare runs of different cards, drivers and so on",
		    &comparison.force),
		ARG_RULES_FROM(&comparison.rules),
		ARG_OUTPUT_TO(&comparison.output),
	};
	const struct usage usage = USAGE("diff", "BASE HEAD", about, args, 0, 2);
	int parsed;
	int status;

	about_diff(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (!take_sides(&words, argc, argv) || !take_phases(&words, &comparison))
		return STATUS_USAGE;
	/* Text is for a terminal, so it has short tables; other formats may have longer ones. */
	comparison.options.limit = words.limit != UINT64_MAX           ? words.limit
				   : comparison.format != diff_formats ? 25
								       : 5;
	status = take_gates(&words, &comparison.gates) ? cli_fail(STATUS_USAGE)
						       : compare_runs(&comparison);
	gates_clear(&comparison.gates);
	return status;
}
