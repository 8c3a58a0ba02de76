/*
 * Sizes and times as people type them: "30 GiB", "512MB", "12.5s", "10min".
 *
 * The library's constructor calls these functions, so they use neither libc nor a locale.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The kinds of units that may follow the number: quantity.c has their table. */
enum quantity_kind {
	QUANTITY_NUMBER = 1, /* no unit */
	QUANTITY_SETTING =
		2, /* of bytes or a count; KB is KiB here, and a number without a unit is whole */
	QUANTITY_SIZE = 4, /* of bytes */
	QUANTITY_TIME = 8, /* ns to h, to ns */
	QUANTITY_AGE = 16, /* s to d, to ns; without "m", which might mean megabytes */
};

/* Reads the quantity at the beginning of the text; returns the text after it, NULL when there is
 * none or it needs more than 64 bits. */
const char *quantity_read(const char *text, enum quantity_kind kind, uint64_t *value);

/* True if the text is one quantity and nothing else. */
bool quantity_parse(const char *text, enum quantity_kind kind, uint64_t *value);
