/*
 * UTF-8 (RFC 3629) from whoever: a character and its length, and whether it may reach a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The character at p, of which `left` bytes may be read: its length, or 0 when it is none (overlong
 * forms, surrogates, what is cut). A NUL ends what may be read as well.
 */
size_t utf8_decode(const char *p, size_t left, uint32_t *c);

enum { UTF8_MOST = 4 };

/* Bytes of a character, of what is none (a surrogate, above 0x10ffff) those of U+FFFD: their
 * number, UTF8_MOST at most; 0, and none of them written, where `room` is less. */
size_t utf8_encode(char *to, size_t room, uint32_t c);

/*
 * False for controls and for what reorders, hides or breaks lines (UAX 9, "Trojan Source"): printed
 * as it is, such a character changes what a reader sees, or what the terminal does.
 */
bool utf8_harmless(uint32_t c);

/* Makes each such character, and each byte that is no UTF-8, a '?', in place. */
void utf8_clean(char *text);
