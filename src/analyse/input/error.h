/*
 * The text of an error, set once, closest to its cause: `return err("%s: chunk %u ends past the
 * file", ...)`.
 *
 * For the tool and for the writer of documents; cli prints the text as `memtrace: <command>:
 * <text>`.
 */
#pragma once

#include <errno.h>

/* Keeps the text (cut at 1,000 bytes) and returns -EINVAL, visibly for callers and analyzers. */
#define err(...)                      \
	__extension__({               \
		err_set(__VA_ARGS__); \
		-EINVAL;              \
	})
void err_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of a file for which there is no memory left. */
#define err_no_memory(path) err("%s: no memory left", path)

/* The text of the latest err(), "" when there was none. */
const char *err_text(void);

/* Ends the process where a command cannot go on for lack of memory: main.c sets a function that
 * prints the message and exits; without main.c it aborts. */
extern __attribute__((noreturn)) void (*err_out_of_memory)(void);
