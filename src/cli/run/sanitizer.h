/* Programs under AddressSanitizer, whose runtime wants to be loaded before everything else. */
#pragma once

#include <stdbool.h>

/* Does the program (a file, or a name in PATH) need the sanitizer's runtime as a library? */
bool sanitizer_in(const char *program);

/*
 * If it does, or if LD_PRELOAD names the runtime: lets the runtime be content with not being the
 * first, by its own setting in ASAN_OPTIONS. What the user has set there about it is left alone.
 */
void sanitizer_admit(const char *program);
