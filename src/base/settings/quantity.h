/*
 * Parses sizes and times as people type them: "30 GiB", "512MB", "12.5s", "10min".
 *
 * The library's constructor calls quantity_parse(), so this code uses neither libc nor a locale.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Kinds of quantities, which differ in the units that they allow (table in quantity.c). */
enum quantity_kind {
	QUANTITY_NUMBER = 1,  /* a number without a unit */
	QUANTITY_SETTING = 2, /* bytes or a count; KB is 1024; a fraction needs K, M, G or T */
	QUANTITY_SIZE = 4,    /* bytes; KB is 1000 */
	QUANTITY_TIME = 8,    /* a time with a unit from ns to h; the value is in ns */
	QUANTITY_AGE = 16,    /* a time with the unit s, min, h or d; the value is in ns */
};

/* Reads the quantity at the beginning of the text. Returns the text after it, or NULL if there is
 * no quantity or its value exceeds 64 bits. */
const char *quantity_read(const char *text, enum quantity_kind kind, uint64_t *value);

/* True if the text is one quantity and nothing else. */
bool quantity_parse(const char *text, enum quantity_kind kind, uint64_t *value);

/* True if the text is one or more decimal digits and nothing else. */
bool quantity_digits(const char *text, uint64_t *value);
