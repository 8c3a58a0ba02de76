/*
 * Writes a spool: a file that grows in steps inside one reserved range of addresses.
 *
 * No descriptor stays open: daemons close all that they find, and if the program then reused the
 * number, the spool would be written into the program's file. Each growth opens the path again, in
 * a descriptor table that the program does not share (base/guest/own_stack_and_thread.h), and
 * compares device and inode.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>

#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/signals.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "spool/spool.h"

enum { GROW_BLOCKS = 8, FEWEST_BLOCKS = 64 };

static void *map_anonymous(size_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int spool_reserve(struct spool *spool, uint64_t most)
{
	size_t lists = sizeof(uint32_t) * SPOOL_BLOCKS * SPOOL_KINDS;
	uint32_t *list = map_anonymous(lists, PROT_READ | PROT_WRITE);

	if (!list)
		return -ENOMEM;
	for (unsigned kind = 0; kind < SPOOL_KINDS; kind++)
		spool->blocks[kind] = list + (size_t)kind * SPOOL_BLOCKS;
	for (uint64_t blocks = most; blocks >= FEWEST_BLOCKS; blocks /= 2) {
		spool->reserved = (size_t)blocks << SPOOL_BLOCK_SHIFT;
		spool->base = map_anonymous(spool->reserved, PROT_NONE);
		if (spool->base)
			return 0;
	}
	return -ENOMEM;
}

/* At most an eighth of a limited address space (ulimit -v), since the program needs the rest. */
static uint64_t most_blocks(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit))
		return SPOOL_BLOCKS;
	return MIN(limit.rlim_cur / 8 / SPOOL_BLOCK,
		   SPOOL_BLOCKS); /* without a limit, too: RLIM_INFINITY is the largest rlim_t */
}

/* Checks the limit first: fallocate() past RLIMIT_FSIZE raises SIGXFSZ and ends the program. */
static int claim_space(int fd, uint64_t from, uint64_t to)
{
	struct rlimit limit;
	int error;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && to > limit.rlim_cur)
		return -EFBIG;
	do
		error = (int)raw_call6(SYS_fallocate, fd, 0, (long)from, (long)(to - from), 0, 0);
	while (error == -EINTR);
	return error;
}

static int map_file(struct spool *spool, int fd, uint64_t from, uint64_t to)
{
	void *p = mmap(spool->base + from, to - from, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED, fd, (off_t)from);

	if (p == MAP_FAILED)
		return -errno;
	/* A forked child gets no mapping, because its writes must not reach its parent's trace. */
	if (madvise(p, to - from, MADV_DONTFORK))
		return -errno;
	return 0;
}

static int reopen(const struct spool *spool)
{
	struct stat status;
	int fd = fd_open(spool->path, O_RDWR | O_NOFOLLOW);

	if (fd < 0)
		return fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -EACCES ? fd
											: -ESTALE;
	if (fd_stat(fd, &status) || status.st_dev != spool->device ||
	    status.st_ino != spool->inode) {
		fd_close(fd);
		return -ESTALE;
	}
	return fd;
}

struct growth {
	struct spool *spool;
	uint64_t from, to;
};

static int grow_file(void *argument)
{
	const struct growth *growth = argument;
	int fd = reopen(growth->spool);
	int error;

	if (fd < 0)
		return fd;
	error = claim_space(fd, growth->from, growth->to)
			?: map_file(growth->spool, fd, growth->from, growth->to);
	fd_close(fd);
	return error;
}

static int grow_blocks(struct spool *spool, uint64_t blocks)
{
	struct growth growth = { spool, spool->file_blocks << SPOOL_BLOCK_SHIFT,
				 blocks << SPOOL_BLOCK_SHIFT };
	int error;

	if (growth.to > spool->reserved)
		return -EOVERFLOW;
	error = own_thread_run(grow_file, &growth, false);
	if (!error)
		spool->file_blocks = blocks;
	return error;
}

void spool_publish(struct spool *spool)
{
	atomic_thread_fence(memory_order_release);
	memcpy(spool->header->magic, SPOOL_MAGIC, sizeof(spool->header->magic));
}

