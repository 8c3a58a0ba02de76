/*
 * The spools of running processes. They are found without opening them: /proc/PID/maps shows each
 * as a shared mapping of a file named *.spool.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spool/layout.h"

struct live_spool {
	pid_t pid;
	char *path; /* opens the file here, also when the process has another root */
};

struct live_spools {
	struct live_spool *list; /* in the order of pids */
	size_t count;
	bool deleted; /* a process writes to a spool whose file was deleted: it is not in the list
		       */
	bool library; /* a process has our library mapped */
};

/* Adds the spools of one process. 0 (also when it has none), -ESRCH when there is no such process,
 * -EACCES when we may not look at it. */
int live_spools_of(struct live_spools *spools, pid_t pid);

/* Adds the spools of all processes of this user (for root, of all users). 0 or -errno. */
int live_spools_all(struct live_spools *spools);

void live_spools_clear(struct live_spools *spools);

/* Parses a pid, 1 to 2^31 - 1 in decimal; 0 for any other text. */
pid_t live_spools_pid(const char *text);

/* --- a running process, and the spool that it writes --- */

struct attached {
	int pid;
	int fd;                      /* of the spool */
	struct spool_header *header; /* shared with the process */
	uint64_t start;              /* distinguishes the process from a later one with its pid */
	char path[4096];
};

/*
 * Finds the process and its spool. 0 or -EINVAL with one sentence in err_text(): there is no such
 * process, it is another user's, is not traced, has recorded nothing yet, or writes a spool of
 * another version.
 */
int attach_open(struct attached *attached, int pid);
void attach_close(struct attached *attached);

bool attach_lives(const struct attached *attached);

/* Adds a request for the process, with a text if the verb needs one. 0 and the request's number, or
 * -EINVAL with a sentence. While other tools add requests it waits, for about a second. */
int attach_ask(struct attached *attached, enum spool_verb verb, const char *text, uint32_t *number);

/* True once the process has acted upon the request. */
bool attach_acted(const struct attached *attached, uint32_t number);
