/*
 * A process as it is now: sums, rates since the last look, the lines of source that hold memory,
 * the open ranges.
 *
 * Sums come from the ledger in the spool: a look costs a copy of the tables of scopes, stacks and
 * cells, however many events there were.
 */
#pragma once

#include "analyse/live/live_view_lines.h"

/* --- the ranges that are open, and those that ended last: live_view_ranges.c --- */

enum {
	LOOK_RANGES_OPEN = 1024, /* at most: then the oldest are forgotten */
	LOOK_RANGES_ENDED = 4,
};

struct live_view_range {
	uint64_t number;     /* 0: pushed */
	uint64_t start, end; /* ns since process start; end TRACE_NONE while it is open */
	uint64_t thread;
	uint32_t name_text, domain_text;
	const char *name, *domain; /* NULL: none */
};

struct look_ranges {
	struct live_view_range open[LOOK_RANGES_OPEN]; /* oldest first */
	uint32_t open_n;
	struct live_view_range ended[LOOK_RANGES_ENDED]; /* newest first */
	uint32_t ended_n;
	uint64_t next; /* the number of the next event to read */
	bool late; /* there were events before those that could be read: ranges may be missing */
};

/* Reads the events since the last call; the first call reads the last few hundred thousand. */
void live_view_ranges_read(struct look_ranges *ranges, struct follow *follow);

/* --- the process --- */

struct live_view_scope {
	struct spool_scope row; /* without a sample of METRIC_USED its bytes are TRACE_NONE */
	const char *name;       /* of a device: its model, NULL when unknown */
	const char *source;     /* of the samples of METRIC_USED */
	uint64_t total;         /* of a device: its bytes, TRACE_NONE when unknown */
	/* Bytes that pools keep for later. A pool's allocation may be recorded before that of the
	 * memory it lies in: then 0. */
	uint64_t cached;
	double rate; /* allocations a second since the last look, NAN when unknown */
};

struct look {
	struct live_view_lines lines;
	int pid;             /* in the tool's namespace of pids */
	const char *rank;    /* NULL for none */
	char command[512];   /* words with a blank between them, made safe to print */
	uint64_t start_time; /* seconds since 1970 */
	uint64_t uptime;     /* ns */
	bool running;        /* the process is alive */
	bool recording;      /* stop is SPOOL_RECORDING */
	enum spool_stop stop;
	bool events_on;  /* false: only sums go on (memtrace_stop, memtrace ctl stop) */
	uint64_t sample; /* bytes from sample to sample, TRACE_NONE: every block's stack is taken */
	uint64_t events, dropped, ooms;
	double events_rate, bytes_rate; /* events, and bytes allocated, a second; NAN: unknown */

	struct live_view_scope *scopes; /* sorted by kind and device */
	size_t scopes_n;
	uint64_t *allocations; /* by number of scope, at this look */
	size_t allocations_n;
	uint64_t looked_at; /* ns, CLOCK_MONOTONIC */

	struct look_ranges ranges;
	struct follow follow;
};

/* The next scope of the kind after `after`, or the first if it is NULL; NULL when there are no
 * more.
 */
const struct live_view_scope *live_view_next(const struct look *look, enum scope_kind kind,
					     const struct live_view_scope *after);

/* `pid` as the user gave it, 0: the one in the spool. Both return 0, or -errno with err_text();
 * live_view_now() then keeps the figures of the last look. */
int live_view_open(struct look *look, const char *path, int pid);
int live_view_now(struct look *look);
void live_view_close(struct look *look);
