/* Finds the spools of running processes, the files that they record to: in /proc/PID/maps, a spool
 * is a shared mapping of a file named *.spool. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spool/layout.h"

struct live_spool {
	pid_t pid;
	char *path; /* can be opened by memtrace, even if the process has another root directory */
};

struct live_spools {
	struct live_spool *list;
	size_t count;
	bool deleted; /* a process maps a spool that is not in `list`, since its file is deleted */
	bool library; /* a process has loaded libmemtrace.so */
};

/* Adds the spools of a process, if any. Returns 0, -ESRCH if the process has ended, or -errno. */
int live_spools_of(struct live_spools *spools, pid_t pid);

/* Adds the spools of all processes of this user (for root, of all users). Returns 0 or -errno. */
int live_spools_all(struct live_spools *spools);

void live_spools_clear(struct live_spools *spools);

/* Parses a decimal pid from 1 to 2^31 - 1; returns 0 for any other text. */
pid_t live_spools_pid(const char *text);

/* --- requests to a running process through its spool --- */

struct attached {
	int pid;
	int fd;                      /* the open spool */
	struct spool_header *header; /* the spool's header, mapped shared */
	uint64_t start;              /* process_start_ticks() when opened, 0 if unknown */
	char path[4096];
};

/* Maps the header of the process's spool. Returns 0, or -EINVAL with err_text(): the process cannot
 * be inspected, or does not have exactly one spool, of this version. */
int attach_open(struct attached *attached, int pid);
void attach_close(struct attached *attached);

/* True while the process runs; false also if its start time is not known. */
bool attach_lives(const struct attached *attached);

/* Adds a request to the spool; `text` is a mark's name, "" in other requests. Waits up to a second
 * while another memtrace process adds one. Returns 0, with a number for attach_acted() in *number,
 * or -EINVAL with err_text(). */
int attach_ask(struct attached *attached, enum spool_verb verb, const char *text, uint32_t *number);

/* True once the process has carried out the request. */
bool attach_acted(const struct attached *attached, uint32_t number);
