/* Writes the trace of a dead process from its spool, and adds to it how the process ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exit status or signal that ended a process, from waitpid(). A member that does not apply is
 * UINT64_MAX; both are UINT64_MAX if the ending is not known. */
struct ending {
	uint64_t status, signal;
};

struct recovery {
	const char *spool;
	const char *output;   /* path of the trace to write */
	bool numbered;        /* if `output` exists, the next free number is added to the name */
	bool live;            /* a spool of a running process is accepted */
	bool force;           /* as `live`; also, `output` is overwritten if it exists */
	struct ending ending; /* added to the trace, unless it is status 0 */
	char written[4096];   /* set to the path of the written trace */
};

/* Writes the trace through a temporary file. Returns 0, or -EINVAL with err_text(). */
int recovery_run(struct recovery *recovery);

/* Adds an ending, unless it is status 0, to an existing trace. 0, or -EINVAL with err_text(). */
int recovery_add_ending(const char *path, const struct ending *ending);

/* The process that writes a spool. recovery_owner() returns 0, or -EINVAL with err_text(). */
struct owner {
	uint64_t pid;
	bool alive;
	/* runs on another machine or in another container, so `alive` is not known */
	bool elsewhere;
	char output[4096]; /* path of its trace, "" if the spool has none */
};

int recovery_owner(const char *spool, struct owner *owner);

/* Derives a trace's name from its spool's: memtrace.5.spool becomes memtrace.5.json if `end` is
 * ".json". */
void recovery_name(char *to, size_t size, const char *spool, const char *end);

/* recovery_run() for a command: prints the trace's path or an error, returns the exit status. If
 * `output` is NULL, the trace is next to the spool, under the next free name that ends in `end`. */
int recovery_print(const struct recovery *recovery, const char *end);
