/* The end: the document from the spool, under its final name. */
#ifndef CAPTURE_FINISH_H
#define CAPTURE_FINISH_H

#include <stdbool.h>

#include "capture/facts.h"

/*
 * Ahead of finish_write(), with no lock held: a name that asks for a compressed document has its
 * library loaded, or loses that part of itself, which a note says. `ask` is false where the loader
 * must be left alone and nothing can be noted any more.
 */
void finish_prepare(struct paths *paths, bool ask);

/*
 * Writes the document to a temporary name, renames it (never over an existing file), and removes
 * the spool. When that fails the spool stays, and one line says so.
 */
void finish_write(struct spool *spool, const struct paths *paths);

/*
 * A document of what is recorded so far (its process is `running`), written from a copy of the
 * spool's file; plain JSON whatever it is named. `output` NULL: beside the spool, under a name that
 * nobody has. Never over an existing file. 0 or -errno; -EBUSY while another thread writes one,
 * -ENODATA where nothing has been recorded.
 */
int finish_dump(const struct spool *spool, const char *output);

/*
 * The exit status is known to finish_write() from now on. Once main() runs: what exit() calls is
 * called in the reverse order of coming, and ours must come before the destructors.
 */
void finish_watch(void);

/* -1 while it is not known. */
int finish_status(void);

#endif
