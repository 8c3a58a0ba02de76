/*
 * Names and patterns: * stands for anything, ? for any letter, and all else for itself.
 *
 * No fnmatch(3): brackets are plain in C++ and Python names.
 */
#pragma once

#include <stdbool.h>

/* True if the pattern fits the whole text. */
bool pattern_fits(const char *pattern, const char *text);

/* True if one of the patterns, with | between them, fits. NULL, as either, fits nothing. */
bool pattern_any_fits(const char *patterns, const char *text);
