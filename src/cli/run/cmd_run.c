/* memtrace run [options] -- CMD...: a program under the profiler. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/decompress.h"
#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/library.h"
#include "cli/run/child_process.h"
#include "cli/run/sanitizer.h"
#include "cli/setting_words.h"

static const char about[] =
	"Runs a program with the profiler preloaded, passes signals on to it, finishes the "
	"trace of a process that was killed, and says in a few lines what was held. Ends as "
	"the program does: with its status, 128 and the signal that killed it, 126 or 127 when "
	"it could not be started.\n"
	"\n"
	"Each option is a setting of the library, MEMTRACE_<NAME> in the environment.\n";

enum {
	CANNOT_RUN = 126,
	NOT_FOUND = 127,
};

static char letter_of(enum opt_id id)
{
	switch (id) {
	case OPT_ID_output:
		return 'o';
	case OPT_ID_quiet:
		return 'q';
	default:
		return '\0';
	}
}

static const char *value_name(enum opt_kind kind)
{
	switch (kind) {
	case OPT_FLAG:
		return "[=0]";
	case OPT_COUNT:
	case OPT_DEPTH:
		return "N";
	case OPT_KEEP:
		return "TIME|BYTES";
	default:
		return "TEXT";
	}
}

/* The rows of opt.def as options: --max-events N, --cpu, --no-used. */
static void make_args(struct arg *args, const char **values)
{
	static char names[OPT_IDS][32];

	for (enum opt_id id = 0; id < OPT_IDS; id++) {
		const struct opt_row *row = &opt_rows[id];

		text_copy(names[id], sizeof(names[id]), row->name);
		for (char *p = strchr(names[id], '_'); p; p = strchr(p, '_'))
			*p = '-';
		args[id] = (struct arg){
			.name = names[id],
			.letter = letter_of(id),
			.kind = row->kind == OPT_FLAG ? ARG_SWITCH : ARG_TEXT,
			.value = value_name(row->kind),
			.help = setting_help(id),
			.to = &values[id],
		};
	}
}

/* What was given goes into the environment, where the library reads it. */
static int set_all(const struct arg *args, const char *const *values)
{
	for (enum opt_id id = 0; id < OPT_IDS; id++) {
		uint64_t count;
		char name[64];

		if (!values[id])
			continue;
		if (!opt_parse(id, values[id], &count))
			return cli_usage("--%s: %s is not %s", args[id].name, values[id],
					 setting_wants(id));
		text_join(name, sizeof(name), "MEMTRACE_", opt_rows[id].env);
		if (setenv(name, values[id], 1))
			return cli_usage("%s: %s", name, strerror(errno));
	}
	/* The summary names the trace; one of us is enough. */
	setenv("MEMTRACE_ANNOUNCE", "0", 0);
	opt_read();
	if (opt_trouble())
		cli_usage("MEMTRACE_%s has a value that makes no sense; its default is taken",
			  opt_trouble());
	return 0;
}

static int not_started(const struct child_run *run)
{
	cli_usage("%s: %s", run->command[0],
		  run->exec_errno == ENOENT && !strchr(run->command[0], '/')
			  ? "command not found"
			  : strerror(run->exec_errno));
	return run->exec_errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

int cmd_run(int argc, char **argv)
{
	const char *values[OPT_IDS] = { NULL };
	struct arg args[OPT_IDS];
	const struct usage usage = { "run", "-- CMD...", about, args, OPT_IDS, 1, 0, true };
	int parsed;
	char library[4096];
	char preload[16384];
	struct child_run run = { .library = library, .preload = preload };
	int status;

	make_args(args, values);
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	status = set_all(args, values);
	if (status)
		return status;
	if (library_find(library, sizeof(library)) ||
	    library_preload(library, preload, sizeof(preload)))
		return cli_fail(STATUS_UNREADABLE);
	run.command = argv + 1;
	sanitizer_admit(run.command[0]);
	if (run_before(&run) || run_child(&run))
		return cli_fail(STATUS_UNREADABLE);
	if (run.exec_errno)
		return not_started(&run);
	limits_lift(); /* it is our own */
	run_finish(&run);
	return run.exit_status;
}
