/* What a run left, told on stderr. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct child_run;

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
