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

/* True if they are equal. NULL equals NULL alone. */
bool text_same(const char *a, const char *b);

/* True if the text is longer than the end, and ends with it. */
bool text_ends(const char *text, const char *end);

/* The part of a path after its last slash. */
const char *text_base(const char *path);

/* The value of NAME=value if the variable has this name, else NULL. */
const char *text_value(const char *variable, const char *name);

/* Defines `name`, the bytes of a file and a NUL; the path is below the top of the source tree. */
#define TEXT_OF_FILE(name, path)                                                      \
	extern const char name[];                                                     \
	__asm__(".pushsection .rodata\n.globl " #name "\n" #name ":\n.incbin \"" path \
		"\"\n.byte 0\n.popsection")