static int create(void *argument)
{
	struct spool *spool = argument;
	struct stat status;
	int error;
	int fd = fd_create(spool->path);

	if (fd < 0)
		return fd;
	error = fd_stat(fd, &status);
	fd_close(fd);
	spool->device = status.st_dev;
	spool->inode = status.st_ino;
	error = error ?: spool_reserve(spool, most_blocks()) ?: grow_blocks(spool, SPOOL_FIRST_BLOCK);
	if (error) {
		spool_close(spool);
		fd_unlink(spool->path);
		return error;
	}
	spool->header = (struct spool_header *)spool->base;
	spool->header->version = SPOOL_VERSION;
	spool->header->header_bytes = sizeof(*spool->header);
	spool->header->blocks = SPOOL_FIRST_BLOCK;
	return 0;
}

int spool_create(struct spool *spool, const char *path)
{
	memset(spool, 0, sizeof(*spool));
	if (text_copy(spool->path, sizeof(spool->path), path) != strlen(path))
		return -ENAMETOOLONG;
	return own_thread_run(create, spool, false);
}

static int extend(struct spool *spool, enum spool_kind kind, uint64_t wanted)
{
	uint32_t *owners = (uint32_t *)(spool->base + SPOOL_OWNERS_AT);

	while (spool->used[kind] < wanted) {
		uint64_t block = spool->header->blocks;
		int error = 0;

		if (block == spool->file_blocks)
			error = grow_blocks(spool, block + GROW_BLOCKS);
		if (error)
			return error;
		spool->blocks[kind][spool->used[kind]] = (uint32_t)block;
		owners[block] = (uint32_t)kind << 24 | spool->used[kind];
		spool->used[kind]++;
		__atomic_store_n(&spool->header->blocks, block + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

int spool_extend(struct spool *spool, enum spool_kind kind, uint64_t wanted)
{
	if (spool->sealed)
		return -ECANCELED;
	SIGNALS_DEFERRED();
	return extend(spool, kind, wanted);
}

bool spool_append(struct spool *spool, enum spool_kind kind, const void *row)
{
	void *to = spool_next_row(spool, kind);

	if (!to)
		return false;
	memcpy(to, row, (size_t)1 << spool_shift[kind]);
	spool_add_rows(spool, kind, 1);
	return true;
}

void spool_seal(struct spool *spool)
{
	spool->sealed = true;
	memset(spool->used, 0, sizeof(spool->used));
}

static int map_copy(void *argument)
{
	struct spool *spool = argument;
	int fd = reopen(spool);
	void *p;

	if (fd < 0)
		return fd;
	p = mmap(spool->base, spool->file_blocks << SPOOL_BLOCK_SHIFT, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_FIXED, fd, 0);
	fd_close(fd);
	return p == MAP_FAILED ? -ENOMEM : 0;
}

int spool_copy_in_child(struct spool *spool)
{
	size_t size = spool->file_blocks << SPOOL_BLOCK_SHIFT;
	void *p;

	spool->sealed = true;
	/* The child has no mapping here (MADV_DONTFORK); other memory may be here by now. */
	p = mmap(spool->base, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p != (void *)spool->base)
		return -EEXIST;
	return own_thread_run(map_copy, spool, false);
}

enum spool_stop spool_stop_reason(int error)
{
	switch (error) {
	case -EOVERFLOW:
		return SPOOL_TOO_LARGE;
	case -ESTALE:
	case -EACCES: /* the process now runs as another user */
		return SPOOL_VANISHED;
	case -ENOMEM:
		return SPOOL_NO_MEMORY;
	case -EMFILE:
	case -ENFILE:
		return SPOOL_NO_FILES;
	case -EOWNERDEAD:
		return SPOOL_ABANDONED;
	default:
		return SPOOL_NO_SPACE;
	}
}

void spool_close(struct spool *spool)
{
	if (spool->base)
		munmap(spool->base, spool->reserved);
	spool_forget(spool);
}

void spool_forget(struct spool *spool)
{
	if (spool->blocks[0])
		munmap(spool->blocks[0], sizeof(uint32_t) * SPOOL_BLOCKS * SPOOL_KINDS);
	memset(spool->blocks, 0, sizeof(spool->blocks));
	memset(spool->used, 0, sizeof(spool->used));
	spool->base = NULL;
	spool->header = NULL;
	spool->file_blocks = 0;
}

static int remove_file(void *argument)
{
	struct spool *spool = argument;
	int fd = reopen(spool);

	if (fd < 0)
		return fd;
	fd_close(fd);
	return fd_unlink(spool->path);
}

int spool_unlink(struct spool *spool)
{
	return own_thread_run(remove_file, spool, false);
}
