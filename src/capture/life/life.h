/* The life of a guest: constructor, fork, exit; facts about the process. */
#pragma once

#include <stdbool.h>

#include "ledger/intern.h"

/* A door or a row of ours is used for the first time: forks are watched from here on. */
void life_begin(void);

/* The end of the process: the trace is written. Once; later calls find nothing to do. */
void life_finish(void);

/*
 * From now on the exit status is recorded, and quick_exit() calls life_finish(). Called once main()
 * runs: exit() calls its handlers in the reverse order of registration, and ours must come before
 * the destructors.
 */
void life_watch_end(void);

/* --- requests to this process (control.c) --- */

/*
 * MEMTRACE_SIGNAL: installs its handler, unless the program was started with one or ignores the
 * signal. It is the library's only handler, there only if the user wants it; it stores two words.
 */
void control_init(void);

/* Adds a note if the program has taken the signal for itself meanwhile. */
void control_check_signal(void);

/* There is a new spool. With the lock held. */
void control_opened(const struct spool_header *header);

/* --- facts about the process --- */

/* Facts that may become known only later: the unwinder, versions. With the lock held. */
void process_info_late(void);

/* --- the end --- */

/* Loads the library that a compressed document needs, if the output's name asks for one. If that
 * fails, a note is added, and the name loses its last part. Asks the loader. */
void finalize_load(void);

/*
 * Writes the document under a temporary name, renames it (never over an existing file), and removes
 * the spool. If that fails the spool stays, and one line is printed. `in_handler`: of a signal,
 * which may have interrupted malloc().
 */
void finalize_write(bool in_handler);

/*
 * Writes a document of the recording so far (its process is `running`), from a copy of the spool;
 * plain JSON whatever its name is. `output` NULL: beside the spool, under a free name. Never over
 * an existing file. Called without the recorder's lock; errno is kept. Returns 0 or -errno; -EBUSY
 * while another thread writes one, -ENODATA where nothing has been recorded.
 */
int finalize_dump(const char *output);

/* Another thread that comes to exit() waits from now on until the document is written. */
void finalize_begin(void);
