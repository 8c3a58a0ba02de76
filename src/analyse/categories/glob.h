/*
 * Names and patterns: * stands for anything, ? for any letter, and all else for itself.
 *
 * No fnmatch(3): brackets are plain in C++ and Python names.
 */
#pragma once

#include <stdbool.h>

/* Does the pattern fit the whole text? */
bool pattern_fits(const char *pattern, const char *text);

/* Does one of the patterns, with | between them? NULL, as either, fits nothing. */
bool pattern_any_fits(const char *patterns, const char *text);
