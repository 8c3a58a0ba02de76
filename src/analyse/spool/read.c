/* Reads a spool: makes a private copy, checks it, and takes back an unfinished update. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/spool/read.h"
#include "spool/txn.h"

int read_failed(const char *path, int error)
{
	err("%s: %s", path, strerror(-error));
	return error;
}

static int copy_bytes(const struct spool *spool, const struct read_progress *reading, uint64_t at,
		      uint64_t size)
{
	while (size) {
		ssize_t n = pread(reading->fd, spool->base + at, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

int read_rows(const struct spool *spool, const struct read_progress *reading, enum spool_kind kind,
	      uint64_t from, uint64_t to)
{
	uint64_t per_block = spool_per_block(kind);
	int error = 0;

	while (from < to && !error) {
		uint64_t end = MIN(to, (from / per_block + 1) * per_block);
		const char *at = spool_at(spool, kind, from);

		error = copy_bytes(spool, reading, (uint64_t)(at - spool->base),
				   (end - from) << spool_shift[kind]);
		from = end;
	}
	return error;
}

int read_growing(const struct spool *spool, struct read_progress *reading)
{
	int error = 0;

	for (unsigned kind = 0; kind < SPOOL_KINDS && !error; kind++) {
		uint64_t count = spool_count(spool, kind);

		if (!spool_only_grows(kind))
			continue;
		error = read_rows(spool, reading, kind, reading->copied[kind], count);
		if (!error)
			reading->copied[kind] = MAX(reading->copied[kind], count);
	}
	return error;
}

bool read_changed(const struct spool *spool, const struct read_progress *reading)
{
	const struct spool_header *header = spool->header;
	uint64_t generation = 0;
	uint64_t undo_count = 0;

	if (pread(reading->fd, &generation, sizeof(generation),
		  offsetof(struct spool_header, generation)) != sizeof(generation) ||
	    pread(reading->fd, &undo_count, sizeof(undo_count),
		  offsetof(struct spool_header, undo_count)) != sizeof(undo_count))
		return true;
	return generation != atomic_load(&header->generation) || undo_count != header->undo_count;
}

/* --- the header --- */

/* Makes each table's list of blocks from the file's list of owners, which has the table and
 * position of each block. A table ends at the first block that is missing, and its count is reduced
 * to the elements for which its blocks have room. */
static void find_blocks(struct spool *spool)
{
	const uint32_t *owners = (const uint32_t *)(spool->base + SPOOL_OWNERS_AT);
	uint64_t *count = spool->header->count;

	memset(spool->used, 0, sizeof(spool->used));
	for (uint64_t block = SPOOL_FIRST_BLOCK; block < spool->file_blocks; block++) {
		uint32_t kind = owners[block] >> 24;
		uint32_t index = owners[block] & 0xffffff;

		if (kind > SPOOL_HEADER && kind < SPOOL_KINDS && index == spool->used[kind])
			spool->blocks[kind][spool->used[kind]++] = (uint32_t)block;
	}
	for (unsigned kind = 1; kind < SPOOL_KINDS; kind++)
		count[kind] = MIN(count[kind], spool->used[kind] * spool_per_block(kind));
}

/* Makes `blocks` blocks of the copy writable; the first spool->reserved bytes already are. */
static int make_room(struct spool *spool, const struct read_progress *reading, uint64_t blocks)
{
	size_t size = (size_t)blocks << SPOOL_BLOCK_SHIFT;

	if (size > reading->addresses)
		return -ENOMEM;
	if (size <= spool->reserved)
		return 0;
	if (mprotect(spool->base, size, PROT_READ | PROT_WRITE))
		return -errno;
	spool->reserved = size;
	return 0;
}

int read_header(struct spool *spool, struct read_progress *reading)
{
	const struct spool_header *header = spool->header;
	struct stat status;
	uint64_t owned = reading->owned;
	int error = copy_bytes(spool, reading, 0, offsetof(struct spool_header, undo));

	/* The undo log is needed only if an update is unfinished. */
	if (!error && atomic_load(&header->generation) & 1)
		error = copy_bytes(spool, reading, 0, sizeof(*header));
	if (!error && fstat(reading->fd, &status))
		error = -errno;
	if (error)
		return error;
	/* A file grows before the header counts the new blocks, so a shorter file was truncated. */
	spool->file_blocks = MIN((uint64_t)status.st_size >> SPOOL_BLOCK_SHIFT, SPOOL_BLOCKS);
	spool->file_blocks = MIN(spool->file_blocks, header->blocks);
	error = make_room(spool, reading, spool->file_blocks);
	if (!error && spool->file_blocks > owned) {
		error = copy_bytes(spool, reading, SPOOL_OWNERS_AT + owned * sizeof(uint32_t),
				   (spool->file_blocks - owned) * sizeof(uint32_t));
		reading->owned = error ? owned : spool->file_blocks;
	}
	find_blocks(spool);
	return error;
}

