/*
 * A file system that gives no space: preloaded, fallocate() fails with the error NOROOM_ERRNO after
 * NOROOM_AFTER calls, but for files below NOROOM_BUT. NOROOM_MAKES is a file that is there from the
 * first call on: what another process has finished meanwhile. With NOROOM_NAMES it is a mounted
 * bucket, which has no links, and no renaming that spares what is there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_below(int fd, const char *directory)
{
	char link[64];
	char path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	return directory && !strncmp(path, directory, strlen(directory));
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
	static int calls;
	const char *after = getenv("NOROOM_AFTER");
	const char *error = getenv("NOROOM_ERRNO");
	const char *made = getenv("NOROOM_MAKES");

	if (made)
		close(open(made, O_CREAT | O_CLOEXEC, 0600));
	if (error && calls++ >= (after ? atoi(after) : 0) && !is_below(fd, getenv("NOROOM_BUT"))) {
		errno = atoi(error);
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
	if (flags && getenv("NOROOM_NAMES")) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
}

int link(const char *from, const char *to)
{
	if (getenv("NOROOM_NAMES")) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
