/*
 * The text of the latest error, set as close to the cause as possible: `return err("%s: chunk %u
 * ends past the file", ...)`. The tool prints the text as `memtrace: <command>: <text>`.
 */
#pragma once

#include <errno.h>

/* Stores the text, cut to 999 bytes; returns -EINVAL. A macro, so that analyzers see -EINVAL. */
#define err(...)                      \
	__extension__({               \
		err_set(__VA_ARGS__); \
		-EINVAL;              \
	})
void err_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The text of the latest err(), "" when there was none. */
const char *err_text(void);

/* Called if a command cannot go on for lack of memory. By default it aborts the process; the tool's
 * main() sets it to a function that prints a message and exits. */
extern __attribute__((noreturn)) void (*err_out_of_memory)(void);
