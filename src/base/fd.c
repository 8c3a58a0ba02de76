/* Files and descriptors: new ones, whole writes and reads. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int fd_create(const char *path)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags, 0600);
	struct stat status;

	if (fd < 0)
		return -errno;
	/* A umask that takes the owner's rights: the spool is opened again as it grows, and a
	 * trace is there to be read. Where modes cannot be set there is none to mend. */
	if (!fstat(fd, &status) && (status.st_mode & 0600) != 0600)
		fchmod(fd, 0600);
	return fd;
}

/*
 * Not every file system can promise that by itself (and not every sandbox lets it be asked for); of
 * those that cannot, some have links, which fail on an existing name, too. A bucket that is mounted
 * has none: there the name is taken first.
 */
int fd_rename_new(const char *from, const char *to)
{
	int error, fd;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != EPERM)
		return -errno;
	if (!link(from, to))
		return unlink(from) ? -errno : 0;
	if (errno == EEXIST)
		return -EEXIST;
	fd = fd_create(to);
	if (fd < 0)
		return fd;
	close(fd);
	if (!rename(from, to))
		return 0;
	error = -errno;
	unlink(to);
	return error;
}

int fd_write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

ssize_t fd_read_all(int fd, char *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, bytes + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

ssize_t fd_read_file(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = fd_read_all(fd, bytes, size - 1);
	close(fd);
	bytes[length < 0 ? 0 : length] = '\0';
	return length;
}
