/* The end: the document from the spool, under its final name. */
#ifndef CAPTURE_LIFE_FINALIZE_H
#define CAPTURE_LIFE_FINALIZE_H

#include <stdbool.h>

#include "capture/life/process_info.h"

/*
 * A name that asks for a compressed document has its library loaded; where that cannot be, a note
 * says so, and the name loses that part at the end. Asks the loader.
 */
void finish_load(void);

/*
 * Writes the document to a temporary name, renames it (never over an existing file), and removes
 * the spool. When that fails the spool stays, and one line says so. `in_handler`: of a signal,
 * which may have come in the middle of malloc().
 */
void finish_write(struct spool *spool, struct paths *paths, bool in_handler);

/*
 * A document of what is recorded so far (its process is `running`), written from a copy of the
 * spool's file; plain JSON whatever it is named. `output` NULL: beside the spool, under a name that
 * nobody has. Never over an existing file. 0 or -errno; -EBUSY while another thread writes one,
 * -ENODATA where nothing has been recorded.
 */
int finish_dump(const struct spool *spool, const char *output);

/*
 * The exit status is known to finish_write() from now on, and quick_exit() calls `end`. Once main()
 * runs: what exit() calls is called in the reverse order of coming, and ours must come before the
 * destructors.
 */
void finish_watch(void (*end)(void));

/* Another thread that comes to exit() waits from now on until the document is written. */
void finish_begin(void);

/* -1 while it is not known. */
int finish_status(void);

#endif
