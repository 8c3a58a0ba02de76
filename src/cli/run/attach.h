/*
 * A running process, and the spool that it writes: found by what /proc says it has mapped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spool/layout.h"

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
