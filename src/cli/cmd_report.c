/* memtrace report TRACE: shows what filled the memory, and the lines that allocated it. */
#include <string.h>

#include "analyse/categories/glob.h"
#include "analyse/categories/rules.h"
#include "analyse/lifetimes/timepoint.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"
#include "render/report/report.h"

static const char about[] =
	"Explains a trace, or the spool of a killed process: the peak and its call sites, what "
	"each line allocated and freed, what is still allocated at exit, pools, libraries, "
	"phases and failed allocations; for the whole run, a selection, or one moment (--at). "
	"Several traces, or a folder of them, are taken as the ranks of one job, as in memtrace "
	"merge. Sections for --show:\n"
#define SECTION(name, when, what) "  " #name ": " what "\n"
#include "render/report/report_sections.def"
	;

/* Default --limit: ALL for JSON; LISTED with --show, --oom, --at, several traces; else SCREEN. */
enum { SCREEN = 5, LISTED = 10, ALL = 0 };

/* Parses "peaks,live" into a bit for each section; prints why and returns 0 on an unknown name. */
static uint32_t read_sections(const char *text)
{
	uint32_t bits = 0;

	for (;; text++) {
		size_t length = strcspn(text, ",");
		uint32_t bit = report_section_bit(text, length);

		if (!bit) {
			cli_usage("--show: there is no section %.*s; the sections are: %s",
				  (int)length, text, report_section_names());
			return 0;
		}
		bits |= bit;
		text += length;
		if (!*text)
			return bits;
	}
}

/* The words of --by and --space, each after a bar: "|site|line...", "|device|managed...". */
static const char by_words[] =
#define BY(id, name, title) "|" name
#include "analyse/trace/trace_by.def"
	;
static const char space_words[] =
#define SPACE(name, text, what) "|" text
#include "codec/event_kinds.def"
	;

/* Values of options; a `limit` of UINT64_MAX means that --limit was not given. */
struct report_words {
	const char *show, *rules, *oom, *output;
	uint64_t limit;
	bool json;
};

/* Fills `options`; prints why and returns false if a value is wrong. `listed` is true for several
 * traces, which raise the default number of rows, as --show, --oom and --at do. */
static bool read_report_words(struct report_options *options, const struct report_words *words,
			      bool listed)
{
	listed = listed || words->show || words->oom || options->select.at;
	options->limit = words->limit != UINT64_MAX ? words->limit
			 : words->json              ? ALL
			 : listed                   ? LISTED
						    : SCREEN;
	if (words->show && !(options->show = read_sections(words->show)))
		return false;
	if (words->oom)
		options->oom = REPORT_OOM_LAST;
	if (!words->oom || !words->oom[0])
		return true;
	if (!args_count("oom", words->oom, UINT32_MAX, &options->oom))
		return false;
	return options->oom || !cli_usage("--oom: the first failed allocation has the number 1");
}

/* Prints why and returns false if --at, --oom, --from and --to contradict each other. */
static bool check_times(const struct report_options *options)
{
	const char *const bounds[] = { options->select.from, options->select.to };
	uint64_t ns[] = { 0, UINT64_MAX };

	for (size_t i = 0; i < 2; i++) {
		if (bounds[i] && !timepoint_is_named(bounds[i]))
			timepoint_time(bounds[i], &ns[i]);
	}
	if (ns[0] > ns[1])
		return !cli_usage("--from %.60s is later than --to %.60s", bounds[0], bounds[1]);
	if (options->select.at && (options->select.from || options->select.to))
		return !cli_usage("--at is one moment and cannot be combined with --from or --to");
	if (options->oom && (options->select.at || options->select.from || options->select.to))
		return !cli_usage(
			"--oom is one moment and cannot be combined with --at, --from or --to");
	return true;
}

/* Parses --filter category=PATTERN; prints why and returns false if no category matches. */
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
		cli_usage("--filter: there is no category %.60s; the categories are: %s", wanted,
			  list);
	return options->select.categories != 0;
}

static int run_report(const char *path, const struct report_words *words,
		      struct report_options *options)
{
	struct trace trace;
	size_t failures;
	int error;

	if (trace_open(&trace, path))
		return cli_fail(STATUS_UNREADABLE);
	trace_find_lines(&trace);
	error = cli_redirect(words->output);
	options->colour = cli_colour(cli_out()->fd);
	options->columns = cli_columns(cli_out()->fd);
	if (!error)
		error = report_write(&trace, cli_out(), options, words->json);
	failures = trace.ooms_n;
	trace_close(&trace);
	if (error)
		return cli_fail(STATUS_UNREADABLE);
	return words->oom && !failures ? STATUS_NO : STATUS_DONE;
}

static int run_with_rules(const char *path, const struct report_words *words,
			  struct report_options *options)
{
	struct rules rules;
	int status;

