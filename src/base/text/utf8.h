/*
 * UTF-8 (RFC 3629) from untrusted sources: decoding, encoding, and removal of characters that could
 * mislead a terminal or its reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character at p, where at most `left` bytes may be read. Returns its length in bytes, or
 * 0 if these bytes are not UTF-8 (overlong, a surrogate, cut off). Nothing beyond a NUL is read. */
size_t utf8_decode(const char *p, size_t left, uint32_t *c);

enum { UTF8_MOST = 4 };

/* Writes a character's bytes, or those of U+FFFD if c is not a character (a surrogate, above
 * 0x10ffff). Returns their number, at most UTF8_MOST, or 0 if more than `room` bytes are needed. */
size_t utf8_encode(char *to, size_t room, uint32_t c);

/* False for control characters and for those that reorder or hide text or break lines (UAX 9,
 * "Trojan Source"): they change what a reader sees or what the terminal does. */
bool utf8_harmless(uint32_t c);

/* Replaces each invalid byte, and each character that is not utf8_harmless(), by '?', in place. */
void utf8_clean(char *text);
