/* What a library is to the question "who asked for this memory": the rows of libraries.def. */
#ifndef FACTS_LIBRARIES_H
#define FACTS_LIBRARIES_H

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
#define LIBRARY(begins, kind)                       \
	if (!strncmp(base, begins, strlen(begins))) \
		return LIBRARY_##kind;
#include "facts/libraries.def"
#undef LIBRARY
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
#define LINKED(begins)                                  \
	if (!strncmp(function, begins, strlen(begins))) \
		return true;
#include "facts/libraries.def"
#undef LINKED
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
#define PLACE(part, kind)                                                                     \
	if (part[0] == '<' ? !strncmp(path, part, strlen(part)) : strstr(path, part) != NULL) \
		return PLACE_##kind;
#include "facts/libraries.def"
#undef PLACE
	return PLACE_OWN;
}

#endif
