#include "render/values/values.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "base/text/utf8.h"

const char *show_bytes(char *to, uint64_t bytes)
{
	static const char units[][4] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	size_t unit = 0;

	if (bytes == UINT64_MAX) {
		text_copy(to, SHOW_NUMBER, "-");
	} else if (bytes < 1024) {
		snprintf(to, SHOW_NUMBER, "%u B", (unsigned)bytes);
	} else {
		/* 1023.995 becomes "1.00" of the next unit, since "%.2f" prints "1024.00". */
		for (value /= 1024; value >= 1023.995 && unit < 5; unit++)
			value /= 1024;
		snprintf(to, SHOW_NUMBER, "%.2f %s", value, units[unit]);
	}
	return to;
}

const char *show_time(char *to, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000;

	if (ns == UINT64_MAX)
		text_copy(to, SHOW_NUMBER, "-");
	else if (ns < 1000)
		snprintf(to, SHOW_NUMBER, "%u ns", (unsigned)ns);
	else if (ns < 999950)
		snprintf(to, SHOW_NUMBER, "%.1f us", (double)ns / 1e3);
	else if (ns < 999950000)
		snprintf(to, SHOW_NUMBER, "%.1f ms", (double)ns / 1e6);
	else if (ns < 59950000000)
		snprintf(to, SHOW_NUMBER, "%.1f s", (double)ns / 1e9);
	else if (seconds < 3600)
		snprintf(to, SHOW_NUMBER, "%u min %02u s", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60));
	else
		snprintf(to, SHOW_NUMBER, "%llu h %02u min", (unsigned long long)(seconds / 3600),
			 (unsigned)(seconds / 60 % 60));
	return to;
}

const char *show_count(char *to, uint64_t count)
{
	char digits[24];
	size_t length = text_u64(digits, count);
	size_t used = 0;

	if (count == UINT64_MAX) {
		text_copy(to, SHOW_NUMBER, "-");
		return to;
	}
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			to[used++] = ',';
		to[used++] = digits[i];
	}
	to[used] = '\0';
	return to;
}

const char *show_share(char *to, uint64_t part, uint64_t whole)
{
	if (whole)
		snprintf(to, SHOW_NUMBER, "%.1f%%", (double)part * 100 / (double)whole);
	else
		text_copy(to, SHOW_NUMBER, "-");
	return to;
}

/* Copies the character at *text, or '?' if it may control a terminal, to `to` unless that is NULL,
 * and moves *text past the character. Returns the number of bytes of the copy. */
static size_t put_safe(char *to, const char **text)
{
	uint32_t c;
	size_t length = utf8_decode(*text, 4, &c);
	bool harmless = length && utf8_harmless(c);

	if (to)
		memcpy(to, harmless ? *text : "?", harmless ? length : 1);
	*text += length ? length : 1;
	return harmless ? length : 1;
}

size_t show_cut(char *to, size_t size, const char *text, unsigned columns, unsigned sixths)
{
	unsigned lead = (unsigned)strspn(text, " ");
	unsigned dots = columns < 3 ? columns : 3;
	unsigned all = 0, head, tail;
	size_t used = 0;

	for (const char *p = text; *p; all++)
		put_safe(NULL, &p);
	tail = columns > lead + dots ? (columns - lead - dots) * sixths / 6 : 0;
	head = all > columns ? columns - dots - tail : all;
	for (unsigned i = 0; *text && used + 4 < size; i++) {
		if (i == head)
			used += text_copy_n(to + used, size - used, "...", dots);
		if (i < head || i >= all - tail)
			used += put_safe(to + used, &text);
		else
			put_safe(NULL, &text);
	}
	if (*text)
		used += text_copy(to + used, size - used, "...");
	to[used] = '\0';
	return used;
}

size_t show_safe(char *to, size_t size, const char *text, unsigned columns)
{
	return show_cut(to, size, text, columns, 0);
}

void fill_text(char *to, size_t size, const char *text, fill_fact *fact, const void *facts)
{
	size_t used = 0;

	to[0] = '\0';
	while (*text) {
		char name[FILL_NAME];
		size_t length = strcspn(text, "{");

		used += text_copy_n(to + used, size - used, text, length);
		text += length;
		if (!*text)
			break;
		length = strcspn(text + 1, "}");
		text_copy_n(name, sizeof(name), text + 1, length);
		used += fact(to + used, size - used, name, facts);
		text += length + 1;
		text += *text == '}';
	}
}
