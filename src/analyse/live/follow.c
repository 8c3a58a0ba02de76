/*
 * Looking at a spool that is being written: a copy of its tables, kept up to date.
 *
 * The recipe is read.c's: what was copied is whole if no transaction began, went on or ended
 * meanwhile, and a transaction that stands still (its process was killed or stopped inside it) is
 * taken back in the copy.
 */
#include "analyse/live/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/spool/read.h"
#include "ledger/pending.h"

enum {
	WHOLE_TRIES = 8,    /* to copy sums and cells of one moment */
	SUMS_TRIES = 4096,  /* to copy sums of one moment: some microseconds each */
	FEWEST_BLOCKS = 64, /* of addresses */
};

/* Whose rows change; the last one's are asked for only to know what dies in the backlog. */
static const enum spool_kind changing[] = { SPOOL_STACK, SPOOL_CELL, SPOOL_NODE };

/* How many wait once an update that is under way has been taken back: it may have booked some. */
static uint64_t waiting_n(const struct spool *spool)
{
	const struct spool_header *header = spool->header;
	uint64_t kept = atomic_load(&header->generation) & 1 ? header->undo_count : 0;

	for (uint64_t i = 0; i < MIN(kept, SPOOL_UNDO); i++) {
		if (header->undo[i].where == offsetof(struct spool_header, backlog.booked))
			return header->backlog.put - header->undo[i].old;
	}
	return waiting_count(&header->backlog);
}

static unsigned changing_n(const struct spool *spool)
{
	return sizeof(changing) / sizeof(changing[0]) - !waiting_n(spool);
}

/* Nobody waits for more than so many bytes to be copied in vain. */
static const uint64_t VAIN_BYTES = 16 << 20;

static size_t lists_size(void)
{
	return sizeof(uint32_t) * SPOOL_BLOCKS * SPOOL_KINDS;
}

static void *reserve(size_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A position in the copy is a position in the file; what is not followed is never touched. */
static int reserve_addresses(struct follow *follow)
{
	follow->chunk = reserve(SPOOL_BLOCK, PROT_READ | PROT_WRITE);
	follow->spool.blocks[0] = reserve(lists_size(), PROT_READ | PROT_WRITE);
	if (!follow->chunk || !follow->spool.blocks[0])
		return -ENOMEM;
	for (uint64_t blocks = SPOOL_BLOCKS; blocks >= FEWEST_BLOCKS; blocks /= 2) {
		follow->addresses = (size_t)blocks << SPOOL_BLOCK_SHIFT;
		follow->spool.base = reserve(follow->addresses, PROT_NONE);
		if (follow->spool.base)
			return 0;
	}
	return -ENOMEM;
}

static int said(char *why, size_t size, const char *path, int error)
{
	snprintf(why, size, "%s: %s", path, strerror(-error));
	return error;
}

static int copy(const struct follow *follow, uint64_t at, uint64_t size)
{
	return read_copy(&follow->spool, follow->fd, at, size);
}

/* The old values are of interest only while a transaction is under way. */
static int copy_header(struct follow *follow)
{
	struct spool_header *header = follow->spool.header;
	int error = copy(follow, 0, offsetof(struct spool_header, undo));

	if (!error && atomic_load(&header->generation) & 1)
		error = copy(follow, 0, sizeof(*header));
	return error;
}

/* Room in the copy for all that the file has. */
static int make_blocks(struct follow *follow)
{
	struct spool *spool = &follow->spool;
	struct stat status;
	uint64_t blocks;

	if (fstat(follow->fd, &status))
		return -errno;
	blocks = MIN((uint64_t)status.st_size >> SPOOL_BLOCK_SHIFT, SPOOL_BLOCKS);
	/* The file is larger before its header says so. */
	if (blocks < SPOOL_FIRST_BLOCK || blocks < spool->header->blocks)
		return -ENODATA;
	if (blocks << SPOOL_BLOCK_SHIFT > follow->addresses)
		return -ENOMEM;
	if (blocks <= spool->file_blocks)
		return 0;
	if (mprotect(spool->base, blocks << SPOOL_BLOCK_SHIFT, PROT_READ | PROT_WRITE))
		return -errno;
	spool->file_blocks = blocks;
	spool->reserved = (size_t)blocks << SPOOL_BLOCK_SHIFT;
	return 0;
}

/* Which blocks are whose. Those of tables that are not followed are nobody's here. */
static int find_blocks(struct follow *follow)
{
	struct spool *spool = &follow->spool;
	uint64_t blocks = spool->header->blocks;
	int error = 0;

	if (blocks > follow->owned)
		error = copy(follow, SPOOL_OWNERS_AT + follow->owned * sizeof(uint32_t),
			     (blocks - follow->owned) * sizeof(uint32_t));
	if (error)
		return error;
	follow->owned = MAX(blocks, follow->owned);
	read_find_blocks(spool);
	return 0;
}

static int copy_whole(struct follow *follow, enum spool_kind kind)
{
	return read_copy_rows(&follow->spool, follow->fd, kind, 0,
			      spool_count(&follow->spool, kind));
}

static bool unchanged(const struct follow *follow)
{
	return !read_changed_since(follow->spool.header, follow->fd);
}

/* Header and sums of one moment, or of the last one tried. 0, 1 when it was none, or an error. */
static int copy_sums(struct follow *follow, unsigned tries)
{
	int error = 0;

	for (unsigned i = 0; i < tries && !error; i++) {
		error = copy_header(follow);
		if (!error && follow->spool.header->blocks != follow->owned) {
			error = make_blocks(follow);
			if (!error)
				error = find_blocks(follow);
		} else if (!error) {
			read_cap_counts(&follow->spool);
		}
		if (!error)
			error = copy_whole(follow, SPOOL_SCOPE);
		if (!error && unchanged(follow))
			return 0;
	}
	return error ? error : 1;
}

/* Sums, and all that was booked under stacks, of one moment. */
static int copy_all(struct follow *follow)
{
	int error = copy_sums(follow, 1);

	if (error < 0)
		return error;
	for (unsigned i = 0; i < changing_n(&follow->spool) && error >= 0; i++) {
		int failed = copy_whole(follow, changing[i]);

		error = failed ? failed : error;
	}
	return !error && unchanged(follow) ? 0 : error < 0 ? error : 1;
}

static uint64_t changing_bytes(const struct spool *spool)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < changing_n(spool); i++)
		bytes += spool_count(spool, changing[i]) << spool_shift[changing[i]];
	return bytes;
}

