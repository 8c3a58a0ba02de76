/* What a library is to the question "who asked for this memory": the rows of libraries.def. */
#ifndef ANALYSE_LIBRARIES_H
#define ANALYSE_LIBRARIES_H

#include <stdbool.h>
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

/*
 * The call of the static CUDA runtime that the program made keeps its name: "cuda" and a capital.
 * A function of a C++ program is no call: its name has an argument list or a scope.
 */
static inline bool is_runtime_call(const char *function)
{
	return !strncmp(function, "cuda", 4) && function[4] >= 'A' && function[4] <= 'Z' &&
	       !strpbrk(function, "(:");
}

/* Of a native function, whatever file it is in: the rows of LINKED, and the runtime's calls. */
static inline bool is_linked_in(const char *function)
{
	static const char *const begins[] = {
#define LINKED(begins) begins,
#include "analyse/libraries.def"
#undef LINKED
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (!strncmp(function, begins[i], strlen(begins[i])))
			return true;
	}
	return is_runtime_call(function);
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
