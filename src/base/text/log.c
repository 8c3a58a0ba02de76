/* Writes the library's messages to the stderr of the program that it is loaded into. */
#include "base/text/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/start.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

static START_DATA struct {
	bool ready, quiet;
	dev_t device;
	ino_t inode;
} log_state;

START_CODE void log_init(bool quiet)
{
	struct stat status = { 0 };

	log_state.quiet = quiet;
	log_state.ready = !raw_call(SYS_fstat, STDERR_FILENO, raw_address(&status), 0);
	if (log_state.ready) {
		log_state.device = status.st_dev;
		log_state.inode = status.st_ino;
	}
}

/* True if descriptor 2 is still the file of log_init(), and was not replaced by the program. */
static bool still_stderr(void)
{
	struct stat status;

	return !fd_stat(STDERR_FILENO, &status) && status.st_dev == log_state.device &&
	       status.st_ino == log_state.inode;
}

enum {
	PIECE = 4096, /* PIPE_BUF: a write of this size to a writable pipe does not block */
	PATIENCE_MS = 100,
};

/* Waits up to PATIENCE_MS for a writable stderr: a write to a full pipe might block for ever. */
static bool takes_a_piece(void)
{
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct timespec patience = { 0, PATIENCE_MS * 1000000L };
	long count = raw_call6(SYS_ppoll, raw_address(&ready), 1, raw_address(&patience), 0, 0, 0);

	/* ppoll() fails with EINVAL if the limit of descriptors is 0; write() still works. */
	return count > 0 || count == -EINVAL;
}

/* Runs in own_thread_run(): other threads must not change descriptor 2 between check and write. */
static int write_out(void *lines)
{
	const char *text = lines;
	size_t left = strlen(text);

	if (!still_stderr())
		return 0;
	while (left && takes_a_piece()) {
		size_t piece = left < PIECE ? left : PIECE;

		if (fd_write_all(STDERR_FILENO, text, piece))
			break;
		text += piece;
		left -= piece;
	}
	return 0;
}

struct log_parts {
	const char *first;
	va_list others; /* the arguments after `first`; log_say() waits until they are written */
};

static int join_and_write(void *argument)
{
	struct log_parts *parts = argument;
	char line[2048] = "memtrace: ";

	for (const char *part = parts->first; part;) {
		text_append(line, sizeof(line) - 1, part);
		/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): after va_start() */
		part = va_arg(parts->others, const char *);
	}
	utf8_clean(line); /* names of paths and programs may hold control characters */
	text_append(line, sizeof(line), "\n");
	return write_out(line);
}

void log_say(const char *part, ...)
{
	struct log_parts parts = { .first = part };

	if (!log_state.ready || log_state.quiet)
		return;
	va_start(parts.others, part);
	own_thread_run(join_and_write, &parts, false);
	va_end(parts.others);
}

void log_lines(const char *lines)
{
	if (log_state.ready && !log_state.quiet)
		own_thread_run(write_out, (void *)lines, false);
}
