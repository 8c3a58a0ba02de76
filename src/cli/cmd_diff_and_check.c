/* memtrace diff BASE HEAD: compares two runs by call site, and checks limits of growth (gates).
 * memtrace check TRACE: checks that one run is within limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/text/text.h"
#include "cli/budget_file.h"
#include "cli/cli.h"
#include "cli/traces.h"

struct comparison {
	const char *const *sides[2]; /* the operands of base and of head, each ended by NULL */
	struct gates gates;
	const char *rules, *output;       /* NULL for the built-in rules and standard output */
	const struct diff_format *format; /* diff_formats[0], text, by default */
	struct diff_options options;
	int device;
	bool json;  /* --json: the format json */
	bool force; /* --force: also compares runs on different cards, drivers ... */
};

/* Opens the runs of base or head; each run keeps a pointer to its path in `traces`. */
static int open_side(struct diff_side *side, struct traces *traces, const char *const *operands,
		     int device)
{
	int error = traces_add(traces, operands);

	if (error)
		return error;
	side->runs = calloc(traces->count + 1, sizeof(*side->runs));
	NEED(side->runs);
	for (; !error && side->count < traces->count; side->count += !error)
		error = run_open(&side->runs[side->count], traces->paths[side->count], device);
	return error;
}

/* Returns run i of all runs: those of the base, then those of the head. NULL after the last. */
static struct run *run_at(struct diff_side *const *sides, size_t i)
{
	size_t bases = sides[0]->count;

	if (i < bases)
		return &sides[0]->runs[i];
	return i - bases < sides[1]->count ? &sides[1]->runs[i - bases] : NULL;
}

static bool asks_categories(const struct gates *gates)
{
	for (size_t i = 0; i < gates->count; i++) {
		if (gates->list[i]->query.by[NARROWING_CATEGORY])
			return true;
	}
	return false;
}

/* Finds the categories of all runs, and adds them to the comparison if every run has them for each
 * block, or if a gate needs them: in that case, fails if only some runs have them per block. */
static int categorise(struct diff_side *const *sides, const struct gates *gates,
		      const struct rules *rules, int device)
{
	bool asked = asks_categories(gates);
	const struct run *first = run_at(sides, 0);
	const struct run *other = NULL;
	struct run *run;

	for (size_t i = 0; (run = run_at(sides, i)); i++) {
		int error = run_find_categories(run, rules, asked);

		if (error)
			return error;
		if (!other && run->categories_from != first->categories_from)
			other = run;
	}
	if (other && asked)
		return err("%s and %s cannot be compared by category: one has too few events to "
			   "find each block's category (record with a larger MEMTRACE_MAX_EVENTS)",
			   first->trace.path, other->trace.path);
	if (!first || other || (first->categories_from != RUN_BLOCKS && !asked))
		return 0;
	for (size_t i = 0; (run = run_at(sides, i)); i++)
		run_add_categories(run, device);
	return 0;
}

/* --- the comparison --- */

static int write_comparison(struct diff *diff, const struct comparison *asked)
{
	struct diff_options shown = asked->options;
	const struct diff_format *format = asked->format;
	int error = cli_redirect(asked->output);

	shown.colour = cli_colour(cli_out()->fd);
	shown.ascii = isatty(cli_out()->fd) && !cli_unicode();
	if (asked->json)
		format = args_choose("format", "json", diff_formats, sizeof(*format));
	if (!error)
		format->write(diff, cli_out(), &shown);
	return error;
}

static int refuse_unlike(const struct diff *diff)
{
	char keys[800] = "";

	for (size_t i = 0; i < diff->unlike_n; i++) {
		const struct diff_key *key = &diff->unlike[i];

		show_more(keys, sizeof(keys), "%s%.60s (%.100s, %.100s)", i ? ", " : "", key->key,
			  key->base, key->head);
	}
	return err("the runs are too different to be compared: %s %s; --force compares them anyway",
		   keys, diff->unlike_n == 1 ? "differs" : "differ");
}

static int compare(const struct comparison *asked)
{
	struct traces traces[2] = { { NULL, 0 }, { NULL, 0 } };
	struct diff diff = { .device = asked->device };
	struct diff_side *const sides[] = { &diff.base, &diff.head };
	struct rules rules;
	int error = 0;
	int status;

	if (rules_read(&rules, asked->rules))
		return cli_fail(STATUS_USAGE);
	for (size_t s = 0; s < 2 && !error; s++)
		error = open_side(sides[s], &traces[s], asked->sides[s], asked->device);
	if (!error)
		error = categorise(sides, &asked->gates, &rules, asked->device);
	if (!error)
		error = diff_make(&diff, &diff.base, &diff.head, asked->device);
	if (!error && diff.unlike_n && !asked->force)
		error = refuse_unlike(&diff);
	if (!error)
		error = diff_judge(&diff, asked->gates.list, asked->gates.count);
	if (!error)
		error = write_comparison(&diff, asked);
	status = error ? cli_fail(STATUS_UNREADABLE) : diff_broken(&diff) ? STATUS_NO : STATUS_DONE;
	diff_clear(&diff);
	traces_clear(&traces[0]);
	traces_clear(&traces[1]);
	rules_clear(&rules);
	return status;
}

/* --- diff --- */

static const char about_head[] =
	"Compares two runs by call site: how the peak changed, and which call sites changed it. "
	"Each of BASE and HEAD is a trace, a spool or a baseline, or a folder of them. With "
	"--base and --head, each side has several runs; changes within the spread of the runs are "
	"ignored. Ranks of a job do not count as several runs: they are compared rank by rank. "
	"With a gate (a limit of growth: --fail-on, --gate), the status is 1 if memory grew beyond "
	"that; for runs that used no GPU, CPU memory counts. Runs that are too different to be "
	"compared (card, driver, PyTorch, allocator settings, world size) are an error: status 3.\n"
	"\n"
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
	uint64_t limit;
	bool gate;
};

/* Stores BASE and HEAD from operands or options; false, with a message, if one is missing. */
static bool take_sides(struct diff_words *words, int argc, char **argv)
{
	if (argc == 3 && !words->base[0] && !words->head[0]) {
		words->base[0] = argv[1];
		words->head[0] = argv[2];
		return true;
	}
	return (argc == 1 && words->base[0] && words->head[0]) ||
	       !cli_usage("give BASE and HEAD, or --base TRACE... --head TRACE...; see memtrace "
			  "diff --help");
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
	if (!take_sides(&words, argc, argv))
		return STATUS_USAGE;
	/* Text is for a terminal, so it has short tables; other formats may have longer ones. */
	comparison.options.limit = words.limit != UINT64_MAX           ? words.limit
				   : comparison.format != diff_formats ? 25
								       : 5;
	status = take_gates(&words, &comparison.gates) ? cli_fail(STATUS_USAGE)
						       : compare(&comparison);
	gates_clear(&comparison.gates);
	return status;
}

/* --- check --- */

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
	status = error ? cli_fail(STATUS_USAGE) : compare(&comparison);
	gates_clear(&comparison.gates);
	return status;
}
