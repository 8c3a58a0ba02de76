/* memtrace run [options] -- CMD...: runs a program with the library preloaded. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/input/decompress.h"
#include "analyse/input/error.h"
#include "base/mem/each.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/preload_refusals.h"
#include "cli/run/child_process.h"
#include "spool/spool.h"

static const char about[] =
	"Runs a program with the profiler preloaded, passes signals on to the program, finishes "
	"the trace of a process that was killed, and prints a short summary. The exit status is "
	"that of the program: 128 plus the signal number if a signal killed the program, 126 or "
	"127 if it could not be started.\n"
	"\n"
	"Each option is a setting of the library, MEMTRACE_<NAME> in the environment.\n";

enum {
	CANNOT_RUN = 126,
	NOT_FOUND = 127,
};

/* --- the options --- */

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

/* Makes an option for each setting in opt.def, such as --max-events N and --cpu. */
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
	/* The library need not print the trace's path, because the summary of the run does. */
	setenv("MEMTRACE_ANNOUNCE", "0", 0);
	opt_read();
	if (opt_trouble())
		cli_usage("MEMTRACE_%s has a value that cannot be read; the default is used",
			  opt_trouble());
	for (char **variable = environ; *variable; variable++) {
		struct setting_variable setting;

		if (setting_variable(*variable, &setting) && setting.meant)
			cli_usage("there is no setting MEMTRACE_%s; did you mean MEMTRACE_%s?",
				  setting.name, setting.meant);
	}
	return 0;
}

/*
 * --- the child: started with the library preloaded; signals are passed on to it ---
 *
 * Ctrl-C in the terminal signals the whole process group, which includes the child. If
 * memtrace also passed that signal on, the child would be interrupted twice.
 */

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

enum { FORWARDED = COUNT_OF(forwarded) };

static struct {
	volatile sig_atomic_t pid;
} child;

static void pass_on(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (child.pid && info->si_code != SI_KERNEL)
		kill(child.pid, number);
	errno = saved;
}

static void handle_all(struct sigaction *before)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = pass_on;
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &before[i]);
		/* An ignored signal, as under nohup, stays ignored, here and in the child. */
		if (before[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static void restore_all(const struct sigaction *before)
{
	for (int i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &before[i], NULL);
}

/* In the child: exec closes the pipe `report` or, if it fails, errno is written to the pipe. */
__attribute__((noreturn)) static void
start(const struct child_run *run, const struct sigaction *before, const sigset_t *mask, int report)
{
	int error;

	restore_all(before);
	sigprocmask(SIG_SETMASK, mask, NULL);
	setenv("LD_PRELOAD", run->preload, 1);
	execvp(run->command[0], run->command);
	error = errno;
	fd_write_all(report, (const char *)&error, sizeof(error));
	_exit(127);
}

static void wait_for_child(struct child_run *run)
{
	int status;

	while (waitpid(run->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return;
	}
	if (WIFSIGNALED(status)) {
		run->ending.signal = (uint64_t)WTERMSIG(status);
		run->exit_status = 128 + WTERMSIG(status);
	} else {
		run->ending.status = (uint64_t)WEXITSTATUS(status);
		run->exit_status = WEXITSTATUS(status);
	}
}

static int run_child(struct child_run *run)
{
	struct sigaction before[FORWARDED];
	sigset_t all, mask;
	int report[2];

	run->ending = (struct ending){ UINT64_MAX, UINT64_MAX };
	if (pipe2(report, O_CLOEXEC))
		return err("cannot create a pipe: %s", strerror(errno));
	run->start = time(NULL);
	/* Signals stay blocked until child.pid is set: the handler passes them on to the child. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	handle_all(before);
	run->pid = fork();
	if (!run->pid)
		start(run, before, &mask, report[1]);
	child.pid = run->pid > 0 ? run->pid : 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(report[1]);
	run->start_ticks = run->pid > 0 ? process_start_ticks(run->pid) : 0;
	if (run->pid < 0) {
		close(report[0]);
		return err("cannot create a process: %s", strerror(errno));
	}
	if (fd_read_all(report[0], (char *)&run->exec_errno, sizeof(int)) != (ssize_t)sizeof(int))
		run->exec_errno = 0;
	close(report[0]);
	wait_for_child(run);
	child.pid = 0;
	restore_all(before);
	return 0;
}

/* --- the command --- */

static int not_started(const struct child_run *run)
{
	cli_usage("%s: %s", run->command[0],
		  run->exec_errno == ENOENT && !strchr(run->command[0], '/')
			  ? "command not found"
			  : strerror(run->exec_errno));
	return run->exec_errno == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

static int status_of_child;

/* Called when memory runs out after the program has ended: exits with the program's status. */
static __attribute__((noreturn)) void end_as_child(void)
{
	run_say("no memory left for the summary of the traces");
	exit(status_of_child);
}

int cmd_run(int argc, char **argv)
{
	const char *values[OPT_IDS] = { NULL };
	struct arg args[OPT_IDS];
	const struct usage usage = { "run", "-- CMD...", about, args, OPT_IDS, 1, 0, true };
	int parsed;
	char library[4096];
	char preload[16384];
	struct child_run run = { .preload = preload };
	int status;

	make_args(args, values);
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed;
	status = set_all(args, values);
	if (status)
		return status;
	if (library_find(library) || library_preload(library, preload, sizeof(preload)))
		return cli_fail(STATUS_UNREADABLE);
	run.command = argv + 1;
	sanitizer_admit(run.command[0]);
	run_before(&run);
	if (run_child(&run))
		return cli_fail(STATUS_UNREADABLE);
	if (run.exec_errno)
		return not_started(&run);
	limits_lift(); /* this run's own traces need no limits against hostile input */
	status_of_child = run.exit_status;
	err_out_of_memory = end_as_child;
	run_finish(&run);
	return run.exit_status;
}
