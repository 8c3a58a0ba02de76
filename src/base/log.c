/* A line on the host's stderr. */
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"

static struct {
	bool ready, quiet;
	dev_t device;
	ino_t inode;
} log_state;

void log_init(bool quiet)
{
	struct stat status;
	int saved = errno;

	log_state.quiet = quiet;
	log_state.ready = !fstat(STDERR_FILENO, &status);
	if (log_state.ready) {
		log_state.device = status.st_dev;
		log_state.inode = status.st_ino;
	}
	errno = saved;
}

/* A program may have closed descriptor 2 and been given it again for a file of its own. */
static bool still_stderr(void)
{
	struct stat status;

	return log_state.ready && !log_state.quiet && !fstat(STDERR_FILENO, &status) &&
	       status.st_dev == log_state.device && status.st_ino == log_state.inode;
}

static void write_without_signal(const char *line, size_t length)
{
	struct timespec none = { 0, 0 };
	sigset_t pipe_set;
	sigset_t pending;
	sigset_t old;
	bool was_pending;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &pipe_set, &old))
		return;
	if (fd_write_all(STDERR_FILENO, line, length) == -EPIPE && !was_pending) {
		while (sigtimedwait(&pipe_set, NULL, &none) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void log_say(const char *part, ...)
{
	char line[2048] = "memtrace: ";
	int saved = errno;
	va_list parts;

	if (!still_stderr()) {
		errno = saved;
		return;
	}
	va_start(parts, part);
	for (; part; part = va_arg(parts, const char *))
		text_append(line, sizeof(line) - 1, part);
	va_end(parts);
	text_append(line, sizeof(line), "\n");
	write_without_signal(line, strlen(line));
	errno = saved;
}