void read_roll_back(struct spool *spool)
{
	struct spool_header *header = spool->header;

	if (atomic_load(&header->generation) & 1) {
		spool->cut = true;
		header->undo_count = MIN(header->undo_count, SPOOL_UNDO);
		txn_cancel(spool);
	}
	find_blocks(spool);
	/* A text must end inside its block, because it is read as a C string. */
	for (uint32_t i = 0; i < spool->used[SPOOL_TEXT]; i++) {
		char *block = spool_at(spool, SPOOL_TEXT, (uint64_t)i << SPOOL_BLOCK_SHIFT);

		block[SPOOL_BLOCK - 1] = '\0';
	}
}

int read_check_header(const struct spool_header *header, const char *path)
{
	static const char nothing[sizeof(header->magic)];

	if (!memcmp(header->magic, nothing, sizeof(nothing)))
		return err("%s: nothing is recorded in this spool: the process ended during "
			   "startup, or is still starting",
			   path);
	if (memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)))
		return err("%s: not a memtrace spool", path);
	if (header->version > SPOOL_VERSION)
		return err(
			"%s: written by a newer version of memtrace; use that version to read it",
			path);
	if (header->version < SPOOL_VERSION && header->version)
		return err(
			"%s: written by an older version of memtrace; use that version to read it",
			path);
	if (header->version != SPOOL_VERSION || header->header_bytes != sizeof(struct spool_header))
		return err("%s: damaged, or written on a machine with another byte order", path);
	return 0;
}

/* Returns the error for a file that is shorter than SPOOL_FIRST_BLOCK blocks. */
static int too_short(int fd, const char *path)
{
	char magic[sizeof(SPOOL_MAGIC) - 1];
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	/* Most such files are traces given by mistake, not truncated spools. */
	if (n > 0 && memcmp(magic, SPOOL_MAGIC, (size_t)n) != 0)
		return err("%s: not a memtrace spool", path);
	return err("%s: too short for a spool, so nothing is recorded in it", path);
}

static int open_file(struct read_progress *reading, const char *path)
{
	struct stat status;

	/* O_NONBLOCK: open() of a FIFO must not wait for a writer. */
	reading->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (reading->fd < 0 || fstat(reading->fd, &status))
		return read_failed(path, -errno);
	if (!S_ISREG(status.st_mode))
		return err("%s: not a regular file, so it cannot be a memtrace spool", path);
	if (status.st_size < (off_t)SPOOL_FIRST_BLOCK << SPOOL_BLOCK_SHIFT)
		return too_short(reading->fd, path);
	return 0;
}

/* Reserves addresses for the largest spool, as the file may grow but the copy cannot move. */
static int reserve_addresses(struct spool *spool, struct read_progress *reading)
{
	int error = spool_reserve(spool, SPOOL_BLOCKS);

	if (error)
		return error;
	reading->addresses = spool->reserved;
	spool->reserved = 0;
	spool->header = (struct spool_header *)spool->base;
	return make_room(spool, reading, SPOOL_FIRST_BLOCK);
}

int read_open(struct spool *spool, struct read_progress *reading, const char *path)
{
	int error;

	memset(spool, 0, sizeof(*spool));
	memset(reading, 0, sizeof(*reading));
	snprintf(spool->path, sizeof(spool->path), "%s", path);
	error = open_file(reading, path);
	if (error)
		goto out;
	error = reserve_addresses(spool, reading);
	/* Checks the header first, as other files have arbitrary bytes in place of its counts. */
	if (!error)
		error = copy_bytes(spool, reading, 0, sizeof(*spool->header));
	error = error ? read_failed(path, error) : read_check_header(spool->header, path);
out:
	if (error)
		read_close(spool, reading);
	return error;
}

void read_close(struct spool *spool, struct read_progress *reading)
{
	spool->reserved = reading->addresses;
	spool_close(spool);
	if (reading->fd >= 0)
		close(reading->fd);
	reading->fd = -1;
}

bool spool_writer_elsewhere(const struct spool *spool)
{
	uint64_t here = process_place();

	return here && spool->header->place && spool->header->place != here;
}

bool spool_writer_lives(const struct spool *spool)
{
	return spool->header->boot_pid_start && !spool_writer_elsewhere(spool) &&
	       process_start_ticks((int)spool->header->pid) == spool->header->boot_pid_start;
}

enum trace_exit spool_exit(const struct spool *spool)
{
	if (spool_writer_lives(spool))
		return TRACE_RUNNING;
	return spool->header->end ? TRACE_EXIT : TRACE_UNFINISHED;
}
