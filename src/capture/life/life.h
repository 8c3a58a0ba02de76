/* The life of a guest: constructor, fork, exit; what is known of the process. */
#pragma once

#include <stdbool.h>

#include "ledger/intern.h"

/* A door or a row of ours is used for the first time: from here on forks are looked at. */
void life_begin(void);

/* The end of the process: the trace is written. Once; later calls find nothing to do. */
void life_finish(void);

/*
 * The exit status is recorded from now on, and quick_exit() calls life_finish(). Once main() runs:
 * what exit() calls is called in the reverse order of coming, and ours must come before the
 * destructors.
 */
void life_watch_end(void);

/* --- requests to this process (control.c) --- */

/*
 * MEMTRACE_SIGNAL: installs its handler, unless the program was started with one or ignores the
 * signal. The only handler of the library, and only because the user asked; it stores two words.
 */
void control_init(void);

/* Notes it if the program has taken the signal for itself meanwhile. */
void control_check_signal(void);

/* There is a new spool. With the lock held. */
void control_opened(const struct spool_header *header);

/* --- what is known of the process --- */

/* Facts that may become known only later: the unwinder, versions. With the lock held. */
void process_info_late(void);

/* --- the end --- */

/*
 * A name that asks for a compressed document has its library loaded; where that cannot be, a note
 * says so, and the name loses that part at the end. Asks the loader.
 */
void finalize_load(void);

/*
 * Writes the document to a temporary name, renames it (never over an existing file), and removes
 * the spool. When that fails the spool stays, and one line says so. `in_handler`: of a signal,
 * which may have come in the middle of malloc().
 */
void finalize_write(bool in_handler);

/*
 * A document of what is recorded so far (its process is `running`), written from a copy of the
 * spool; plain JSON whatever it is named. `output` NULL: beside the spool, under a name that nobody
 * has. Never over an existing file. Called without the recorder's lock; errno is kept. 0 or -errno;
 * -EBUSY while another thread writes one, -ENODATA where nothing has been recorded.
 */
int finalize_dump(const char *output);

/* Another thread that comes to exit() waits from now on until the document is written. */
void finalize_begin(void);
