/*
 * Names of functions and files, shortened to what tells them apart.
 *
 * Also used at the end of the traced program: no allocation.
 */
#ifndef FACTS_NAMES_H
#define FACTS_NAMES_H

#include <stddef.h>

/* "void at::f<float, 4>(at::Tensor const&) const" says no more than "at::f<...>"; cut to size. */
void names_short(const char *from, char *to, size_t size);

/* The last part of a path, two of it when the last is the same in every package. */
const char *names_path(const char *path);

#endif
