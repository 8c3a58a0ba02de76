/* Decodes and encodes UTF-8, and replaces what must not reach a terminal. */
#include "base/text/utf8.h"

#include <string.h>

#include "base/mem/each.h"

size_t utf8_decode(const char *text, size_t left, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t length = p[0] < 0x80   ? 1
			: p[0] < 0xc2 ? 0
			: p[0] < 0xe0 ? 2
			: p[0] < 0xf0 ? 3
			: p[0] < 0xf5 ? 4
				      : 0;

	if (!length || length > left)
		return 0;
	*c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if (*c < least[length] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return length;
}

size_t utf8_encode(char *to, size_t room, uint32_t c)
{
	static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 }; /* first byte, by length */
	size_t length;

	if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd;
	length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (length > room)
		return 0;
	for (size_t i = length; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 63));
	to[0] = (char)(lead[length] | c);
	return length;
}

bool utf8_harmless(uint32_t c)
{
	static const struct {
		uint32_t low, high;
	} harmful[] = {
		{ 0x00, 0x1f },       { 0x7f, 0x9f },       { 0xad, 0xad },     { 0x600, 0x605 },
		{ 0x61c, 0x61c },     { 0x6dd, 0x6dd },     { 0x180e, 0x180e }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < COUNT_OF(harmful); i++) {
		if (c >= harmful[i].low && c <= harmful[i].high)
			return false;
	}
	return true;
}

void utf8_clean(char *text)
{
	char *to = text;

	while (*text) {
		uint32_t c;
		size_t length = utf8_decode(text, 4, &c);

		if (length && utf8_harmless(c)) {
			memmove(to, text, length);
			to += length;
		} else {
			*to++ = '?';
		}
		text += length ? length : 1;
	}
	*to = '\0';
}
