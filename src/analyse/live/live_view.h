/*
 * The current state of a process: sums, rates since the last look, the lines of source that hold
 * memory, the open ranges.
 *
 * Each look reads the sums in the spool again: it copies the tables of scopes (devices, pools,
 * kinds of memory), stacks, and cells (one stack's bytes in one scope). Only ranges are read from
 * events.
 */
#pragma once

#include "analyse/live/live_view_lines.h"

/* --- ranges that are open, and the last ones that ended: live_view_ranges.c --- */

enum {
	LOOK_RANGES_OPEN = 1024, /* maximum; of more open ranges, the oldest are forgotten */
	LOOK_RANGES_ENDED = 4,
};

struct live_view_range {
	uint64_t number;     /* NVTX's id of a started range; 0 for a pushed range */
	uint64_t start, end; /* ns since process start; end is TRACE_NONE for an open range */
	uint64_t thread;
	uint32_t name_text, domain_text;
	const char *name, *domain; /* NULL for none */
};

struct look_ranges {
	struct live_view_range open[LOOK_RANGES_OPEN]; /* oldest first */
	uint32_t open_n;
	struct live_view_range ended[LOOK_RANGES_ENDED]; /* newest first */
	uint32_t ended_n;
	uint64_t next; /* the sequence number of the next event to read */
	bool late;     /* true if ranges may be missing: too many open, or events overwritten */
};

/* Reads the events since the last call, at most those of the newest FOLLOW_CHUNKS chunks. */
void live_view_ranges_read(struct look_ranges *ranges, struct follow *follow);

/* --- the process --- */

struct live_view_scope {
	struct spool_scope row; /* sums; METRIC_USED (bytes in use): TRACE_NONE if never measured */
	const char *name;       /* a device's model or another scope's name, NULL if unknown */
	const char *uuid;       /* a device's UUID; NULL if unknown, or for other scopes */
	const char *source;     /* where METRIC_USED comes from: "nvml", "cuMemGetInfo" */
	uint64_t total;         /* a device's memory in bytes, TRACE_NONE if unknown */
	/* Bytes reserved but not allocated. 0 if more bytes are allocated than reserved: a pool's
	 * first block may be recorded before the segment that contains the block. */
	uint64_t cached;
	double rate; /* allocations per second since the last look, NAN if unknown */
};

struct look {
	struct live_view_lines lines;
	int pid;             /* as passed to live_view_open(); if 0 was passed, as in the spool */
	const char *rank;    /* NULL for none */
	const char *host;    /* NULL if unknown */
	char command[512];   /* words of the command line, separated by blanks, safe to print */
	uint64_t start_time; /* seconds since 1970 */
	uint64_t uptime;     /* ns since process start */
	bool running;        /* true if the process is alive */
	bool recording;      /* true if `stop` is SPOOL_RECORDING */
	enum spool_stop stop;
	bool events_on;  /* false if only sums are recorded (memtrace_stop, memtrace ctl stop) */
	uint64_t sample; /* mean bytes between samples (MEMTRACE_SAMPLE); TRACE_NONE: no sampling */
	uint64_t events, dropped, ooms;
	double events_rate, bytes_rate; /* events, and bytes allocated, per second; NAN: unknown */

	struct live_view_scope *scopes; /* sorted by kind and device */
	size_t scopes_n;
	uint64_t *allocations; /* indexed by scope: number of its allocations until this look */
	size_t allocations_n;
	uint64_t looked_at; /* time of this look: ns, CLOCK_MONOTONIC */

	struct look_ranges ranges;
	struct follow follow;
};

/* Returns the scope of the kind that follows `after`, the first if that is NULL; or NULL. */
const struct live_view_scope *live_view_next(const struct look *look, enum scope_kind kind,
					     const struct live_view_scope *after);

/* live_view_open() opens and reads a process's spool, live_view_now() reads it again. `pid` is in
 * the tool's pid namespace, 0 if unknown. Both return 0, or -errno with err_text(): live_view_now()
 * may then have updated only a part of `look`. */
int live_view_open(struct look *look, const char *path, int pid);
int live_view_now(struct look *look);
void live_view_close(struct look *look);
