/* Start and end of the recording of a process, its forks, requests to it, and facts about it. */
#pragma once

#include <stdbool.h>

#include "ledger/intern.h"

/* Called when the program may soon use CUDA: from then on, the library's fork handlers run. */
void life_begin(void);
bool life_begun(void); /* true once life_begin() was called */

/* Writes the trace at the end of the process. Called by quick_exit(), or as a destructor. */
void life_finish(void);

/* From now on the exit status is recorded, and quick_exit() calls life_finish(). Must be called
 * while main() runs: exit() calls handlers in the reverse order of registration, and the handler
 * that notes the status must run before the destructor, life_finish(). */
void life_watch_end(void);

/* --- requests to this process (control.c) --- */

/* If MEMTRACE_SIGNAL is set, installs the library's only signal handler, which sets two variables.
 * If the program already handles or ignores that signal, adds a note to the trace instead. */
void control_init(void);

/* Adds a note to the trace if the program has replaced the handler that control_init() set. */
void control_check_signal(void);

/* Called when there is a new spool, to watch its requests. The recorder's lock must be held. */
void control_opened(const struct spool_header *header);

/* --- facts about the process --- */

/* Records facts that become known late, such as versions. Called with the recorder's lock held. */
void process_info_late(void);

/* --- the end --- */

/* If the output's name ends in a suffix such as .gz, loads the library that compresses. If it
 * cannot be loaded, adds a note to the trace, which is then not compressed and gets no suffix. */
void finalize_load(void);

/* Writes the document under a temporary name, renames it (never over an existing file), removes the
 * spool, and prints the result. If writing fails, the spool stays. `in_handler`: the program ends
 * inside a signal handler, which may have interrupted malloc(). */
void finalize_write(bool in_handler);

/*
 * Writes a document of the recording so far, marked as a running process's, from a copy of the
 * spool. It is plain JSON whatever its name is, never replaces a file, and is written next to the
 * spool, under a free name, if `output` is NULL. Must be called without the recorder's lock; keeps
 * errno. Returns 0 or -errno: -EBUSY while a document is being written, -ENODATA without events.
 */
int finalize_dump(const char *output);

/* From now on another thread that calls exit() waits until the document is written. */
void finalize_begin(void);
