/* The library's life in a process: its start, forks, requests by the user, facts, the end. */
#pragma once

#include <stdbool.h>

#include "ledger/intern.h"

/* Called when CUDA may be used soon: from now on forks are watched. */
void life_begin(void);

/* Writes the trace at the end of the process, once; later calls do nothing. */
void life_finish(void);

/*
 * From now on the exit status is recorded, and quick_exit() calls life_finish(). Must be called
 * when main() runs: exit() calls handlers in the reverse order of registration, and the one that
 * notes the status must run before the destructor that writes the trace, life_finish().
 */
void life_watch_end(void);

/* --- requests to this process (control.c) --- */

/*
 * Installs the handler for MEMTRACE_SIGNAL, unless the signal had a handler or was ignored at the
 * start. It is the library's only signal handler, installed only if the user wants it; it stores
 * two words.
 */
void control_init(void);

/* Adds a note if the program has installed its own handler for the signal since. */
void control_check_signal(void);

/* Must be called with the recorder's lock held when there is a new spool, to watch its requests. */
void control_opened(const struct spool_header *header);

/* --- facts about the process --- */

/* Records facts that become known late, such as versions. Called with the recorder's lock held. */
void process_info_late(void);

/* --- the end --- */

/* Loads the library that a compressed document needs, if the output's name asks for one. If that
 * fails, a note is added, and the name loses its last suffix. Calls the loader. */
void finalize_load(void);

/*
 * Writes the document under a temporary name, renames it (never over an existing file), and removes
 * the spool. If that fails the spool stays, and one line is printed. `in_handler`: the program ends
 * in a signal handler, which may have interrupted malloc().
 */
void finalize_write(bool in_handler);

/*
 * Writes a document of the recording so far, marked as a running process's, from a copy of the
 * spool; plain JSON whatever its name is. `output` NULL: next to the spool, under a free name.
 * Never over an existing file. Must be called without the recorder's lock; keeps errno. Returns 0
 * or -errno; -EBUSY while another thread writes a document, -ENODATA if nothing has been recorded.
 */
int finalize_dump(const char *output);

/* From now on another thread that calls exit() waits until the document is written. */
void finalize_begin(void);
