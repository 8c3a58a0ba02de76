/* memtrace ctl PID... VERB: sends requests to running processes through the spools they write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "analyse/input/grow.h"
#include "base/guest/clock.h"
#include "base/mem/each.h"
#include "cli/cli.h"
#include "cli/run/live_spools.h"
#include "cli/run/recovery.h"
#include "render/values/values.h"

static const char about[] =
	"Starts, stops, marks or dumps the recording of running processes. VERB is one of:\n"
	"\n"
	"  start       records events and stacks from the next memory event on\n"
	"  stop        keeps only totals and peaks from the next memory event on\n"
	"  mark NAME   puts the mark NAME into the trace, at the next memory event\n"
	"  dump        writes a trace of the recording so far, without stopping the process\n"
	"  status      shows whether events are recorded, their number, and the spool's path\n"
	"\n"
	"A process carries out start, stop and mark when it next allocates or frees GPU memory. "
	"Status 0: done within the time of --wait. Status 1: the process has not allocated or "
	"freed GPU memory since the request, which stays pending, or recording is off, so a "
	"mark was not recorded. Status 3: the process is not traced, has ended, belongs to "
	"another user, or no longer records.\n";

enum { WAIT_SECONDS = 2, PAUSE_NS = 1000000, LONGEST_WAIT = 86400 };

struct ctl_wish {
	const struct verb *verb;
	const char *name;   /* name of a mark, NULL for other verbs */
	const char *output; /* the file for a dump; NULL for one next to the spool */
	uint64_t deadline;  /* end of the wait, in ns of clock_now() */
	unsigned processes;
};

/* A process to which a request is sent. */
struct asked {
	struct attached attached;
	uint32_t number; /* the request's number for attach_acted() */
	bool waiting;    /* the request was sent, but is not carried out yet */
};

struct verb {
	const char *name;
	int (*act)(struct asked *asked, const struct ctl_wish *wish);
	enum spool_verb asks; /* the request to send; VERBS if the verb sends none */
};

/* --- requests --- */

static int ask_process(struct asked *asked, const struct ctl_wish *wish)
{
	if (atomic_load(&asked->attached.header->stop) != SPOOL_RECORDING)
		return cli_say(STATUS_UNREADABLE,
			       "process %d no longer records: it is ending, or there was no space "
			       "for the spool",
			       asked->attached.pid);
	if (attach_ask(&asked->attached, wish->verb->asks, wish->name ? wish->name : "",
		       &asked->number))
		return cli_fail(STATUS_NO);
	asked->waiting = true;
	return STATUS_DONE;
}

static int send_wish(const struct asked *asked, const struct ctl_wish *wish)
{
	bool recording = atomic_load(&asked->attached.header->recording);
	int pid = asked->attached.pid;
	char name[200];

	if (wish->verb->asks != VERB_MARK) {
		out_format(cli_out(), "%d: %s\n", pid,
			   recording ? "recording" : "stopped: totals and peaks only");
		return STATUS_DONE;
	}
	if (!recording)
		return cli_say(STATUS_NO,
			       "recording is off in process %d, so the mark was not recorded; "
			       "turn it on with: memtrace ctl %d start",
			       pid, pid);
	show_safe(name, sizeof(name), wish->name, sizeof(name));
	out_format(cli_out(), "%d: marked %s\n", pid, name);
	return STATUS_DONE;
}

static int await(struct asked *asked, const struct ctl_wish *wish)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int pid = asked->attached.pid;

	while (!attach_acted(&asked->attached, asked->number)) {
		if (!attach_lives(&asked->attached))
			return cli_say(STATUS_UNREADABLE,
				       "process %d ended before it carried out the request", pid);
		if (clock_now() >= wish->deadline)
			return cli_say(STATUS_NO,
				       "process %d has not allocated or freed GPU memory since the "
				       "request: %s takes effect when it does",
				       pid, wish->verb->name);
		nanosleep(&pause, NULL);
	}
	return send_wish(asked, wish);
}

/* --- dump and status --- */

static int dump(struct asked *asked, const struct ctl_wish *wish)
{
	struct recovery recovery = {
		.spool = asked->attached.path,
		.output = wish->output,
		.live = true,
		.ending = { UINT64_MAX, UINT64_MAX },
	};

	return recovery_print(&recovery, ".dump.json");
}

