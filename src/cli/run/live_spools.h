/*
 * The spools that running processes write to, found without touching them: what /proc/PID/maps
 * shows as a shared mapping of a file named *.spool.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct live_spool {
	pid_t pid;
	char *path; /* that opens it here, also where the process has a root of its own */
};

struct live_spools {
	struct live_spool *list; /* in the order of pids */
	size_t count;
	bool deleted; /* a process writes to a spool whose file has no name any more: not in the
		       * list
		       */
	bool library; /* a process has our library mapped */
};

/*
 * Adds those of one process: 0 (also when it has none), -ESRCH when there is no such process,
 * -EACCES when it may not be looked at, -ENOMEM.
 */
int live_spools_of(struct live_spools *spools, pid_t pid);

/* Adds those of all processes of this user (of all users for root): 0 or -errno. */
int live_spools_all(struct live_spools *spools);

void live_spools_clear(struct live_spools *spools);

/* Is it a pid? 1 to 2^31 - 1 in decimal; 0 otherwise. */
pid_t live_spools_pid(const char *text);
