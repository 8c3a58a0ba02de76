/*
 * Values as people read them: sizes, times, names cut to a width.
 *
 * Text from a traced program may hold anything. These functions let no character through that could
 * steer a terminal.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text/text.h"

enum { SHOW_NUMBER = 32 }; /* bytes for a number */

/* "1.23 GiB", "12.3 s", "1,234,567", "99.9%"; "-" for TRACE_NONE. SHOW_NUMBER bytes. */
const char *show_bytes(char *to, uint64_t bytes);
const char *show_time(char *to, uint64_t ns);
const char *show_count(char *to, uint64_t count);
const char *show_share(char *to, uint64_t part, uint64_t whole);

/* Copies the text as UTF-8 without control characters (each becomes '?'), cut to `columns` with
 * "..." at its end. Returns the bytes written, without the final 0. */
size_t show_safe(char *to, size_t size, const char *text, unsigned columns);

/* Texts with facts in them: "{cached} of {reserved} lay unused". */
enum { FILL_NAME = 64 }; /* bytes of a fact's name */

/* Writes the named fact's value for people, cut to size: its length, 0 for none. */
typedef size_t fill_fact(char *to, size_t size, const char *name, const void *facts);

/* For the body of a fill_fact, whose parameters have these names: writes the text `shown` and
 * returns if it is the fact asked for. `shown` is evaluated only then. */
#define FILL_FACT(fact, shown)    \
	if (!strcmp(name, #fact)) \
		return text_copy(to, size, shown);

/* Copies the text with its facts filled in, cut to size. */
void fill_text(char *to, size_t size, const char *text, fill_fact *fact, const void *facts);
