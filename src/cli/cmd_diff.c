/* memtrace diff BASE HEAD: which call site grew, and is that too much. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/gates.h"
#include "cli/traces.h"

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

static int refuse_unlike(const struct diff *diff)
{
	char keys[800] = "";

	for (size_t i = 0; i < diff->unlike_n; i++) {
		const struct diff_key *key = &diff->unlike[i];
		size_t used = strlen(keys);

		snprintf(keys + used, sizeof(keys) - used, "%s%.60s (%.100s, %.100s)",
			 i ? ", " : "", key->key, key->base, key->head);
	}
	err("the runs are too unlike to be compared: %s %s; --force compares them all the same",
	    keys, diff->unlike_n == 1 ? "differs" : "differ");
	return cli_fail("diff", STATUS_UNREADABLE);
}

struct diff_wish {
	const char *base[ARG_MOST + 1], *head[ARG_MOST + 1], *fail_on[ARG_MOST + 1];
	const char *format, *output, *rules;
	uint64_t limit;
	struct rules read;
	bool gate, force;
	struct diff_options options;
	int ordinal;
};

/* A folder names all that is in it. */
static int open_side(struct diff_side *side, struct traces *traces, const char *const *operands,
		     int device)
{
	int error = 0;

	for (; !error && *operands; operands++)
		error = traces_add(traces, *operands);
	return error ? error : gates_open(side, traces, device);
}

static int compare(const struct diff_wish *wish, const struct gates *gates,
		   const struct diff_format *format)
{
	struct diff_side sides[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct traces traces[2] = { { NULL, 0 }, { NULL, 0 } };
	struct diff diff = { .base = { NULL, 0, 0 } };
	int error = open_side(&sides[0], &traces[0], wish->base, wish->ordinal);
	int status;

	if (!error)
		error = open_side(&sides[1], &traces[1], wish->head, wish->ordinal);
	if (!error)
		error = gates_categorise(sides, gates, &wish->read, wish->ordinal);
	if (error) {
		diff.base = sides[0];
		diff.head = sides[1];
	} else {
		error = diff_make(&diff, &sides[0], &sides[1], wish->ordinal);
	}
	if (!error && diff.unlike_n && !wish->force) {
		status = refuse_unlike(&diff);
	} else {
		if (!error)
			error = diff_judge(&diff, gates->list, gates->count);
		status = error ? cli_fail("diff", STATUS_UNREADABLE)
			       : gates_tell("diff", &diff, format, &wish->options, wish->output);
	}
	diff_clear(&diff);
	traces_clear(&traces[0]);
	traces_clear(&traces[1]);
	return status;
}

/* BASE and HEAD as operands, or as lists: false when it is neither. */
static bool take_sides(struct diff_wish *wish, int argc, char **argv)
{
	if (argc == 3 && !wish->base[0] && !wish->head[0]) {
		wish->base[0] = argv[1];
		wish->head[0] = argv[2];
		return true;
	}
	if (argc == 1 && wish->base[0] && wish->head[0])
		return true;
	cli_usage("diff", "wants BASE HEAD, or --base TRACE... --head TRACE... (memtrace diff "
			  "--help)");
	return false;
}

static bool take_gates(const struct diff_wish *wish, struct gates *gates)
{
	if (wish->gate && !gates_add(gates, GATE_GROWTH, GATE_DEFAULT))
		return false;
	for (size_t i = 0; wish->fail_on[i]; i++) {
		if (!gates_add(gates, GATE_GROWTH, wish->fail_on[i]))
			return false;
	}
	return true;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_wish wish = { .format = "text", .limit = UINT64_MAX, .ordinal = NO_DEVICE };
	char about[6000];
	const struct arg args[] = {
		ARG("base", 0, WORDS, "TRACE...", "several runs of the base", wish.base),
		ARG("head", 0, WORDS, "TRACE...", "several runs of the head", wish.head),
		ARG("fail-on", 0, LIST, "EXPR", "a gate, as above; may be given again",
		    wish.fail_on),
		ARG("gate", 0, FLAG, NULL, "the default gate: " GATE_DEFAULT, &wish.gate),
		ARG("format", 'f', TEXT, "FORMAT", "the format, from the list above", &wish.format),
		ARG_ONE_DEVICE(&wish.ordinal),
		ARG("limit", 'n', NUMBER, "N",
		    "rows of each table (default 5, in files 25; 0: all)", &wish.limit),
		ARG("full", 0, FLAG, NULL, "every table, whole names, lines of source",
		    &wish.options.full),
		ARG("force", 0, FLAG, NULL, "compare unlike runs all the same", &wish.force),
		ARG_RULES_FROM(&wish.rules),
		ARG_OUTPUT_TO(&wish.output),
	};
	const struct usage usage = {
		"diff", "BASE HEAD", about, args, sizeof(args) / sizeof(args[0]), 0, 2, false
	};
	const struct diff_format *format;
	struct gates gates = { NULL, 0 };
	int parsed;
	int status = STATUS_USAGE;

	about_diff(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	if (!take_sides(&wish, argc, argv))
		return STATUS_USAGE;
	format = args_choose("diff", "format", wish.format, diff_formats, sizeof(diff_formats[0]));
	if (!format)
		return STATUS_USAGE;
	/* A screen is short; what is folded or kept in a file need not be. */
	wish.options.limit = wish.limit != UINT64_MAX      ? wish.limit
			     : strcmp(wish.format, "text") ? 25
							   : 5;
	if (take_gates(&wish, &gates) && !rules_read(&wish.read, wish.rules))
		status = compare(&wish, &gates, format);
	else
		cli_fail("diff", STATUS_USAGE);
	rules_clear(&wish.read);
	gates_clear(&gates);
	return status;
}
