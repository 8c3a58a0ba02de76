/*
 * Facts as people read them: sizes, times, names in columns, sentences in lines.
 *
 * What comes from a traced program may hold anything; nothing of it that could steer a terminal
 * passes through here.
 */
#ifndef RENDER_VALUES_TERM_H
#define RENDER_VALUES_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

enum {
	SHOW_NUMBER = 32, /* bytes for a number */
	SHOW_COLUMNS = 80,
};

/* "1.23 GiB", "12.3 s", "1,234,567", "99.9%"; "-" for TRACE_NONE. To a buffer of SHOW_NUMBER bytes.
 */
const char *show_bytes(char *to, uint64_t bytes);
const char *show_time(char *to, uint64_t ns);
const char *show_count(char *to, uint64_t count);
const char *show_share(char *to, uint64_t part, uint64_t whole);

/* The text in UTF-8 without controls (each becomes '?'), cut to `columns` with "..." at its end. */
size_t show_safe(char *to, size_t size, const char *text, unsigned columns);
unsigned show_columns(const char *text);

/* How a text is written: bold and dim on a terminal, plain elsewhere. */
struct show {
	struct out *out;
	bool colour;
};

void show_bold(const struct show *show, const char *text);
void show_dim(const struct show *show, const char *text);

/* In so many columns, at the right or at the left, made safe. */
void show_right(const struct show *show, const char *text, unsigned columns);
void show_left(const struct show *show, const char *text, unsigned columns);

/* A heading with a line of space in front of it. */
void show_heading(const struct show *show, const char *text);

/* A sentence in lines of 80 columns, those behind the first indented. */
void show_wrapped(const struct show *show, const char *sentence, unsigned indent, bool bold);

#endif
