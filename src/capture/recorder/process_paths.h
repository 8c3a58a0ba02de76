/* Where the files of the process go. */
#ifndef CAPTURE_RECORDER_PROCESS_PATHS_H
#define CAPTURE_RECORDER_PROCESS_PATHS_H

#include "spool/spool.h"

struct process_paths {
	char output[4096], spool[4096];
};

/*
 * Resolves the output and the directory of spools against the working directory of the start.
 * `program`: what it was started as, with or without a path; %e in the output stands for its name.
 */
void process_paths_init(const char *program);

/*
 * Creates the spool under the first name that is free both for it and for its document; in another
 * directory if this one's file system cannot claim space. `process`: its number. 0 or -errno.
 */
int process_paths_create(struct process_paths *paths, struct spool *spool, int process);

#endif
