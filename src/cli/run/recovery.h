/* Finishing what a process left: a document from its spool, and how the process ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a process ended, as its parent saw it; UINT64_MAX where it did not. */
struct ending {
	uint64_t status, signal;
};

struct recovery {
	const char *spool;
	const char *output;   /* the name wanted */
	bool numbered;        /* on a file that exists: take the next number, else fail */
	bool live;            /* read the spool of a live process */
	bool force;           /* the same, and replace a file that exists */
	struct ending ending; /* goes into the document */
	char written[4096];   /* the name taken */
};

/* Writes the document under a name of its own, then gives it the name wanted: 0 or -EINVAL. */
int recovery_run(struct recovery *recovery);

/* Adds the ending to a finished document. */
int recovery_add_ending(const char *path, const struct ending *ending);

/* Whose spool is it? 0 or -EINVAL. */
struct owner {
	uint64_t pid;
	bool alive;
	bool elsewhere;    /* on another machine or in another container: nobody here can tell */
	char output[4096]; /* where its trace was to be, "" where the spool does not say */
};

int recovery_owner(const char *spool, struct owner *owner);

/* What the document is called that lies beside its spool: memtrace.5.spool gives memtrace.5.json.
 */
void recovery_name(char *to, size_t size, const char *spool);
