/* Text for people: numbers, headings, sentences; bold or dim if the output is a terminal. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "base/mem/arena.h"
#include "base/text/out.h"
#include "render/values/values.h"

enum { SHOW_COLUMNS = 80, SHOW_MANY = 64 };

/* Return "1.00 MiB", "1,234", "1.2 s" and "12.3%". The text is valid in the enclosing block. */
#define SAY_BYTES(bytes) show_bytes((char[SHOW_NUMBER]){ 0 }, bytes)
#define SAY_COUNT(count) show_count((char[SHOW_NUMBER]){ 0 }, count)
#define SAY_TIME(ns) show_time((char[SHOW_NUMBER]){ 0 }, ns)
#define SAY_SHARE(bytes, of) show_share((char[SHOW_NUMBER]){ 0 }, bytes, of)
/* Returns "1 block" or "1,234 blocks" for the word "block". */
#define SAY_MANY(count, what) show_many((char[SHOW_MANY]){ 0 }, count, what)

/* Return "-1.00 MiB" or, if not `bytes`, "-1,234"; SAY_SIGNED() adds a "+" to positive amounts. */
#define SAY_AMOUNT(amount, bytes) show_amount((char[SHOW_MANY]){ 0 }, amount, bytes, false)
#define SAY_SIGNED(amount, bytes) show_amount((char[SHOW_MANY]){ 0 }, amount, bytes, true)

const char *show_amount(char *to, int64_t amount, bool bytes, bool sign);
const char *show_many(char *to, uint64_t count, const char *what);

/* Appends to the text in `to` as printf would; text beyond `size` bytes is cut off. */
void show_more(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the text that printf would write, cut to 4,095 bytes, in the arena's memory. */
const char *show_kept(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *show_vkept(struct arena *arena, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* Returns the number of columns that a UTF-8 text takes: one for each character. */
unsigned show_columns(const char *text);

/* The destination of text, and its form. */
struct show {
	struct out *out;
	bool colour;        /* the output is a terminal that prints bold and dim */
	unsigned columns;   /* width of a table's lines, 0 for SHOW_COLUMNS */
	bool whole;         /* names in tables are not cut to fit `columns` */
	const char *prefix; /* text before each line of a table, NULL for none */
};

void show_bold(const struct show *show, const char *text);
void show_dim(const struct show *show, const char *text);

/* Writes a bold heading after an empty line, wrapped to 80 columns. */
void show_heading(const struct show *show, const char *text);

/* Writes words wrapped to 80 columns. The first line begins at column `column`, where the output is
 * already, the others at column `indent`. */
void show_words(const struct show *show, const char *text, unsigned column, unsigned indent);

/* Writes a sentence wrapped to 80 columns; lines after the first are indented by `indent`. */
void show_wrapped(const struct show *show, const char *sentence, unsigned indent, bool bold);

/* Writes to `out` as printf would; text beyond 4,095 bytes is cut off. */
void out_format(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
