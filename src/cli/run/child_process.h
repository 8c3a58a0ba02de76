/* memtrace run: the child, and the traces that it and its children leave. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/run/recovery.h"

/* A file that was there before the child; what has written to it since has changed `changed`. */
struct run_seen {
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

struct child_run {
	char **command;
	const char *preload;
	pid_t pid;
	time_t start;         /* of the wall clock, before the child was there */
	uint64_t start_ticks; /* when the child began, as process_start_ticks() has it */
	struct run_seen *seen;
	size_t seen_n;
	struct ending ending;
	int exec_errno;  /* why the command could not be executed, 0 otherwise */
	int exit_status; /* what memtrace ends with */
};

/* Remembers which files a trace's name can mean before there is one. */
void run_before(struct child_run *run);

/* Finishes spools that dead processes of this run left, and says what was held; frees run->seen. */
void run_finish(struct child_run *run);

/* --- what a run left, told on stderr: run_summary.c --- */

struct run_trace {
	char *path;
	uint64_t pid, peak; /* peak: of allocated, of the fullest device */
	uint64_t rank, world_size;
};

struct run_left {
	struct run_trace *traces;
	size_t traces_n;
	size_t running;   /* processes that still write theirs */
	size_t elsewhere; /* spools of other machines or containers */
	char names[4096]; /* of the traces, with * for what differs */
};

/* One line, with what is no text made visible. */
void run_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sorts the traces: the child's own comes first. */
void run_summary(const struct child_run *run, struct run_left *left);
