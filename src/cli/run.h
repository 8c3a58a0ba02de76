/* memtrace run: the child, and the traces that it and its children leave. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/recovery.h"

struct run {
	char **command;
	const char *library;
	const char *preload;
	pid_t pid;
	struct timespec start; /* of the wall clock, before the child was there */
	struct ending ending;
	int exec_errno;  /* why the command could not be executed, 0 otherwise */
	int exit_status; /* what memtrace ends with */
};

/* Runs the command to its end, passing signals on. 0, or -EINVAL with err_text(). */
int run_child(struct run *run);

/* Finishes spools that dead processes of this run left, and says what was held. */
void run_finish(const struct run *run);

#endif
