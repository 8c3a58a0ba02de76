/* Values as people read them: sizes, times, names cut to a width. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text/text.h"

enum { SHOW_NUMBER = 32 }; /* bytes that a printed number takes at most */

/* Write "1.23 GiB", "12.3 s", "1,234,567", "99.9%" to SHOW_NUMBER bytes; "-" for TRACE_NONE, and
 * for a share of 0 bytes. */
const char *show_bytes(char *to, uint64_t bytes);
const char *show_time(char *to, uint64_t ns);
const char *show_count(char *to, uint64_t count);
const char *show_share(char *to, uint64_t part, uint64_t whole);

/* Copies text, which may come from a traced program, as UTF-8: '?' for what is not UTF-8 or could
 * control a terminal, cut to `columns` with "..." at its end. Returns its bytes without the NUL. */
size_t show_safe(char *to, size_t size, const char *text, unsigned columns);

/* Like show_safe(), but cuts the middle out: `sixths`/6 of the characters kept are the end. */
enum { SHOW_MIDDLE = 3 };
size_t show_cut(char *to, size_t size, const char *text, unsigned columns, unsigned sixths);

/* Texts in which names in braces are replaced by facts: "{cached} of {reserved} lay unused". */
enum { FILL_NAME = 64 }; /* bytes of a fact's name, with its NUL */

/* Writes the fact called `name`, cut to `size`; returns its length, 0 if there is no such fact. */
typedef size_t fill_fact(char *to, size_t size, const char *name, const void *facts);

/* For the body of a function of type fill_fact, with the same parameter names: if `name` is `fact`,
 * writes the text `shown` and returns. `shown` is evaluated only then. */
#define FILL_FACT(fact, shown)    \
	if (!strcmp(name, #fact)) \
		return text_copy(to, size, shown);

/* Copies the text, with names in braces replaced by their facts, cut to size. */
void fill_text(char *to, size_t size, const char *text, fill_fact *fact, const void *facts);
