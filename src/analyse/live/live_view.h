/*
 * The current state of a process: sums, rates since the last look, the lines of source that hold
 * memory, the open ranges.
 *
 * Sums are in the spool: each look copies the tables of scopes (devices, pools, kinds of memory),
 * stacks and cells, and costs the same however many events there were.
 */
#pragma once

#include "analyse/live/live_view_lines.h"

/* --- ranges that are open, and the last ones that ended: live_view_ranges.c --- */

enum {
	LOOK_RANGES_OPEN = 1024, /* most open ranges; beyond that the oldest are forgotten */
	LOOK_RANGES_ENDED = 4,
};

struct live_view_range {
	uint64_t number;     /* identifies a started range; 0 for a pushed one */
	uint64_t start, end; /* ns since process start; end is TRACE_NONE while it is open */
	uint64_t thread;
	uint32_t name_text, domain_text;
	const char *name, *domain; /* NULL: none */
};

struct look_ranges {
	struct live_view_range open[LOOK_RANGES_OPEN]; /* oldest first */
	uint32_t open_n;
	struct live_view_range ended[LOOK_RANGES_ENDED]; /* newest first */
	uint32_t ended_n;
	uint64_t next; /* the sequence number of the next event to read */
	bool late;     /* events were overwritten before they were read: ranges may be missing */
};

/* Reads the events since the last call; the first call reads the last few hundred thousand. */
void live_view_ranges_read(struct look_ranges *ranges, struct follow *follow);

/* --- the process --- */

struct live_view_scope {
	struct spool_scope row; /* sums; METRIC_USED has TRACE_NONE bytes if it was never sampled */
	const char *name;       /* of a device: its model, NULL if unknown */
	const char *source;     /* METRIC_USED is read from it: "nvml", "cuMemGetInfo" */
	uint64_t total;         /* of a device: its memory in bytes, TRACE_NONE if unknown */
	/* Bytes reserved by pools and not allocated. 0 while a pool's allocation is recorded before
	 * that of the memory around it. */
	uint64_t cached;
	double rate; /* allocations a second since the last look, NAN if unknown */
};

struct look {
	struct live_view_lines lines;
	int pid;             /* in the tool's pid namespace */
	const char *rank;    /* NULL for none */
	char command[512];   /* words of the command line with blanks between, safe to print */
	uint64_t start_time; /* seconds since 1970 */
	uint64_t uptime;     /* ns since process start */
	bool running;        /* the process is alive */
	bool recording;      /* true if `stop` is SPOOL_RECORDING */
	enum spool_stop stop;
	bool events_on;  /* false: only sums are recorded (memtrace_stop, memtrace ctl stop) */
	uint64_t sample; /* bytes between samples; TRACE_NONE if not sampled */
	uint64_t events, dropped, ooms;
	double events_rate, bytes_rate; /* events, and bytes allocated, a second; NAN: unknown */

	struct live_view_scope *scopes; /* sorted by kind and device */
	size_t scopes_n;
	uint64_t *allocations; /* of each scope by its number, at this look */
	size_t allocations_n;
	uint64_t looked_at; /* ns, CLOCK_MONOTONIC */

	struct look_ranges ranges;
	struct follow follow;
};

/* The next scope of the kind after `after`, or the first if `after` is NULL. NULL after the last
 * one. */
const struct live_view_scope *live_view_next(const struct look *look, enum scope_kind kind,
					     const struct live_view_scope *after);

/* Open a process's spool and read it; read it once more. `pid`: as the user gave it, 0 for the one
 * in the spool. 0, or -errno with err_text(); live_view_now() then changes nothing. */
int live_view_open(struct look *look, const char *path, int pid);
int live_view_now(struct look *look);
void live_view_close(struct look *look);
