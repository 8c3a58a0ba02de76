/* The end: the document from the spool, under its final name. */
#include "capture/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/signals.h"
#include "base/text.h"
#include "render/document.h"

enum { NAMES = 1000 };

/* A name of its own for the document while it is written: 0 and the descriptor, or -errno. */
static int open_partial(const char *output, char *partial, size_t size, int *fd)
{
	for (unsigned n = 0; n < NAMES; n++) {
		int error = path_numbered(partial, size, output, n);

		if (error)
			return error;
		text_append(partial, size, ".partial");
		*fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (*fd >= 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Somebody else's file may have appeared meanwhile: then the next number. */
static int rename_new(const char *partial, const char *output, char *final, size_t size)
{
	for (unsigned n = 0; n < NAMES; n++) {
		int error = path_numbered(final, size, output, n);

		if (error)
			return error;
		if (!renameat2(AT_FDCWD, partial, AT_FDCWD, final, RENAME_NOREPLACE))
			return 0;
		if (errno == EEXIST)
			continue;
		/* File systems that cannot promise it: a link fails on an existing name, too. */
		if (errno == EINVAL && !link(partial, final)) {
			unlink(partial);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

void finish_write(struct spool *spool, const struct paths *paths)
{
	char partial[4096];
	char final[4096];
	struct signals_held held;
	int fd;
	int error = open_partial(paths->output, partial, sizeof(partial), &fd);

	/* A file size limit must be an error of write(), not the end of the host. */
	signals_hold(&held, SIGXFSZ);
	if (!error) {
		error = document_write(spool, fd, DOCUMENT_EVENTS, "exit");
		if (close(fd) && !error)
			error = -errno;
		if (!error)
			error = rename_new(partial, paths->output, final, sizeof(final));
		if (error)
			unlink(partial);
	}
	signals_release(&held);
	if (error) {
		log_say(paths->output, " could not be written: ", facts_error(error),
			"; what was recorded is kept in ", paths->spool, " (memtrace recover)",
			NULL);
		return;
	}
	spool_unlink(spool);
	if (opt_flag(OPT_ID_announce))
		log_say("wrote ", final, NULL);
}
