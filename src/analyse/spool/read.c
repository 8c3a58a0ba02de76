/* The reading half of the spool: a private copy of a file, checked and rolled back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/spool/read.h"
#include "base/text/fd.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "spool/txn.h"

enum {
	COPY_TRIES = 50,
	GROWTH = 1 << 12, /* blocks that a living process's file may grow by while it is read */
};

int read_refuse(char *why, size_t size, const char *path, const char *what)
{
	snprintf(why, size, "%s: %s", path, what);
	return -EINVAL;
}

bool read_changed_since(const struct spool_header *header, int fd)
{
	uint64_t generation = 0;
	uint64_t undo_count = 0;

	if (pread(fd, &generation, sizeof(generation), offsetof(struct spool_header, generation)) !=
		    sizeof(generation) ||
	    pread(fd, &undo_count, sizeof(undo_count), offsetof(struct spool_header, undo_count)) !=
		    sizeof(undo_count))
		return true;
	return generation != atomic_load(&header->generation) || undo_count != header->undo_count;
}

int read_copy(const struct spool *spool, int fd, uint64_t at, uint64_t size)
{
	while (size) {
		ssize_t n = pread(fd, spool->base + at, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

int read_copy_rows(const struct spool *spool, int fd, enum spool_kind kind, uint64_t from,
		   uint64_t to)
{
	uint64_t per_block = spool_per_block(kind);
	int error = 0;

	while (from < to && !error) {
		uint64_t end = MIN(to, (from / per_block + 1) * per_block);
		const char *at = spool_at(spool, kind, from);

		error = read_copy(spool, fd, (uint64_t)(at - spool->base),
				  (end - from) << spool_shift[kind]);
		from = end;
	}
	return error;
}

int read_copy_growing(const struct spool *spool, int fd, uint64_t copied[SPOOL_KINDS])
{
	int error = 0;

	for (unsigned kind = 0; kind < SPOOL_KINDS && !error; kind++) {
		uint64_t count = spool_count(spool, kind);

		if (!spool_only_grows(kind))
			continue;
		error = read_copy_rows(spool, fd, kind, copied[kind], count);
		if (!error)
			copied[kind] = MAX(copied[kind], count);
	}
	return error;
}

/* Are there blocks that came between the question for the file's size and the copy? */
static bool has_grown(const struct spool *spool, int fd)
{
	const struct spool_header *header = (const struct spool_header *)spool->base;
	struct stat status;

	return header->blocks > spool->file_blocks && !fstat(fd, &status) &&
	       (uint64_t)status.st_size >> SPOOL_BLOCK_SHIFT > spool->file_blocks;
}

/*
 * The file's bytes, with the header first: what that counts is there in what comes later. A dead
 * process's file does not change meanwhile. 1 when a living one's has grown too much.
 */
static int copy_file(struct spool *spool, int fd, size_t bytes)
{
	ssize_t n = fd_read_all(fd, spool->base, bytes);

	if (n < 0)
		return (int)n;
	if ((size_t)n < bytes)
		memset(spool->base + n, 0, bytes - (size_t)n);
	if (!read_changed_since((struct spool_header *)spool->base, fd) && !has_grown(spool, fd))
		return 0;
	return read_settle(spool, fd);
}

int read_too_short(int fd, const char *path, char *why, size_t size)
{
	char magic[sizeof(SPOOL_MAGIC) - 1];
	ssize_t n = pread(fd, magic, sizeof(magic), 0);

	/* A trace is taken for a spool more often than a spool is cut. */
	if (n > 0 && memcmp(magic, SPOOL_MAGIC, (size_t)n) != 0)
		return read_refuse(why, size, path, "not a memtrace spool");
	return read_refuse(why, size, path, "too short for a spool: nothing is recorded in it");
}

static void *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* 0, an error, or 1 when the file grew meanwhile: to be loaded anew. */
static int load(struct spool *spool, const char *path, char *why, size_t size)
{
	struct stat status;
	uint64_t claimed;
	/* Not to wait for somebody who writes to a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int error;

	if (fd < 0 || fstat(fd, &status)) {
		error = -errno;
		snprintf(why, size, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return error;
	}
	if (!S_ISREG(status.st_mode)) {
		close(fd);
		return read_refuse(why, size, path, "is no regular file, so no spool");
	}
	spool->file_blocks = (uint64_t)status.st_size >> SPOOL_BLOCK_SHIFT;
	if (spool->file_blocks > SPOOL_BLOCKS)
		spool->file_blocks = SPOOL_BLOCKS;
	/* A file may be longer, by far if it is sparse; what comes meanwhile, has_grown() sees. */
	if (pread(fd, &claimed, sizeof(claimed), offsetof(struct spool_header, blocks)) ==
		    sizeof(claimed) &&
	    claimed >= SPOOL_FIRST_BLOCK && claimed < spool->file_blocks)
		spool->file_blocks = claimed;
	if (spool->file_blocks < SPOOL_FIRST_BLOCK) {
		error = read_too_short(fd, path, why, size);
		close(fd);
		return error;
	}
	spool->reserved = (size_t)(spool->file_blocks + GROWTH) << SPOOL_BLOCK_SHIFT;
	spool->base = reserve(spool->reserved);
	spool->blocks[0] = reserve(sizeof(uint32_t) * SPOOL_BLOCKS * SPOOL_KINDS);
	error = spool->base && spool->blocks[0] ? 0 : -ENOMEM;
	if (!error)
		error = copy_file(spool, fd, (size_t)spool->file_blocks << SPOOL_BLOCK_SHIFT);
	close(fd);
	if (error < 0)
		snprintf(why, size, "%s: %s", path, strerror(-error));
	return error;
}

void read_roll_back(struct spool *spool)
{
	struct spool_header *header = spool->header;

	if (!(atomic_load(&header->generation) & 1))
		return;
	spool->cut = true;
	header->undo_count = MIN(header->undo_count, SPOOL_UNDO);
	txn_cancel(spool);
}

void read_cap_counts(struct spool *spool)
{
	for (unsigned kind = 1; kind < SPOOL_KINDS; kind++) {
		uint64_t most = spool->used[kind] * spool_per_block(kind);

		if (spool->header->count[kind] > most)
			spool->header->count[kind] = most;
	}
}

void read_find_blocks(struct spool *spool)
{
	const uint32_t *owners = (const uint32_t *)(spool->base + SPOOL_OWNERS_AT);
	uint64_t blocks = spool->header->blocks;

	if (blocks > spool->file_blocks)
		blocks = spool->file_blocks;
	for (unsigned kind = 0; kind < SPOOL_KINDS; kind++) {
		spool->blocks[kind] = spool->blocks[0] + (size_t)kind * SPOOL_BLOCKS;
		spool->used[kind] = 0;
	}
	for (uint64_t block = SPOOL_FIRST_BLOCK; block < blocks; block++) {
		uint32_t kind = owners[block] >> 24;
		uint32_t index = owners[block] & 0xffffff;

		if (kind > SPOOL_HEADER && kind < SPOOL_KINDS && index == spool->used[kind])
			spool->blocks[kind][spool->used[kind]++] = (uint32_t)block;
	}
	read_cap_counts(spool);
}

void read_end_texts(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->used[SPOOL_TEXT]; i++) {
		char *block = spool_at(spool, SPOOL_TEXT, (uint64_t)i << SPOOL_BLOCK_SHIFT);

		block[SPOOL_BLOCK - 1] = '\0';
	}
}

int read_check_header(const struct spool_header *header, const char *path, char *why, size_t size)
{
	static const char nothing[sizeof(header->magic)];

	if (!memcmp(header->magic, nothing, sizeof(nothing)))
		return read_refuse(why, size, path,
				   "nothing is recorded in it: its process ended as it began, or "
				   "begins just now");
	if (memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)))
		return read_refuse(why, size, path, "not a memtrace spool");
	if (header->version > SPOOL_VERSION)
		return read_refuse(why, size, path,
				   "made by a newer memtrace: read it with that one");
	if (header->version < SPOOL_VERSION && header->version)
		return read_refuse(why, size, path,
				   "made by an older memtrace: read it with that one");
	if (header->version != SPOOL_VERSION || header->header_bytes != sizeof(struct spool_header))
		return read_refuse(why, size, path,
				   "a damaged spool, or one of another machine's byte order");
	return 0;
}

int spool_open(struct spool *spool, const char *path, char *why, size_t size)
{
	int error = 1;

	memset(spool, 0, sizeof(*spool));
	for (unsigned i = 0; error == 1 && i < COPY_TRIES; i++) {
		spool_close(spool);
		snprintf(spool->path, sizeof(spool->path), "%s", path);
		error = load(spool, path, why, size);
	}
	if (error < 0)
		goto out;
	spool->header = (struct spool_header *)spool->base;
	error = read_check_header(spool->header, path, why, size);
	if (error)
		goto out;
	read_roll_back(spool);
	read_find_blocks(spool);
	read_end_texts(spool);
	return 0;
out:
	spool_close(spool);
	return error;
}

int spool_read(struct spool *spool, const char *path, char *why, size_t size)
{
	int error = spool_open(spool, path, why, size);

	if (error)
		return error;
	pending_settle_left(spool);
	timeline_settle(spool);
	return 0;
}

/* --- its process --- */

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
