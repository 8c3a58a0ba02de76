/*
 * A line on the host's stderr, for the rare messages of the library.
 *
 * Nothing here allocates, blocks or ends the host: no signal that a write raises reaches it
 * (base/guest/own_thread.h). Text that a full pipe does not take within a moment is lost. A
 * descriptor 2 that is no longer the file that it was at start is left alone. errno is kept.
 */
#pragma once

#include <stdbool.h>

/* Remembers the file behind descriptor 2. */
void log_init(bool quiet);

/* Lines as they are, ended by a line break; in one write unless they are longer than 4 KiB. */
void log_lines(const char *lines);

/* "memtrace: " and the parts, ended by NULL, as one line. */
void log_say(const char *part, ...) __attribute__((sentinel));