static int show_status(struct asked *asked, const struct ctl_wish *wish)
{
	const struct spool_header *header = asked->attached.header;
	uint32_t waiting = atomic_load(&header->asked) - atomic_load(&header->acted);
	struct out *out = cli_out();
	char path[4096];

	(void)wish;
	show_safe(path, sizeof(path), asked->attached.path, sizeof(path));
	out_format(out, "%d: %s, %llu events", asked->attached.pid,
		   atomic_load(&header->stop)        ? "ended"
		   : atomic_load(&header->recording) ? "recording"
						     : "stopped",
		   (unsigned long long)header->seq);
	if (header->paused)
		out_format(out, " and %llu while stopped", (unsigned long long)header->paused);
	if (header->filtered)
		out_format(out, " and %llu filtered out", (unsigned long long)header->filtered);
	if (waiting)
		out_format(out, ", %u pending request%s (handled at the next allocation or free)",
			   waiting, waiting == 1 ? "" : "s");
	out_format(out, "; %s\n", path);
	return STATUS_DONE;
}

static const struct verb verbs[] = {
#define VERB(name, text, what) { text, ask_process, VERB_##name },
#include "spool/control_requests.def"
	{ "dump", dump, VERBS },
	{ "status", show_status, VERBS },
	{ NULL, NULL, VERBS },
};

/* Sends the request to all processes first, and only then waits for each of them. */
static int do_all(char **pids, const struct ctl_wish *wish)
{
	struct asked *all = calloc(wish->processes, sizeof(*all));
	int status = STATUS_DONE;

	NEED(all);
	for (unsigned i = 0; i < wish->processes; i++) {
		int done = attach_open(&all[i].attached, live_spools_pid(pids[i]))
				   ? cli_fail(STATUS_UNREADABLE)
				   : wish->verb->act(&all[i], wish);

		status = MAX(status, done);
	}
	foreach (row, all, wish->processes) {
		int answer = row->waiting ? await(row, wish) : STATUS_DONE;

		status = MAX(status, answer);
		attach_close(&row->attached);
	}
	free(all);
	return status;
}

/* --- the command line --- */

static int unknown_verb(const char *word)
{
	const char *meant = args_suggestion(word, verbs, sizeof(verbs[0]));

	if (meant)
		return cli_usage("there is no verb %s; did you mean %s?", word, meant);
	return cli_usage("%s is neither a process id nor a verb; see memtrace ctl --help", word);
}

/* Parses PID... VERB [NAME] into *wish. Returns STATUS_DONE, or another exit status on an error. */
static int find_wish(struct ctl_wish *wish, int argc, char **argv)
{
	while (1 + (int)wish->processes < argc && live_spools_pid(argv[1 + wish->processes]))
		wish->processes++;
	argv += 1 + wish->processes;
	argc -= 1 + (int)wish->processes;
	for (size_t i = 0; argc && verbs[i].name; i++) {
		if (!strcmp(argv[0], verbs[i].name))
			wish->verb = &verbs[i];
	}
	if (!argc)
		return cli_usage("VERB is missing; see memtrace ctl --help");
	if (!wish->verb)
		return unknown_verb(argv[0]);
	if (!wish->processes)
		return cli_usage("PID is missing; see memtrace ctl --help");
	if (wish->verb->asks == VERB_MARK) {
		wish->name = argc > 1 ? argv[1] : "";
		if (!*wish->name || strlen(wish->name) >= SPOOL_REQUEST_TEXT)
			return cli_usage("mark needs a NAME of 1 to %d bytes",
					 SPOOL_REQUEST_TEXT - 1);
		argc--;
	}
	if (argc > 1)
		return cli_usage("too many operands after %s", wish->verb->name);
	if (wish->output && (wish->verb->act != dump || wish->processes > 1))
		return cli_usage("-o can be given only for a dump of one process");
	return STATUS_DONE;
}

int cmd_ctl(int argc, char **argv)
{
	struct ctl_wish wish = { .processes = 0 };
	uint64_t seconds = WAIT_SECONDS;
	const struct arg args[] = {
		ARG("output", 'o', TEXT, "FILE", "dump writes to FILE (default: next to the spool)",
		    &wish.output),
		ARG_BOUNDED("wait", 0, "SECONDS", "longest wait for the process (default 2 s)",
			    &seconds, 0, LONGEST_WAIT),
	};
	const struct usage usage = USAGE("ctl", "PID... VERB", about, args, 1, 10000);
	int parsed = args_parse(&usage, &argc, argv);
	int status;

	if (parsed != ARGS_GO)
		return parsed;
	status = find_wish(&wish, argc, argv);
	if (status)
		return status;
	wish.deadline = clock_now() + seconds * 1000000000u;
	return do_all(argv + 1, &wish);
}
