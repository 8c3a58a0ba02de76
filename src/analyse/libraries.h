/* What a library is to the question "who asked for this memory": the rows of libraries.def. */
#ifndef ANALYSE_LIBRARIES_H
#define ANALYSE_LIBRARIES_H

#include <stddef.h>
#include <string.h>

enum library_kind {
	LIBRARY_OWN, /* in no row: the program's own code */
	LIBRARY_VENDOR,
	LIBRARY_FRAMEWORK,
	LIBRARY_PLUMBING,
};

/* Of a file's base name. */
static inline enum library_kind library_kind(const char *base)
{
	static const struct {
		const char *begins;
		enum library_kind kind;
	} rows[] = {
#define LIBRARY(begins, kind) { begins, LIBRARY_##kind },
#include "analyse/libraries.def"
#undef LIBRARY
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strncmp(base, rows[i].begins, strlen(rows[i].begins)))
			return rows[i].kind;
	}
	return LIBRARY_OWN;
}

/* What a Python file is; the smaller, the more it says. */
enum place_kind {
	PLACE_OWN,
	PLACE_PACKAGE,
	PLACE_FRAMEWORK,
};

/* Of a path as the interpreter has it: "<stdin>" is one too. */
static inline enum place_kind place_kind(const char *path)
{
	static const struct {
		const char *part;
		enum place_kind kind;
	} rows[] = {
#define PLACE(part, kind) { part, PLACE_##kind },
#include "analyse/libraries.def"
#undef PLACE
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = strstr(path, rows[i].part);

		if (at && (at == path || rows[i].part[0] != '<'))
			return rows[i].kind;
	}
	return PLACE_OWN;
}

#endif
