/* memtrace run: the process it starts, and the traces of that process and its descendants. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/mem/map.h"
#include "cli/run/recovery.h"

struct child_run {
	char **command;
	const char *preload;
	pid_t pid;
	time_t start;         /* wall clock just before the fork, in seconds since 1970 */
	uint64_t start_ticks; /* the child's process_start_ticks(), 0 if unknown */
	struct map seen; /* set of hashes (inode, change time) of files that run_before() found */
	struct ending ending;
	int exec_errno;  /* errno of a failed exec, else 0 */
	int exit_status; /* exit status that memtrace returns */
};

/* Adds to run->seen the existing files whose names the run's traces or spools could get. */
void run_before(struct child_run *run);

/* Turns the spools of dead processes into traces, prints the summary unless `quiet` is set, and
 * frees run->seen. */
void run_finish(struct child_run *run);

/* --- the summary of a run, on stderr: run_summary.c --- */

struct run_trace {
	char *path;
	bool own;      /* true for the trace of the child itself */
	uint64_t peak; /* peak of allocated bytes on the device with the highest peak */
	uint64_t rank, world_size;
};

struct run_left {
	struct run_trace *traces;
	size_t traces_n;
	size_t running;   /* number of processes that still run */
	size_t elsewhere; /* number of spools from other machines or containers */
	char names[4096]; /* pattern for the names of all traces: * where they differ */
};

/* Prints a line to stderr as printf does, with control characters escaped. */
void run_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the summary, and sorts the traces: the child's own comes first. */
void run_summary(const struct child_run *run, struct run_left *left);
