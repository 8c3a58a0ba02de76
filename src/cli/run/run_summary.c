/* Prints the summary of a run: about ten lines on the traces of the child and other processes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/mem/sort.h"
#include "base/settings/opt.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "cli/preload_refusals.h"
#include "cli/run/child_process.h"
#include "render/report/report.h"
#include "render/values/values.h"

#define PREFIX "memtrace: "

enum {
	OTHERS_SHOWN = 2, /* maximum number of traces listed besides the first one */
	RANKS_SHOWN = 8,  /* the same if the traces are ranks of a job */
};

void run_say(const char *format, ...)
{
	char text[5000];
	char safe[5000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	show_safe(safe, sizeof(safe), text, sizeof(safe));
	fprintf(stderr, PREFIX "%s\n", safe);
}

static const char *short_path(const char *path)
{
	char cwd[4096];
	size_t length;

	if (!getcwd(cwd, sizeof(cwd)))
		return path;
	length = strlen(cwd);
	return !strncmp(path, cwd, length) && path[length] == '/' ? path + length + 1 : path;
}

static bool is_rank(const struct run_trace *found)
{
	return found->world_size != TRACE_NONE && found->world_size > 1;
}

static void say_first(const struct child_run *run, const struct run_trace *found)
{
	static char buffer[1 << 14];
	struct trace trace;
	struct out out;
	int error;

	out_init(&out, STDERR_FILENO, buffer, sizeof(buffer));
	error = trace_open(&trace, found->path);
	if (!error) {
		if (run->ending.signal != UINT64_MAX || run->ending.status)
			report_last_words(&trace, &out, PREFIX);
		error = report_brief(&trace, &out, PREFIX);
		trace_close(&trace);
		out_flush(&out);
	}
	if (error)
		run_say("%s", err_text());
	if (is_rank(found))
		run_say("the trace of rank %llu of %llu is %s", (unsigned long long)found->rank,
			(unsigned long long)found->world_size, short_path(found->path));
	else
		run_say("the trace is %s", short_path(found->path));
}

static void say_other(const struct run_trace *found)
{
	char bytes[SHOW_NUMBER];

	show_bytes(bytes, found->peak);
	if (is_rank(found))
		run_say("the trace of rank %llu is %s (peak %s allocated)",
			(unsigned long long)found->rank, short_path(found->path), bytes);
	else
		run_say("another trace is %s (peak %s allocated)", short_path(found->path), bytes);
}

static void say_others(const struct run_left *left)
{
	size_t ranks = 0;
	size_t shown;

	foreach (trace, left->traces)
		ranks += is_rank(trace);
	shown = ranks > 1 ? RANKS_SHOWN : OTHERS_SHOWN;
	for (size_t i = 1; i < left->traces_n && i <= shown; i++)
		say_other(&left->traces[i]);
	if (left->traces_n > shown + 1)
		run_say("and %zu more traces", left->traces_n - shown - 1);
	if (ranks > 1)
		run_say("memtrace merge %s summarizes all %zu traces", short_path(left->names),
			left->traces_n);
}

static void say_nothing_found(const struct child_run *run)
{
	char path[4096];
	char why[8192];

	if (!program_find(run->command[0], path, sizeof(path)) &&
	    program_refuses(path, why, sizeof(why)))
		run_say("nothing was recorded: %s", why);
	else if (!opt_flag(OPT_ID_enable))
		run_say("nothing was recorded, because of --enable=0 (MEMTRACE_ENABLE)");
	else
		run_say("no trace was written: %s used no GPU memory, or recording could not "
			"begin; `memtrace doctor -- %s` checks why",
			text_base(run->command[0]), run->command[0]);
}

void run_summary(const struct child_run *run, struct run_left *left)
{
	static const struct sort_key by_weight[] = {
		SORT_DOWN(struct run_trace, own),
		SORT_DOWN(struct run_trace, peak),
		SORT_TEXT(struct run_trace, path),
		{ 0 },
	};

	if (run->ending.signal != UINT64_MAX)
		run_say("%s was killed by signal %d (%s)", text_base(run->command[0]),
			(int)run->ending.signal, strsignal((int)run->ending.signal));
	if (left->traces_n) {
		sort_rows(left->traces, left->traces_n, sizeof(*left->traces), by_weight);
		say_first(run, &left->traces[0]);
		say_others(left);
	} else if (!left->running) {
		say_nothing_found(run);
	}
	if (left->running)
		run_say("%zu %s still running and will write %s at the end", left->running,
			left->running == 1 ? "process is" : "processes are",
			left->running == 1 ? "its trace" : "their traces");
	if (left->elsewhere)
		run_say("%zu spool%s to another machine or container; once its process has ended, "
			"`memtrace recover SPOOL` writes the trace",
			left->elsewhere, left->elsewhere == 1 ? " here belongs" : "s here belong");
}
