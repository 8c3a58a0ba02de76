/* The end: the document from the spool, under its final name. */
#ifndef CAPTURE_FINISH_H
#define CAPTURE_FINISH_H

#include "capture/facts.h"

/*
 * Writes the document to a temporary name, renames it (never over an existing file), and removes
 * the spool. When that fails the spool stays, and one line says so.
 */
void finish_write(struct spool *spool, const struct paths *paths);

/*
 * The exit status is known to finish_write() from now on. Once main() runs: what exit() calls is
 * called in the reverse order of coming, and ours must come before the destructors.
 */
void finish_watch(void);

/* -1 while it is not known. */
int finish_status(void);

#endif
