/* memtrace diff BASE HEAD: which call site grew, and is that too much. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/gates.h"
#include "cli/traces.h"

static const char words[] =
	"Compares two runs by call site: what happened to the peak, and who did it. Each of BASE\n"
	"and HEAD is a trace, a spool or a baseline, or a folder of them. With --base and --head\n"
	"each side has several runs; a change within their spread counts as none. Ranks of a job\n"
	"are no repetitions: those are compared rank by rank. It only reports, unless a gate is "
	"given: then a broken\n"
	"gate ends it with status 1. Runs that are too unlike to be compared (card, driver,\n"
	"PyTorch, allocator settings, world size) end it with status 3.\n"
	"\n"
	"  --fail-on 'allocated.peak>2%'             grew by more than 2%\n"
	"  --fail-on 'reserved.peak>1GiB'            by more than that many bytes\n"
	"  --fail-on 'allocated.peak[phase=step]>2%+1MiB'   by more than both\n"
	"\n";

/* Metrics, narrowings and formats, from their tables. */
static void about_diff(char *to, size_t size)
{
	text_copy(to, size, words);
	text_append(to, size, "Metrics:\n");
	for (size_t i = 0; i < METRIC_IDS; i++) {
		char row[200];

		snprintf(row, sizeof(row), "  %-17s%s\n", metric_rows[i].name, metric_rows[i].what);
		text_append(to, size, row);
	}
	text_append(to, size, "\nNarrowed by [key=value], where * and ? match as in file names:\n");
	for (size_t i = 0; i < NARROWINGS; i++) {
		char row[200];

		snprintf(row, sizeof(row), "  %-17s%s\n", narrowing_rows[i].key,
			 narrowing_rows[i].what);
		text_append(to, size, row);
	}
	text_append(to, size, "\nFormats:\n");
	gates_about(to, size);
}

static int refuse(const struct diff *diff)
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

struct wish {
	const char *base[ARG_MOST + 1], *head[ARG_MOST + 1], *fail_on[ARG_MOST + 1];
	const char *format, *limit, *device, *output, *rules;
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

static int compare(const struct wish *wish, const struct gates *gates,
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
		status = refuse(&diff);
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
static bool take_sides(struct wish *wish, int argc, char **argv)
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

static bool take_gates(const struct wish *wish, struct gates *gates)
{
	if (wish->gate && !gates_add(gates, GATE_GROWTH, GATE_DEFAULT))
		return false;
	for (size_t i = 0; wish->fail_on[i]; i++) {
		if (!gates_add(gates, GATE_GROWTH, wish->fail_on[i]))
			return false;
	}
	return true;
}

static bool take_numbers(struct wish *wish)
{
	uint64_t number;

	/* A screen is short; what is folded or kept in a file need not be. */
	wish->options.limit = strcmp(wish->format, "text") ? 25 : 5;
	if (wish->limit) {
		if (!args_count("diff", "limit", wish->limit, UINT32_MAX, &number))
			return false;
		wish->options.limit = number;
	}
	if (!wish->device)
		return true;
	if (!args_count("diff", "device", wish->device, INT16_MAX, &number))
		return false;
	wish->ordinal = (int)number;
	return true;
}

int cmd_diff(int argc, char **argv)
{
	struct wish wish = { .format = "text", .ordinal = NO_DEVICE };
	char about[6000];
	const struct arg args[] = {
		{ "base", 0, ARG_WORDS, "TRACE...", "several runs of the base", NULL, wish.base },
		{ "head", 0, ARG_WORDS, "TRACE...", "several runs of the head", NULL, wish.head },
		{ "fail-on", 0, ARG_LIST, "EXPR", "a gate, as above; may be given again", NULL,
		  wish.fail_on },
		{ "gate", 0, ARG_FLAG, NULL, "the default gate: " GATE_DEFAULT, &wish.gate, NULL },
		{ "format", 'f', ARG_TEXT, "FORMAT", "the format, from the list above", NULL,
		  &wish.format },
		{ "device", 'd', ARG_TEXT, "N", "this device only", NULL, &wish.device },
		{ "limit", 'n', ARG_TEXT, "N",
		  "rows of each table (default 5, in files 25; 0: all)", NULL, &wish.limit },
		{ "full", 0, ARG_FLAG, NULL, "every table, whole names, lines of source",
		  &wish.options.full, NULL },
		{ "force", 0, ARG_FLAG, NULL, "compare unlike runs all the same", &wish.force,
		  NULL },
		{ "rules", 0, ARG_TEXT, "FILE", "rules for categories (memtrace help --rules)",
		  NULL, &wish.rules },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &wish.output },
	};
	const struct usage usage = {
		"diff", "BASE HEAD", about, args, sizeof(args) / sizeof(args[0]), 0, 2, false
	};
	const struct diff_format *format;
	struct gates gates = { NULL, 0 };
	enum args_result parsed;
	int status = STATUS_USAGE;

	about_diff(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!take_sides(&wish, argc, argv) || !take_numbers(&wish))
		return STATUS_USAGE;
	format = gates_format("diff", wish.format);
	if (!format)
		return STATUS_USAGE;
	if (take_gates(&wish, &gates) && !rules_read(&wish.read, wish.rules))
		status = compare(&wish, &gates, format);
	else
		cli_fail("diff", STATUS_USAGE);
	rules_clear(&wish.read);
	gates_clear(&gates);
	return status;
}
