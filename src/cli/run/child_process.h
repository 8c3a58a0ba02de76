/* memtrace run: the child, and the traces that it and its children leave. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/run/recovery.h"

/* A file that existed before the child; each later write changes `changed`. */
struct run_seen {
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

struct child_run {
	char **command;
	const char *preload;
	pid_t pid;
	time_t start;         /* of the wall clock, before the child began */
	uint64_t start_ticks; /* when the child began, as process_start_ticks() has it */
	struct run_seen *seen;
	size_t seen_n;
	struct ending ending;
	int exec_errno;  /* why the command could not be executed, 0 otherwise */
	int exit_status; /* the exit status of memtrace */
};

/* Remembers the files that exist already under names that a trace of the run can get. */
void run_before(struct child_run *run);

/* Makes traces of this run's spools, and prints the summary; frees run->seen. */
void run_finish(struct child_run *run);

/* --- the summary of a run, on stderr: run_summary.c --- */

struct run_trace {
	char *path;
	uint64_t pid, peak; /* peak: of allocated memory, on the device where it is highest */
	uint64_t rank, world_size;
};

struct run_left {
	struct run_trace *traces;
	size_t traces_n;
	size_t running;   /* processes that still write their traces */
	size_t elsewhere; /* spools of other machines or containers */
	char names[4096]; /* of the traces, with * for what differs */
};

/* Prints one line; control characters in it are made visible. */
void run_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the summary. Sorts the traces: the child's own comes first. */
void run_summary(const struct child_run *run, struct run_left *left);
