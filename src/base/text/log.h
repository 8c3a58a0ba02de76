/*
 * A line on the host's stderr, on the rare occasions when we may speak.
 *
 * Nothing here allocates, blocks or kills: no signal that a write raises reaches the host
 * (base/guest/own_thread.h), what a full pipe does not take within a moment is lost, and a
 * descriptor 2 that is no longer what it was at start is left alone. errno is kept.
 */
#pragma once

#include <stdbool.h>

/* Remembers what descriptor 2 is. */
void log_init(bool quiet);

/* Lines as they are, ended by a line break; in one write unless they are longer than 4 KiB. */
void log_lines(const char *lines);

/* "memtrace: " and the parts, ended by NULL, as one line. */
void log_say(const char *part, ...) __attribute__((sentinel));
