/*
 * Keeps a copy of a spool's tables up to date, while another process writes the spool.
 *
 * The copy shows one point in time if no transaction of that process began, went on or ended while
 * the copy was made. If a transaction stays unfinished (the process was killed or stopped inside
 * it), the copy shows the state before that transaction.
 */
#include "analyse/live/follow.h"
#include "base/mem/each.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "analyse/input/error.h"
#include "ledger/pending.h"

enum {
	WHOLE_TRIES = 8,   /* attempts to copy all tables in changing[], with no change meanwhile */
	SUMS_TRIES = 4096, /* attempts to copy the sums (SPOOL_SCOPE) alone: microseconds each */
};

/* The copied tables whose rows change. The last one, nodes, is copied only if events wait
 * (pending.h), because adding these events to the sums needs that table. */
static const enum spool_kind changing[] = { SPOOL_SCOPE, SPOOL_STACK, SPOOL_CELL, SPOOL_NODE };

/* Returns how many events wait to be added to the sums (pending.h); if a transaction is unfinished,
 * how many waited before that began. */
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
	return COUNT_OF(changing) - !waiting_n(spool);
}

/* If tables changed while they were copied, all are copied again, until the repeated copies exceed
 * this many bytes in total. */
static const uint64_t VAIN_BYTES = 16 << 20;

/* Reads the header. -ENODATA if the file was truncated to fewer blocks than the header counts. */
static int look_at_header(struct follow *follow)
{
	const struct spool *spool = &follow->spool;
	int error = read_header(&follow->spool, &follow->reading);

	return error || spool->file_blocks >= spool->header->blocks ? error : -ENODATA;
}

/* Copies the sums or, if `whole`, all changing tables. Returns 0, 1 if the writer changed a table
 * meanwhile, or -errno. */
static int copy_changing(struct follow *follow, bool whole)
{
	struct spool *spool = &follow->spool;
	int error = look_at_header(follow);

	for (unsigned i = 0; !error && i < (whole ? changing_n(spool) : 1); i++)
		error = read_rows(spool, &follow->reading, changing[i], 0,
				  spool_count(spool, changing[i]));
	return error || !read_changed(spool, &follow->reading) ? error : 1;
}

static uint64_t changing_bytes(const struct spool *spool)
{
	uint64_t bytes = 0;

	foreach (kind, changing, changing_n(spool))
		bytes += spool_count(spool, *kind) << spool_shift[*kind];
	return bytes;
}

/* True if the copies of the changing tables are up to date. Always false while events wait
 * (pending.h), because they are added to the sums of each new copy. The tables that only grow may
 * have new rows in either case. */
static bool is_same(const struct follow *follow)
{
	const struct spool_header *header = follow->spool.header;
	uint64_t generation = atomic_load(&header->generation);

	return !follow->torn && !(generation & 1) && generation == follow->generation &&
	       !waiting_count(&header->backlog);
}

static int copy_tables(struct follow *follow)
{
	int error = look_at_header(follow);

	if (error)
		return error;
	if (is_same(follow))
		return read_growing(&follow->spool, &follow->reading);
	error = 1;
	for (unsigned i = 0; i < WHOLE_TRIES && error == 1; i++) {
		if (i * changing_bytes(&follow->spool) > VAIN_BYTES)
			break;
		error = copy_changing(follow, true);
	}
	follow->torn = error == 1;
	for (unsigned i = 0; i < SUMS_TRIES && error == 1; i++)
		error = copy_changing(follow, false);
	follow->blurred = error == 1;
	return error < 0 ? error : read_growing(&follow->spool, &follow->reading);
}

/* Empties the copies of the tables after SPOOL_CELL, which are not kept up to date. */
static void forget_others(struct spool *spool)
{
	spool->header->count[SPOOL_NODE] = 0;
	for (unsigned kind = SPOOL_NODE + 1; kind < SPOOL_KINDS; kind++)
		spool->header->count[kind] = spool->used[kind] = 0;
}

int follow_look(struct follow *follow)
{
	struct spool *spool = &follow->spool;
	int error = copy_tables(follow);

	if (error == -ENODATA)
		return err("%s: another process has truncated this spool", spool->path);
	if (error)
		return read_failed(spool->path, error);
	error = read_check_header(spool->header, spool->path);
	if (error)
		return error;
	follow->generation = atomic_load(&spool->header->generation);
	read_roll_back(spool);
	pending_settle_left(spool);
	forget_others(spool);
	return 0;
}

int follow_open(struct follow *follow, const char *path)
{
	void *chunk;
	int error;

	memset(follow, 0, sizeof(*follow));
	follow->generation = 1;
	error = read_open(&follow->spool, &follow->reading, path);
	if (error)
		return error;
	chunk = mmap(NULL, SPOOL_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	follow->chunk = chunk == MAP_FAILED ? NULL : chunk;
	error = follow->chunk ? follow_look(follow) : read_failed(path, -ENOMEM);
	if (error)
		follow_close(follow);
	return error;
}

void follow_close(struct follow *follow)
{
	if (follow->chunk)
		munmap(follow->chunk, SPOOL_BLOCK);
	read_close(&follow->spool, &follow->reading);
	memset(follow, 0, sizeof(*follow));
	follow->reading.fd = -1;
}