	if (rules_read(&rules, words->rules))
		return cli_fail(STATUS_USAGE);
	options->rules = &rules;
	status = read_categories(options) ? run_report(path, words, options) : STATUS_USAGE;
	options->rules = NULL;
	rules_clear(&rules);
	return status;
}

/* --- several traces: the ranks of a job --- */

static bool check_alone(const struct report_words *words, const struct report_options *options)
{
	const struct {
		const char *option;
		bool given;
	} alone[] = {
		{ "at", options->select.at },
		{ "by", options->select.by != TRACE_BY_SITE },
		{ "device", options->select.device != NO_DEVICE },
		{ "filter", options->select.filter },
		{ "from", options->select.from },
		{ "oom", words->oom },
		{ "pool", options->select.pool },
		{ "rules", words->rules },
		{ "show", words->show },
		{ "space", options->select.space != SPACES },
		{ "stacks", options->select.stacks },
		{ "suppressions", options->suppressions },
		{ "to", options->select.to },
	};

	foreach (row, alone, COUNT_OF(alone)) {
		if (row->given)
			return !cli_usage("--%s is for one trace, but several are given",
					  row->option);
	}
	return true;
}

static int run_many(const char *const *operands, const struct report_words *words,
		    const struct report_options *options)
{
	const struct merge_options shown = { .limit = options->full ? 0 : options->limit,
					     .full = options->full };
	const struct merge_format *format =
		words->json ? args_choose("format", "json", merge_formats, sizeof(*merge_formats))
			    : merge_formats; /* text */
	struct traces traces = { NULL, 0 };
	int status;

	if (traces_add(&traces, operands))
		status = cli_fail(STATUS_UNREADABLE);
	else if (!check_alone(words, options))
		status = STATUS_USAGE;
	else
		status = traces_merge(&traces, format, &shown, words->output, false);
	traces_clear(&traces);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct report_options options = { .select = { .device = NO_DEVICE, .space = SPACES } };
	struct report_words words = { .limit = UINT64_MAX };
	bool several;
	const struct arg args[] = {
		ARG("json", 0, FLAG, NULL, "write JSON (memtrace-report/1)", &words.json),
		ARG("by", 'b', WORD, by_words + 1,
		    "group the rows by this property (default: site)", &options.select.by),
		ARG("stacks", 0, WORD, "merged|native|python",
		    "show all frames (merged, default), or one kind", &options.select.stacks),
		ARG("at", 0, WHEN, "WHEN",
		    "show one moment, with the free space between blocks: 12.5s (after the start), "
		    "peak, exit, 'phase:NAME' (the peak of that phase), 'mark:NAME' (the last such "
		    "mark; 'mark:NAME#2' is the second), seq:N (event N)",
		    &options.select.at),
		ARG("oom", 0, MAYBE, "[=N]",
		    "explain the last failed allocation or, with =N, the Nth", &words.oom),
		ARG("from", 0, TIME, "WHEN",
		    "skip events before WHEN: 12.5s, 'phase:NAME' or 'mark:NAME'",
		    &options.select.from),
		ARG("to", 0, TIME, "WHEN", "skip events after WHEN", &options.select.to),
		ARG_ONE_DEVICE(&options.select.device),
		ARG_ONE_POOL(&options.select.pool),
		ARG("space", 0, WORD, space_words + 1, "show only memory of this kind",
		    &options.select.space),
		ARG("filter", 'f', TEXT, "TEXT",
		    "show only stacks with a frame that contains TEXT or, with * or ?, matches it; "
		    "category=NAME shows only that category",
		    &options.select.filter),
		ARG("rules", 0, TEXT, "FILE",
		    "read rules for categories, which come before the built-in ones: "
		    "`memtrace help --rules` explains them",
		    &words.rules),
		ARG("suppressions", 0, TEXT, "FILE",
		    "hide leaks and growth that FILE lists: one pattern per line (* and ? as in "
		    "file names) for a call site, function, file or module; # begins a comment",
		    &options.suppressions),
		ARG("show", 's', TEXT, "SECTIONS",
		    "show only these sections, separated by commas, for example peaks,live",
		    &words.show),
		ARG("limit", 'n', NUMBER, "N",
		    "show at most N rows per list (default 5, or 10 with --show, --oom, --at or "
		    "several traces, all with --json; 0: all)",
		    &words.limit),
		ARG("full", 0, FLAG, NULL, "show every row, stack and frame", &options.full),
		ARG_OUTPUT_TO(&words.output),
	};
	const struct usage usage = USAGE("report", "TRACE...", about, args, 1, 0);
	int parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed;
	several = argc != 2 || traces_is_folder(argv[1]);
	if (!read_report_words(&options, &words, several) || !check_times(&options))
		return STATUS_USAGE;
	return several ? run_many((const char *const *)argv + 1, &words, &options)
		       : run_with_rules(argv[1], &words, &options);
}
