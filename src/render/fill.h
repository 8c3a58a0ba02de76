/*
 * Texts with facts in them: "{cached} of {reserved} lay unused". Rows of a table of facts say what
 * the names are.
 *
 * Also used at the end of the traced program: no allocation.
 */
#ifndef RENDER_FILL_H
#define RENDER_FILL_H

#include <stddef.h>
#include <stdint.h>

struct fill_row {
	const char *name;
	const char *(*show)(char *, uint64_t); /* of show.h; NULL: the fact is words */
	size_t at;                             /* in the struct of facts */
};

/* Puts facts in the places of their names, nothing where there is none of the name; cut to size. */
void fill_text(char *to, size_t size, const char *text, const struct fill_row *rows, size_t rows_n,
	       const void *facts);

#endif
