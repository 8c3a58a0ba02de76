/*
 * The text of the latest error, set where the error is found: `return err("%s: chunk %u ends past
 * the file", ...)`. The tool prints the text as `memtrace: <command>: <text>`.
 */
#pragma once

#include <errno.h>

/* Stores the text, cut to 999 bytes. A macro, so that static analyzers see its value, -EINVAL. */
#define err(...)                      \
	__extension__({               \
		err_set(__VA_ARGS__); \
		-EINVAL;              \
	})
void err_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the text of the latest err(), or "" if there was none. */
const char *err_text(void);

/* Called when memory runs out. By default it aborts the process; main() of the tool replaces it by
 * a function that prints a message and exits. */
extern __attribute__((noreturn)) void (*err_out_of_memory)(void);
