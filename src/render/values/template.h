/*
 * Texts with facts in them: "{cached} of {reserved} lay unused".
 *
 * Also used at the end of the traced program: no allocation.
 */
#ifndef RENDER_VALUES_TEMPLATE_H
#define RENDER_VALUES_TEMPLATE_H

#include <stddef.h>
#include <string.h>

#include "base/text/text.h"

enum { FILL_NAME = 64 }; /* bytes of a fact's name */

/* Writes the fact of that name as people read it, cut to size: its length, 0 when there is none. */
typedef size_t fill_fact(char *to, size_t size, const char *name, const void *facts);

/*
 * In the body of a fill_fact, whose parameters have these names: writes the text `shown` and
 * returns if it is the fact that is asked for. `shown` is evaluated only then.
 */
#define FILL_FACT(fact, shown)    \
	if (!strcmp(name, #fact)) \
		return text_copy(to, size, shown);

/* Puts facts in the places of their names; cut to size. */
void fill_text(char *to, size_t size, const char *text, fill_fact *fact, const void *facts);

#endif
