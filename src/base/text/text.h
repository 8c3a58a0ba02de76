/*
 * Text in fixed buffers: joining, copying, numbers, without locale and without allocation.
 *
 * Every function ends the buffer with a NUL and returns the length written; what does not fit is
 * cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_copy(char *to, size_t size, const char *from);
size_t text_copy_n(char *to, size_t size, const char *from, size_t length);
size_t text_append(char *to, size_t size, const char *from);
size_t text_join(char *to, size_t size, const char *a, const char *b);

/* Decimal and 0x-hexadecimal digits of a number; the buffer must hold 24 bytes. */
size_t text_u64(char *to, uint64_t value);
size_t text_hex(char *to, uint64_t value);

/* Are they the same? NULL is the same as NULL alone. */
bool text_same(const char *a, const char *b);

/* Does it end so, with something in front of the end? */
bool text_ends(const char *text, const char *end);

/* The part of a path behind its last slash. */
const char *text_base(const char *path);

/* What follows NAME= where the variable (of the environment) is named so, NULL where it is another.
 */
const char *text_value(const char *variable, const char *name);
