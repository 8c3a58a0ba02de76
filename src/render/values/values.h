/* Values as people read them: sizes, times, names cut to a width. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text/text.h"

enum { SHOW_NUMBER = 32 }; /* size of a buffer for any printed number, in bytes */

/* Write "1.23 GiB", "12.3 s", "1,234,567" or "99.9%" to a buffer of SHOW_NUMBER bytes; "-" for
 * TRACE_NONE and for a share of a total of 0 bytes. All return `to`. */
const char *show_bytes(char *to, uint64_t bytes);
const char *show_time(char *to, uint64_t ns);
const char *show_count(char *to, uint64_t count);
const char *show_share(char *to, uint64_t part, uint64_t whole);

/* Copies text that may come from a traced program. '?' replaces what is not UTF-8 or could control
 * a terminal; a text longer than `columns` ends in "...". Returns the length in bytes. */
size_t show_safe(char *to, size_t size, const char *text, unsigned columns);

/* As show_safe(), but "..." replaces the middle: `sixths`/6 of what is kept are from the end. */
enum { SHOW_MIDDLE = 3 };
size_t show_cut(char *to, size_t size, const char *text, unsigned columns, unsigned sixths);

/* In texts such as "{cached} of {reserved} was unused", facts replace the names in braces. */
enum { FILL_NAME = 64 }; /* bytes of a fact's name, with its NUL */

/* Writes the fact `name`, cut to `size` bytes. Returns its length, 0 if there is no such fact. */
typedef size_t fill_fact(char *to, size_t size, const char *name, const void *facts);

/* A statement for functions of type fill_fact that have its parameter names: if `name` is `fact`,
 * it writes the text `shown` and returns. `shown` is evaluated only then. */
#define FILL_FACT(fact, shown)    \
	if (!strcmp(name, #fact)) \
		return text_copy(to, size, shown);

/* Copies the text with each name in braces replaced by its fact, cut to `size` bytes. */
void fill_text(char *to, size_t size, const char *text, fill_fact *fact, const void *facts);
