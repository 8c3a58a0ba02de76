/* memtrace report TRACE: what filled the memory, which line put it there. */
#include <string.h>
#include <unistd.h>

#include "analyse/categories/glob.h"
#include "analyse/categories/rules.h"
#include "analyse/input/error.h"
#include "analyse/lifetimes/timepoint.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"
#include "render/report/report.h"

static const char about[] =
	"Explains a trace, or the spool of a killed process: the peak and who held it, what each\n"
	"line took and gave back, what is still allocated at exit, pools, owners, phases and\n"
	"failed allocations; of a selection, or of one moment (--at). Several traces, or a folder\n"
	"of them, are the ranks of a job: told as by memtrace merge. Sections for --show:\n"
#define SECTION(name, when, what) "  " #name ": " what "\n"
#include "render/report/report_sections.def"
#undef SECTION
	;

/* Rows of a list: a screen is short, what was asked for need not be. */
enum { SCREEN = 5, LISTED = 10 };

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
#include "analyse/trace/trace_by.def"
#undef BY
	NULL
};

static const char *const space_words[] = {
#define SPACE(name, text, what) text,
#include "codec/events.def"
#undef SPACE
	NULL
};

/* What the options were given, as texts. */
struct words {
	const char *stacks, *by, *space, *device, *limit, *show, *rules, *oom, *output;
};

/* False after complaint. `listed`: what is written is no screen. */
static bool read_words(struct report_options *options, const struct words *words, bool listed)
{
	uint64_t number;

	listed = listed || words->show || words->oom || options->select.at;
	options->limit = listed ? LISTED : SCREEN;
	if (words->limit) {
		if (!args_count("report", "limit", words->limit, UINT32_MAX, &number))
			return false;
		options->limit = number;
	}
	if (words->show && !(options->show = read_sections(words->show)))
		return false;
	if (words->device) {
		if (!args_count("report", "device", words->device, INT16_MAX, &number))
			return false;
		options->select.device = (int)number;
	}
	if (words->oom && words->oom[0]) {
		if (!args_count("report", "oom", words->oom, UINT32_MAX, &options->oom))
			return false;
		if (!options->oom) {
			cli_usage("report", "--oom: the first has the number 1");
			return false;
		}
	} else if (words->oom) {
		options->oom = REPORT_OOM_LAST;
	}
	options->select.stacks = read_word("stacks", words->stacks, stack_words);
	options->select.by = options->select.stacks < 0 ? -1 : read_word("by", words->by, by_words);
	if (options->select.by >= 0 && words->space)
		options->select.space = read_word("space", words->space, space_words);
	return options->select.by >= 0 && options->select.space >= 0;
}

/* Times that make no sense are the caller's mistake, not the trace's. */
static bool check_times(const struct report_options *options)
{
	const char *const bounds[] = { options->select.from, options->select.to };
	uint64_t ns[] = { 0, UINT64_MAX };

	for (size_t i = 0; i < 2; i++) {
		if (bounds[i] && strncmp(bounds[i], "phase:", 6) != 0 &&
		    moment_time(bounds[i], &ns[i])) {
			cli_usage("report", "%s", err_text());
			return false;
		}
	}
	if (ns[0] > ns[1]) {
		cli_usage("report", "--from %.60s is behind --to %.60s", bounds[0], bounds[1]);
		return false;
	}
	if (options->select.at && !moment_makes_sense(options->select.at)) {
		cli_usage("report", "%s", err_text());
		return false;
	}
	if (options->select.at && (options->select.from || options->select.to)) {
		cli_usage("report", "--at is one moment: it goes with neither --from nor --to");
		return false;
	}
	if (options->oom && (options->select.at || options->select.from || options->select.to)) {
		cli_usage("report", "--oom is a moment: it goes with none of --at, --from, --to");
		return false;
	}
	return true;
}

/* --filter category=NAME, a pattern too: false after complaint. */
static bool read_categories(struct report_options *options)
{
	static const char key[] = "category=";
	char list[1000] = "";
	const char *wanted;

	if (!options->select.filter || strncmp(options->select.filter, key, sizeof(key) - 1) != 0)
		return true;
	wanted = options->select.filter + sizeof(key) - 1;
	for (size_t i = 0; i < options->rules->categories; i++) {
		text_append(list, sizeof(list), i ? ", " : "");
		text_append(list, sizeof(list), options->rules->names[i]);
		if (pattern_any_fits(wanted, options->rules->names[i]))
			options->select.categories |= 1ull << i;
	}
	if (!options->select.categories)
		cli_usage("report", "--filter: there is no category %.60s, but: %s", wanted, list);
	return options->select.categories != 0;
}

static int run_report(const char *path, const char *output, bool json,
		      struct report_options *options)
{
	struct trace trace;
	int error;

	if (trace_open(&trace, path))
		return cli_fail("report", STATUS_UNREADABLE);
	error = output ? cli_redirect(output) : 0;
	options->colour = cli_colour(cli_out()->fd);
	if (!error)
		error = json ? report_json(&trace, cli_out(), options)
			     : report_text(&trace, cli_out(), options);
	trace_close(&trace);
	return error ? cli_fail("report", STATUS_UNREADABLE) : STATUS_DONE;
}

static int run_with_rules(const char *path, const char *output, bool json,
			  struct report_options *options, const char *file)
{
	struct rules rules;
	int status;

	if (rules_read(&rules, file))
		return cli_fail("report", STATUS_USAGE);
	options->rules = &rules;
	status = read_categories(options) ? run_report(path, output, json, options) : STATUS_USAGE;
	options->rules = NULL;
	rules_clear(&rules);
	return status;
}

