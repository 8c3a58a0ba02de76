/*
 * Copies, joins and compares texts, and writes numbers, in buffers of the caller, without a locale.
 *
 * Every function that writes ends the text with a NUL and returns its length. Text that does not
 * fit is cut off. Nothing is allocated.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t text_copy(char *to, size_t size, const char *from);
size_t text_copy_n(char *to, size_t size, const char *from, size_t length);
size_t text_append(char *to, size_t size, const char *from);
size_t text_join(char *to, size_t size, const char *a, const char *b);

/* Write a number in decimal, or in hexadecimal with 0x; the buffer must hold 24 bytes. */
size_t text_u64(char *to, uint64_t value);
size_t text_hex(char *to, uint64_t value);

/* True if the texts are equal, or both are NULL. */
bool text_same(const char *a, const char *b);

/* True if `text` ends with `end` and is longer. */
bool text_ends(const char *text, const char *end);

/* Returns the part of a path after its last slash, the whole path if it has no slash. */
const char *text_base(const char *path);

/* Writes the path of file `name` in the folder of `path`; only `name` if `path` has no slash. */
size_t text_beside(char *to, size_t size, const char *path, const char *name);

/* `variable` is a text "NAME=value": returns its value if NAME is `name`, else NULL. */
const char *text_value(const char *variable, const char *name);

/* Defines `name` as a file's contents and a NUL; `path` is relative to the top of the sources. */
#define TEXT_OF_FILE(name, path)                                                      \
	extern const char name[];                                                     \
	__asm__(".pushsection .rodata\n.globl " #name "\n" #name ":\n.incbin \"" path \
		"\"\n.byte 0\n.popsection")
