/*
 * Files and descriptors: new ones, and whole writes and reads, so that callers see no EINTR and no
 * short counts.
 *
 * System calls past libc (base/guest/raw_call.h). Each returns 0 or -errno, unless its comment
 * differs. In the library a descriptor exists only within own_thread_run().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The descriptor, or -errno. It is closed on exec and never a terminal of the process. */
int fd_open(const char *path, int flags);

int fd_close(int fd);
int fd_stat(int fd, struct stat *status);
int fd_unlink(const char *path);

/* True if anything has this name, even a link to nothing. */
bool fd_exists(const char *path);

/* A new file for reading and writing, with mode 0600 whatever the umask; nothing that exists is
 * opened or followed. The descriptor, or -errno. */
int fd_create(const char *path);

/* Renames a file to a name that nothing has: 0, or -errno, -EEXIST when something has it. */
int fd_rename_new(const char *from, const char *to);

int fd_write_all(int fd, const char *bytes, size_t length);

/* Reads up to size bytes until the end of the file: the count, or -errno. */
ssize_t fd_read_all(int fd, char *bytes, size_t size);

/* Reads a small file (of /proc, say) and ends it with a NUL: its length, or -errno. */
ssize_t fd_read_file(const char *path, char *bytes, size_t size);
