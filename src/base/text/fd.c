/* Opens, creates, renames, reads and writes files by system calls that bypass libc. */
#include "base/text/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>

#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"

/* fd_stat() needs libc's struct stat to be the kernel's, as on x86-64 and aarch64 (asm/stat.h). */
_Static_assert(sizeof(struct stat) == 144 || sizeof(struct stat) == 128,
	       "libc's struct stat must have the size of the kernel's");

int fd_open(const char *path, int flags)
{
	return (int)raw_call6(SYS_openat, AT_FDCWD, raw_address(path), flags | O_CLOEXEC | O_NOCTTY,
			      0600, 0, 0);
}

int fd_close(int fd)
{
	return (int)raw_call(SYS_close, fd, 0, 0);
}

int fd_stat(int fd, struct stat *status)
{
	return (int)raw_call(SYS_fstat, fd, raw_address(status), 0);
}

int fd_open_regular(const char *path, struct stat *status)
{
	int fd = fd_open(path, O_RDONLY | O_NONBLOCK);
	int error = fd < 0 ? fd : fd_stat(fd, status);

	if (!error && !S_ISREG(status->st_mode))
		error = -EINVAL;
	if (error && fd >= 0)
		fd_close(fd);
	return error ? error : fd;
}

int fd_unlink(const char *path)
{
	return (int)raw_call(SYS_unlinkat, AT_FDCWD, raw_address(path), 0);
}

bool fd_exists(const char *path)
{
	struct stat status = { 0 };

	return !raw_call6(SYS_newfstatat, AT_FDCWD, raw_address(path), raw_address(&status),
			  AT_SYMLINK_NOFOLLOW, 0, 0);
}

int fd_create(const char *path)
{
	int fd = fd_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
	struct stat status = { 0 };

	if (fd < 0)
		return fd;
	/* A umask may have removed the owner's rights, but files are opened again later. Errors are
	 * ignored, because a file system without modes needs no repair. */
	if (!fd_stat(fd, &status) && (status.st_mode & 0600) != 0600)
		raw_call(SYS_fchmod, fd, 0600, 0);
	return fd;
}

/* Not every file system (or sandbox) supports RENAME_NOREPLACE. Creating a hard link fails, too, if
 * the new name exists, so a link is tried next. On file systems without links (a mounted bucket of
 * object storage), an empty file first reserves the new name. */
int fd_rename_new(const char *from, const char *to)
{
	int error = (int)raw_call6(SYS_renameat2, AT_FDCWD, raw_address(from), AT_FDCWD,
				   raw_address(to), RENAME_NOREPLACE, 0);
	int fd;

	if (error != -EINVAL && error != -EPERM && error != -ENOSYS)
		return error;
	error = (int)raw_call6(SYS_linkat, AT_FDCWD, raw_address(from), AT_FDCWD, raw_address(to),
			       0, 0);
	if (!error)
		return fd_unlink(from);
	if (error == -EEXIST)
		return error;
	fd = fd_create(to);
	if (fd < 0)
		return fd;
	fd_close(fd);
	error = (int)raw_call6(SYS_renameat, AT_FDCWD, raw_address(from), AT_FDCWD, raw_address(to),
			       0, 0);
	if (error)
		fd_unlink(to);
	return error;
}

int fd_write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		long n = raw_call(SYS_write, fd, raw_address(bytes), (long)length);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

ssize_t fd_read_all(int fd, char *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		long n = raw_call(SYS_read, fd, raw_address(bytes + used), (long)(size - used));

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

struct reading {
	const char *path;
	char *bytes;
	size_t size;
};

static int read_file(void *argument)
{
	const struct reading *reading = argument;
	int fd = fd_open(reading->path, O_RDONLY);
	int length = fd < 0 ? fd : (int)fd_read_all(fd, reading->bytes, reading->size);

	if (fd >= 0)
		fd_close(fd);
	return length;
}

ssize_t fd_read_file(const char *path, char *bytes, size_t size)
{
	int length = own_thread_run(read_file, &(struct reading){ path, bytes, size - 1 }, false);

	bytes[length < 0 ? 0 : length] = '\0';
	return length;
}
