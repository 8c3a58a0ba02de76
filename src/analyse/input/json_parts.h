/* What the files of json*.c share: strings and numbers, apart from where their bytes come from. */
#ifndef ANALYSE_INPUT_JSON_PARTS_H
#define ANALYSE_INPUT_JSON_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct json;

/* Unescapes text[0..length) in place; false when an escape is broken. */
bool json_unescape(struct json *json);

/* Is text[0..length) a number of RFC 8259, and is it an integer? */
bool json_number_form(const char *text, size_t length, bool *integer);

/* The magnitude of the integer in text[0..length); false when 64 bits do not hold it. */
bool json_exact(struct json *json);

#endif
