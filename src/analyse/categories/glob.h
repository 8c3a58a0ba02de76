/*
 * Patterns for names: * stands for any text, ? for any one character, all else for itself.
 *
 * This is not fnmatch(3), because brackets in C++ and Python names must be plain characters.
 */
#pragma once

#include <stdbool.h>

/* True if the pattern fits the whole text. */
bool pattern_fits(const char *pattern, const char *text);

/* True if one of the patterns, which are separated by |, fits the whole text; false for NULL. */
bool pattern_any_fits(const char *patterns, const char *text);
