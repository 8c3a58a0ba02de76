/* Copies, joins and compares texts and writes numbers, in buffers of the caller. */
#include "base/text/text.h"

#include <string.h>

#include "base/guest/start.h"

size_t text_copy_n(char *to, size_t size, const char *from, size_t length)
{
	if (!size)
		return 0;
	if (length > size - 1)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
	return length;
}

size_t text_copy(char *to, size_t size, const char *from)
{
	return text_copy_n(to, size, from, strlen(from));
}

size_t text_append(char *to, size_t size, const char *from)
{
	size_t used = strnlen(to, size);

	return used + text_copy(to + used, size - used, from);
}

size_t text_join(char *to, size_t size, const char *a, const char *b)
{
	text_copy(to, size, a);
	return text_append(to, size, b);
}

/* Two digits for each of 0 to 99. text_u64() gets four digits from each 64-bit division, because
 * divisions take most of its time. */
static const char digit_pairs[] = "00010203040506070809"
				  "10111213141516171819"
				  "20212223242526272829"
				  "30313233343536373839"
				  "40414243444546474849"
				  "50515253545556575859"
				  "60616263646566676869"
				  "70717273747576777879"
				  "80818283848586878889"
				  "90919293949596979899";

static void put_digits(char *to, size_t pair)
{
	memcpy(to, &digit_pairs[pair * 2], 2);
}

/* Returns the number of decimal digits of a value. */
static size_t digits_of(uint64_t value)
{
#define TEN_OF(n) n, n * 10, n * 100, n * 1000, n * 10000
	static const uint64_t powers[] = { TEN_OF(1ULL), TEN_OF(100000ULL), TEN_OF(10000000000ULL),
					   TEN_OF(1000000000000000ULL) };
#undef TEN_OF
	/* The number of bits times log10(2) is the length, or one less. */
	size_t length = (size_t)(64 - __builtin_clzll(value | 1)) * 1233 / 4096;

	return length + (value >= powers[length] || !length);
}

size_t text_u64(char *to, uint64_t value)
{
	const size_t length = digits_of(value);
	char *at = to + length;
	unsigned rest;

	*at = '\0';
	for (; value >= 10000; value /= 10000) {
		rest = (unsigned)(value % 10000);
		put_digits(at -= 2, rest % 100);
		put_digits(at -= 2, rest / 100);
	}
	rest = (unsigned)value;
	if (rest >= 100) {
		put_digits(at -= 2, rest % 100);
		rest /= 100;
	}
	if (rest >= 10)
		put_digits(at - 2, rest);
	else
		at[-1] = (char)('0' + rest);
	return length;
}

size_t text_hex(char *to, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	unsigned length = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;

	to[0] = '0';
	to[1] = 'x';
	for (unsigned i = 0; i < length; i++)
		to[2 + i] = digits[(value >> (4 * (length - 1 - i))) & 15];
	to[2 + length] = '\0';
	return 2 + length;
}

bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool text_ends(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t behind = strlen(end);

	return length > behind && !memcmp(text + length - behind, end, behind);
}

/* Does not use strrchr(), as the library's constructor avoids symbol lookups (guest/start.h). */
START_CODE const char *text_base(const char *path)
{
	const char *base = path;

	for (; *path; path++) {
		if (*path == '/')
			base = path + 1;
	}
	return base;
}

size_t text_beside(char *to, size_t size, const char *path, const char *name)
{
	text_copy_n(to, size, path, (size_t)(text_base(path) - path));
	return text_append(to, size, name);
}

START_CODE const char *text_value(const char *variable, const char *name)
{
	const char *after = start_after(variable, name);

	return after && *after == '=' ? after + 1 : NULL;
}
