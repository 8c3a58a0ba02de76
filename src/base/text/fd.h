/*
 * Files and descriptors by system calls that bypass libc (base/guest/raw_call.h). Reads and writes
 * are complete, so that callers get no EINTR and no short counts.
 *
 * Each function returns 0 or -errno, unless its comment says otherwise. In libmemtrace.so a
 * descriptor may be open only inside own_thread_run(), where the traced program cannot close it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens with O_CLOEXEC and O_NOCTTY added to the flags. Returns the descriptor, or -errno. */
int fd_open(const char *path, int flags);

/* Opens a regular file for reading, without waiting for a pipe's writer, and fills *status. Returns
 * the descriptor, -EINVAL if the file is not a regular one, or another -errno. */
int fd_open_regular(const char *path, struct stat *status);

int fd_close(int fd);
int fd_stat(int fd, struct stat *status);
int fd_unlink(const char *path);

/* True if the path exists, even as a dangling symbolic link. */
bool fd_exists(const char *path);

/* Creates a file for reading and writing, with mode 0600 regardless of the umask. Fails if the path
 * exists, even as a symbolic link. Returns the descriptor, or -errno. */
int fd_create(const char *path);

/* Renames a file. Never replaces another: returns 0, -EEXIST if `to` exists, or another -errno. */
int fd_rename_new(const char *from, const char *to);

int fd_write_all(int fd, const char *bytes, size_t length);

/* Reads until the end of the file, at most `size` bytes. Returns the number read, or -errno. */
ssize_t fd_read_all(int fd, char *bytes, size_t size);

/* Reads up to size - 1 bytes of a file and appends a NUL. Returns the number read, or -errno. */
ssize_t fd_read_file(const char *path, char *bytes, size_t size);
