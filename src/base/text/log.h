/*
 * Writes the library's rare messages to the stderr of the traced program.
 *
 * No function here allocates, blocks for long or ends the program: a signal that a write raises
 * does not reach the program (base/guest/own_stack_and_thread.h). Text that a full pipe does not
 * take within 100 ms is lost. Nothing is written if descriptor 2 is no longer the file that it was
 * at start. errno is unchanged.
 */
#pragma once

#include <stdbool.h>

/* Remembers the file behind descriptor 2. If `quiet`, no message is ever written. */
void log_init(bool quiet);

/* Writes lines, each of which ends in a line break; by one write() if they have at most 4 KiB. */
void log_lines(const char *lines);

/* Writes one line: "memtrace: " and all arguments, cut at 2 KiB. The last one must be NULL. */
void log_say(const char *part, ...) __attribute__((sentinel));
