/*
 * The spools that running processes write to, found without touching them: what /proc/PID/maps
 * shows as a shared mapping of a file named *.spool.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spool/layout.h"

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
 * -EACCES when it may not be looked at.
 */
int live_spools_of(struct live_spools *spools, pid_t pid);

/* Adds those of all processes of this user (of all users for root): 0 or -errno. */
int live_spools_all(struct live_spools *spools);

void live_spools_clear(struct live_spools *spools);

/* Is it a pid? 1 to 2^31 - 1 in decimal; 0 otherwise. */
pid_t live_spools_pid(const char *text);

/* --- a running process, and the spool that it writes --- */

struct attached {
	int pid;
	int fd;                      /* of the spool */
	struct spool_header *header; /* shared with the process */
	uint64_t start;              /* tells the process from its successor */
	char path[4096];
};

/*
 * Finds the process and its spool. 0 or -EINVAL with one sentence in err_text(): there is no such
 * process, it is another user's, is not traced, has recorded nothing yet, or writes a spool of
 * another version.
 */
int attach_open(struct attached *attached, int pid);
void attach_close(struct attached *attached);

/* Does the process still run? */
bool attach_lives(const struct attached *attached);

/*
 * Puts a request in front of the process, with a text for those that have one: 0 and its number, or
 * -EINVAL with a sentence. It waits for other tools that do the same, but not for ever.
 */
int attach_ask(struct attached *attached, enum spool_verb verb, const char *text, uint32_t *number);

/* Has the process acted upon the request? */
bool attach_acted(const struct attached *attached, uint32_t number);
