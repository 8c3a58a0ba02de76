/*
 * UTF-8 (RFC 3629) from any source: a character and its length, and whether it may reach a
 * terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character at p, of which `left` bytes may be read: its length, or 0 if there is none
 * (overlong forms, surrogates, cut bytes). A NUL ends the readable bytes, too. */
size_t utf8_decode(const char *p, size_t left, uint32_t *c);

enum { UTF8_MOST = 4 };

/* Writes the bytes of a character, or those of U+FFFD for a number that is none (a surrogate, above
 * 0x10ffff). Returns their count, UTF8_MOST at most; 0, with nothing written, if `room` is less. */
size_t utf8_encode(char *to, size_t room, uint32_t c);

/* False for controls and for characters that reorder, hide or break lines (UAX 9, "Trojan Source"):
 * printed as they are, they change what a reader sees, or what the terminal does. */
bool utf8_harmless(uint32_t c);

/* Replaces each such character, and each byte that is not UTF-8, by '?', in place. */
void utf8_clean(char *text);
