/* Finishing a dead process's recording: a document from its spool, and how it ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ending of a process as its parent saw it: UINT64_MAX for the status or the signal that it did
 * not have, and for both where the ending is not known. */
struct ending {
	uint64_t status, signal;
};

struct recovery {
	const char *spool;
	const char *output;   /* the name wanted */
	bool numbered;        /* if the file exists, take the next free number instead of failing */
	bool live;            /* read the spool of a live process */
	bool force;           /* the same; also replace a file that exists */
	struct ending ending; /* goes into the document */
	char written[4096];   /* the name taken */
};

/* Writes the document to a temporary file and renames that. 0, or -EINVAL with err_text(). */
int recovery_run(struct recovery *recovery);

int recovery_add_ending(const char *path, const struct ending *ending);

/* Reads from a spool the process that writes it, and the name of its trace. 0 or -EINVAL. */
struct owner {
	uint64_t pid;
	bool alive;
	bool elsewhere; /* it runs on another machine or in another container: whether it is alive
			   is not known here */
	char output[4096]; /* the name of its trace, "" where the spool has none */
};

int recovery_owner(const char *spool, struct owner *owner);

/* The name of the document that belongs beside a spool: memtrace.5.spool gives memtrace.5.json. */
void recovery_name(char *to, size_t size, const char *spool);
