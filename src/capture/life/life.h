/* The library's life in a process: its start, forks, requests by the user, facts, the end. */
#pragma once

#include <stdbool.h>

#include "ledger/intern.h"

/* Called when CUDA may be used soon: from now on forks are watched. */
void life_begin(void);

/* Writes the trace at the end of the process. Called by quick_exit(), or as a destructor. */
void life_finish(void);

/* From now on the exit status is recorded, and quick_exit() calls life_finish(). Must be called
 * when main() runs: exit() calls handlers in the reverse order of registration, and the one that
 * notes the status must run before the destructor, life_finish(). */
void life_watch_end(void);

/* --- requests to this process (control.c) --- */

/* If MEMTRACE_SIGNAL is set, installs the library's only signal handler, which stores two words. If
 * that signal already had a handler or was ignored, adds a note instead. */
void control_init(void);

/* Adds a note if the program has replaced the handler that control_init() installed. */
void control_check_signal(void);

/* Must be called with the recorder's lock held when there is a new spool, to watch its requests. */
void control_opened(const struct spool_header *header);

/* --- facts about the process --- */

/* Records facts that become known late, such as versions. Called with the recorder's lock held. */
void process_info_late(void);

/* --- the end --- */

/* Loads the library that a compressed document needs, if the output's name asks for one. If that
 * fails, adds a note; finalize_write() then drops the name's last suffix. Calls the loader. */
void finalize_load(void);

/* Writes the document under a temporary name, renames it (never over an existing file), removes the
 * spool, and prints the result. If that fails, the spool stays. `in_handler`: the program ends in a
 * signal handler, which may have interrupted malloc(). */
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
