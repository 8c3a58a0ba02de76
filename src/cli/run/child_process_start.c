/*
 * The child: started with the library preloaded, waited for, signals passed on to it.
 *
 * A signal that the terminal sends (^C) reaches the child by itself, being of our process group;
 * passing it on as well would interrupt it twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/fd.h"
#include "cli/run/child_process.h"
#include "spool/spool.h"

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

enum { FORWARDED = sizeof(forwarded) / sizeof(forwarded[0]) };

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
		/* nohup's SIG_IGN is the child's to inherit, and ours. */
		if (before[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
}

static void restore_all(const struct sigaction *before)
{
	for (int i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &before[i], NULL);
}

/* In the child. What fails is told through the pipe, which a successful exec closes. */
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

int run_child(struct child_run *run)
{
	struct sigaction before[FORWARDED];
	sigset_t all, mask;
	int report[2];

	run->ending = (struct ending){ UINT64_MAX, UINT64_MAX };
	if (pipe2(report, O_CLOEXEC))
		return err("no pipe: %s", strerror(errno));
	run->start = time(NULL);
	/* No signal may arrive between fork and the handler's knowing whom to pass it to. */
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
		return err("no process could be made: %s", strerror(errno));
	}
	if (fd_read_all(report[0], (char *)&run->exec_errno, sizeof(int)) != (ssize_t)sizeof(int))
		run->exec_errno = 0;
	close(report[0]);
	wait_for_child(run);
	child.pid = 0;
	restore_all(before);
	return 0;
}
