/* A line on the host's stderr. */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/signals.h"
#include "base/start.h"
#include "base/start_call.h"
#include "base/text.h"
#include "base/utf8.h"

static START_DATA struct {
	bool ready, quiet;
	dev_t device;
	ino_t inode;
} log_state;

START_CODE void log_init(bool quiet)
{
	struct stat status = { 0 };

	log_state.quiet = quiet;
	log_state.ready = !start_call(SYS_fstat, STDERR_FILENO, &status);
	if (log_state.ready) {
		log_state.device = status.st_dev;
		log_state.inode = status.st_ino;
	}
}

/* A program may have closed descriptor 2 and been given it again for a file of its own. */
static bool still_stderr(void)
{
	struct stat status;

	return log_state.ready && !log_state.quiet && !fstat(STDERR_FILENO, &status) &&
	       status.st_dev == log_state.device && status.st_ino == log_state.inode;
}

enum {
	PIECE = 4096, /* PIPE_BUF: a pipe that can be written to takes as much without waiting */
	PATIENCE_MS = 100,
};

/* A pipe that nobody reads any more, or a terminal that is stopped, would hold the host for ever.
 */
static bool takes_a_piece(void)
{
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	int count = poll(&ready, 1, PATIENCE_MS);

	/* EINVAL: the limit of descriptors is none, which a write does not mind. */
	return count > 0 || (count < 0 && errno == EINVAL);
}

static void write_out(const char *text)
{
	int cancel = cancel_hold();
	size_t left = strlen(text);
	struct signals_held held;

	signals_hold(&held, SIGPIPE);
	while (left && takes_a_piece()) {
		size_t piece = left < PIECE ? left : PIECE;

		if (fd_write_all(STDERR_FILENO, text, piece))
			break;
		text += piece;
		left -= piece;
	}
	signals_release(&held);
	cancel_release(cancel);
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
	utf8_clean(line); /* paths and programs' names are in it */
	text_append(line, sizeof(line), "\n");
	write_out(line);
	errno = saved;
}

void log_lines(const char *lines)
{
	int saved = errno;

	if (still_stderr())
		write_out(lines);
	errno = saved;
}
