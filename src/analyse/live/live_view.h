/*
 * A process as it is now, and what has moved since the last look: sums, rates, the lines that hold
 * memory, the ranges that are open.
 *
 * Sums come from the ledger in the spool: a look costs what the tables of scopes, stacks and cells
 * cost to copy, however many events there were.
 */
#pragma once

#include "analyse/live/live_view_lines.h"

/* --- the ranges that are open, and those that ended last: live_view_ranges.c --- */

enum {
	LOOK_RANGES_OPEN = 1024, /* at most: of more the oldest are forgotten */
	LOOK_RANGES_ENDED = 4,
};

struct live_view_range {
	uint64_t number;     /* 0: pushed */
	uint64_t start, end; /* ns since process start; end 0 while it is open */
	uint32_t thread;
	uint32_t name, domain; /* texts */
};

struct look_ranges {
	struct live_view_range open[LOOK_RANGES_OPEN]; /* oldest first */
	uint32_t open_n;
	struct live_view_range ended[LOOK_RANGES_ENDED]; /* newest first */
	uint32_t ended_n;
	uint64_t next; /* event to be read */
	bool late; /* there were events before those that could be read: ranges may be missing */
};

/*
 * Reads on from where it read last; of what was before the first look, some hundred thousand
 * events.
 */
void live_view_ranges_read(struct look_ranges *ranges, struct follow *follow);

/* --- the process --- */

/* A device, pool, owner or space. */
struct live_view_scope {
	enum scope_kind kind;
	int device;       /* NO_DEVICE for a space */
	const char *name; /* of a device: its model, NULL when unknown */
	uint64_t total;   /* of a device: its bytes, 0 when unknown */
	struct spool_sum allocated, reserved;
	/* Of a device, as of the last sample; `samples` 0: there was none. */
	uint64_t samples;
	struct spool_sum used;
	int64_t rounding, named, residual;
	const char *source;
	uint64_t allocations, frees, ooms, retries;
	double rate; /* allocations a second, since the last look */
};

struct look {
	struct follow follow;
	struct live_view_lines lines;
	struct look_ranges ranges;

	int pid;             /* as it is known here */
	const char *rank;    /* NULL for none */
	char command[512];   /* words with a blank between them, made safe to print */
	uint64_t start_time; /* ns since 1970 */
	uint64_t uptime;     /* ns */
	bool ended;          /* the process is no more */
	enum spool_stop stop;
	bool events_on;  /* false: only sums go on (memtrace_stop, memtrace ctl stop) */
	uint64_t sample; /* bytes from sample to sample, 0: the stack of every block is taken */
	uint64_t events, dropped, ooms;
	double events_rate, bytes_rate; /* events, and bytes allocated, a second */

	struct live_view_scope
		*scopes; /* devices, pools, owners, spaces; each in the order they came */
	size_t scopes_n;
	uint64_t *allocations; /* by number of scope, at this look */
	size_t allocations_n;
	uint64_t looked_at; /* ns, CLOCK_MONOTONIC */
	double seconds;     /* since the look before, 0 for none: then rates are not known */
};

/* What pools keep for later. A pool's own word may come before that of the memory it is of. */
static inline uint64_t live_view_cached(const struct live_view_scope *scope)
{
	uint64_t reserved = scope->reserved.now;

	return reserved > scope->allocated.now ? reserved - scope->allocated.now : 0;
}

/* The scope that rows are printed for next, of a kind: NULL when there are no more. */
const struct live_view_scope *live_view_next(const struct look *look, enum scope_kind kind,
					     const struct live_view_scope *after);

/*
 * `pid` as the user knows it, 0: the one that the spool says. Both give 0, or -errno with
 * err_text(); live_view_now() then leaves what was seen before.
 */
int live_view_open(struct look *look, const char *path, int pid);
int live_view_now(struct look *look);
void live_view_close(struct look *look);
