/*
 * Sizes and times as people type them: "30 GiB", "512MB", "12.5s", "10min".
 *
 * Also read in the library's constructor: nothing of libc, and no locale.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Which units may follow the number: the table in quantity.c has each unit's kinds. */
enum quantity_kind {
	QUANTITY_NUMBER = 1, /* none */
	QUANTITY_SETTING =
		2,         /* of bytes or a count; KB is KiB here, and what has no unit is whole */
	QUANTITY_SIZE = 4, /* of bytes */
	QUANTITY_TIME = 8, /* ns to h, to ns */
	QUANTITY_AGE = 16, /* s to d, to ns; "10m" might be meant for megabytes */
};

/* The quantity at the text's beginning; what follows it, NULL when there is none, or too much. */
const char *quantity_read(const char *text, enum quantity_kind kind, uint64_t *value);

/* The text is that and nothing else. */
bool quantity_parse(const char *text, enum quantity_kind kind, uint64_t *value);
