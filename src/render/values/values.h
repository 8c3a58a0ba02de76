/*
 * Facts as people read them: sizes, times, names cut to a width.
 *
 * What comes from a traced program may hold anything; nothing of it that could steer a terminal
 * passes through here.
 */
#ifndef RENDER_VALUES_VALUES_H
#define RENDER_VALUES_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum { SHOW_NUMBER = 32 }; /* bytes for a number */

/* "1.23 GiB", "12.3 s", "1,234,567", "99.9%"; "-" for TRACE_NONE. To a buffer of SHOW_NUMBER bytes.
 */
const char *show_bytes(char *to, uint64_t bytes);
const char *show_time(char *to, uint64_t ns);
const char *show_count(char *to, uint64_t count);
const char *show_share(char *to, uint64_t part, uint64_t whole);

/* The text in UTF-8 without controls (each becomes '?'), cut to `columns` with "..." at its end. */
size_t show_safe(char *to, size_t size, const char *text, unsigned columns);

#endif