/* --- several traces: the ranks of a job --- */

/* What selects in one trace selects nothing in many: false after complaint. */
static bool check_alone(const struct words *words, const struct report_options *options)
{
	const struct {
		const char *option;
		bool given;
	} alone[] = {
		{ "at", options->select.at },
		{ "by", strcmp(words->by, by_words[0]) != 0 },
		{ "device", words->device },
		{ "filter", options->select.filter },
		{ "from", options->select.from },
		{ "oom", words->oom },
		{ "pool", options->select.pool },
		{ "rules", words->rules },
		{ "show", words->show },
		{ "space", words->space },
		{ "stacks", strcmp(words->stacks, stack_words[0]) != 0 },
		{ "suppressions", options->suppressions },
		{ "to", options->select.to },
	};

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
		if (!alone[i].given)
			continue;
		cli_usage("report", "--%s is of one trace: give one, or see all of them without it",
			  alone[i].option);
		return false;
	}
	return true;
}

static int run_many(int argc, char **argv, const struct words *words, bool json,
		    const struct report_options *options)
{
	const struct merge_options told = { .limit = options->full ? 0 : options->limit,
					    .full = options->full };
	static const struct merge_format formats[] = {
		{ "text", NULL, merge_text },
		{ "json", NULL, merge_json },
	};
	struct traces traces = { NULL, 0 };
	int status = STATUS_DONE;

	for (int i = 1; status == STATUS_DONE && i < argc; i++) {
		if (traces_add(&traces, argv[i]))
			status = cli_fail("report", STATUS_UNREADABLE);
	}
	if (status == STATUS_DONE && !check_alone(words, options))
		status = STATUS_USAGE;
	if (status == STATUS_DONE)
		status = traces_merge("report", &traces, &formats[json], &told, words->output,
				      false);
	traces_clear(&traces);
	return status;
}

static bool many(int argc, char **argv)
{
	return argc != 2 || traces_is_folder(argv[1]);
}

static int run_any(int argc, char **argv, const struct words *words, bool json,
		   struct report_options *options)
{
	if (many(argc, argv))
		return run_many(argc, argv, words, json, options);
	return run_with_rules(argv[1], words->output, json, options, words->rules);
}

int cmd_report(int argc, char **argv)
{
	struct report_options options = { .select = { .device = NO_DEVICE, .space = SPACES } };
	struct words words = { .stacks = "merged", .by = "site" };
	bool json = false;
	const struct arg args[] = {
		{ "json", 0, ARG_FLAG, NULL, "the document memtrace-report/1, for programs", &json,
		  NULL },
		{ "by", 'b', ARG_TEXT, "ROWS",
		  "site, line, function, stack, module, owner, thread,\n"
		  "                          phase, category: what a row of the tables is "
		  "(default\n"
		  "                          site)",
		  NULL, &words.by },
		{ "stacks", 0, ARG_TEXT, "KIND", "merged, native or python frames only", NULL,
		  &words.stacks },
		{ "at", 0, ARG_TEXT, "WHEN",
		  "what was live then, and free gaps: 12.5s, peak, exit,\n"
		  "                          'phase:NAME' (its highest moment), seq:N",
		  NULL, &options.select.at },
		{ "oom", 0, ARG_MAYBE, "[=N]", "the last out of memory explained, or the Nth", NULL,
		  &words.oom },
		{ "from", 0, ARG_TEXT, "WHEN", "from then on: 12.5s, 'phase:NAME'", NULL,
		  &options.select.from },
		{ "to", 0, ARG_TEXT, "WHEN", "until then", NULL, &options.select.to },
		{ "device", 'd', ARG_TEXT, "N", "this device only", NULL, &words.device },
		{ "pool", 'p', ARG_TEXT, "NAME", "this pool only", NULL, &options.select.pool },
		{ "space", 0, ARG_TEXT, "NAME", "device, managed, pinned, array or cpu memory only",
		  NULL, &words.space },
		{ "filter", 'f', ARG_TEXT, "TEXT",
		  "stacks only that have a frame with this text; or a\n"
		  "                          pattern with * and ?; or category=NAME",
		  NULL, &options.select.filter },
		{ "rules", 0, ARG_TEXT, "FILE",
		  "rules for categories, in front of the built-in ones:\n"
		  "                          `memtrace help --rules` explains them",
		  NULL, &words.rules },
		{ "suppressions", 0, ARG_TEXT, "FILE",
		  "leaks and growth that are known: a pattern a line (with\n"
		  "                          * and ?) for a call site, function, file or module;\n"
		  "                          what follows # is a comment",
		  NULL, &options.suppressions },
		{ "show", 's', ARG_TEXT, "SECTIONS", "these sections only, by name: peaks,live",
		  NULL, &words.show },
		{ "limit", 'n', ARG_TEXT, "N", "rows of a list (default 5, of --show 10; 0: all)",
		  NULL, &words.limit },
		{ "full", 0, ARG_FLAG, NULL, "every row, every stack, every frame", &options.full,
		  NULL },
		{ "output", 'o', ARG_TEXT, "FILE", "write there instead of standard output", NULL,
		  &words.output },
	};
	const struct usage usage = {
		"report", "TRACE...", about, args, sizeof(args) / sizeof(args[0]), 1, 0, false
	};
	enum args_result parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!read_words(&options, &words, json || many(argc, argv)) || !check_times(&options))
		return STATUS_USAGE;
	return run_any(argc, argv, &words, json, &options);
}
