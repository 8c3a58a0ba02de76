/*
 * What went wrong, said once, closest to the cause: `return err("%s: chunk %u ends past the file",
 * ...)`.
 *
 * For the tool and for the writer of documents; cli prints the text as `memtrace: <command>:
 * <text>`.
 */
#ifndef ANALYSE_INPUT_ERROR_H
#define ANALYSE_INPUT_ERROR_H

/* Remembers the text (cut at 1,000 bytes) and gives -EINVAL. */
int err(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of a file for which there is no memory left. */
int err_no_memory(const char *path);

/* The text of the latest err(), "" when there was none. */
const char *err_text(void);

#endif
