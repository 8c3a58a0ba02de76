/*
 * What is known of the process, entered when recording begins; and where its files go.
 */
#ifndef CAPTURE_LIFE_PROCESS_INFO_H
#define CAPTURE_LIFE_PROCESS_INFO_H

#include "ledger/intern.h"

struct paths {
	char output[4096], spool[4096];
};

/*
 * Resolves the output and the directory of spools against the working directory of the start.
 * `program`: what it was started as, with or without a path; %e in the output stands for its name.
 */
void paths_init(const char *program);

/*
 * Creates the spool under the first name that is free both for it and for its document; in another
 * directory if this one's file system cannot claim space. 0 or -errno.
 */
int paths_create(struct paths *paths, struct spool *spool);

/* Asks the driver what facts_record() will enter; with no lock held, and not under PyTorch's. */
void facts_ask(void);

/* Process, environment and settings. */
void facts_record(struct intern *intern, const struct paths *paths);

/* What may become known only later: the unwinder, versions. With the lock held. */
void facts_late(struct intern *intern);

/* A device's name and size, once; asks the driver, so not under PyTorch's lock nor ours. */
void facts_device(int device);
void facts_clear(void);

/* An errno in words, without locale. */
const char *facts_error(int error);

#endif