/* Is all as it was at the last look? The header may say more than then all the same; what waited
 * has been booked in the copy. */
static bool is_same(const struct follow *follow)
{
	const struct spool_header *header = follow->spool.header;
	uint64_t generation = atomic_load(&header->generation);

	return !follow->torn && !(generation & 1) && generation == follow->generation &&
	       !waiting_count(&header->backlog);
}

static int copy_tables(struct follow *follow)
{
	int error = copy_header(follow);

	if (!error)
		error = make_blocks(follow);
	if (error)
		return error;
	if (is_same(follow)) {
		read_cap_counts(&follow->spool);
		return read_copy_growing(&follow->spool, follow->fd, follow->copied);
	}
	error = 1;
	for (unsigned i = 0; i < WHOLE_TRIES && error == 1; i++) {
		if (i * changing_bytes(&follow->spool) > VAIN_BYTES)
			break;
		error = copy_all(follow);
	}
	follow->torn = error == 1;
	if (follow->torn)
		error = copy_sums(follow, SUMS_TRIES);
	follow->blurred = error == 1;
	return error < 0 ? error : read_copy_growing(&follow->spool, follow->fd, follow->copied);
}

/* What is not followed has no rows. */
static void forget_others(struct spool *spool)
{
	static const enum spool_kind others[] = { SPOOL_NODE, SPOOL_BUCKET,  SPOOL_CURVE,
						  SPOOL_CALL, SPOOL_WITNESS, SPOOL_ACTION,
						  SPOOL_SPAN, SPOOL_OOM,     SPOOL_USED };

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		/* Nodes may be asked for next time. */
		if (others[i] != SPOOL_NODE)
			spool->used[others[i]] = 0;
		spool->header->count[others[i]] = 0;
	}
}

int follow_look(struct follow *follow, char *why, size_t size)
{
	struct spool *spool = &follow->spool;
	int error = copy_tables(follow);

	if (error == -ENODATA)
		return read_refuse(why, size, spool->path,
				   "is cut short: somebody else has truncated it");
	if (error)
		return said(why, size, spool->path, error);
	error = read_check_header(spool->header, spool->path, why, size);
	if (error)
		return error;
	follow->generation = atomic_load(&spool->header->generation);
	read_roll_back(spool);
	read_find_blocks(spool);
	read_end_texts(spool);
	pending_settle_left(spool);
	forget_others(spool);
	return 0;
}

/* --- opening --- */

static int open_file(struct follow *follow, const char *path, char *why, size_t size)
{
	struct stat status;

	follow->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (follow->fd < 0 || fstat(follow->fd, &status))
		return said(why, size, path, -errno);
	if (!S_ISREG(status.st_mode))
		return read_refuse(why, size, path, "is no regular file, so no spool");
	if ((uint64_t)status.st_size < (uint64_t)SPOOL_FIRST_BLOCK << SPOOL_BLOCK_SHIFT)
		return read_too_short(follow->fd, path, why, size);
	return 0;
}

int follow_open(struct follow *follow, const char *path, char *why, size_t size)
{
	struct spool *spool = &follow->spool;
	int error;

	memset(follow, 0, sizeof(*follow));
	follow->generation = 1;
	snprintf(spool->path, sizeof(spool->path), "%s", path);
	error = open_file(follow, path, why, size);
	if (error)
		goto out;
	error = reserve_addresses(follow);
	if (!error && mprotect(spool->base, SPOOL_BLOCK, PROT_READ | PROT_WRITE))
		error = -errno;
	spool->header = (struct spool_header *)spool->base;
	if (!error)
		error = copy_header(follow);
	if (error) {
		said(why, size, path, error);
		goto out;
	}
	/* Another file's bytes must not be taken for counts. */
	error = read_check_header(spool->header, path, why, size);
	if (!error)
		error = follow_look(follow, why, size);
out:
	if (error)
		follow_close(follow);
	return error;
}

void follow_close(struct follow *follow)
{
	if (follow->spool.base)
		munmap(follow->spool.base, follow->addresses);
	if (follow->spool.blocks[0])
		munmap(follow->spool.blocks[0], lists_size());
	if (follow->chunk)
		munmap(follow->chunk, SPOOL_BLOCK);
	if (follow->fd >= 0)
		close(follow->fd);
	memset(follow, 0, sizeof(*follow));
	follow->fd = -1;
}
