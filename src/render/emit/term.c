/* Measures text, and writes it wrapped to lines, and bold or dim if the output is a terminal. */
#include "render/emit/term.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "render/values/values.h"

const char *show_amount(char *to, int64_t amount, bool bytes, bool sign)
{
	uint64_t size = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;

	text_join(to, SHOW_MANY,
		  amount < 0           ? "-"
		  : sign && amount > 0 ? "+"
				       : "",
		  bytes ? SAY_BYTES(size) : SAY_COUNT(size));
	return to;
}

const char *show_many(char *to, uint64_t count, const char *what)
{
	snprintf(to, SHOW_MANY, "%s %s%s", SAY_COUNT(count), what, count == 1 ? "" : "s");
	return to;
}

const char *show_vkept(struct arena *arena, const char *format, va_list arguments)
{
	char text[4096];

	vsnprintf(text, sizeof(text), format, arguments);
	return need_text(arena, text);
}

const char *show_kept(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	const char *kept;

	va_start(arguments, format);
	kept = show_vkept(arena, format, arguments);
	va_end(arguments);
	return kept;
}

unsigned show_columns(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += (*text & 0xc0) != 0x80;
	return columns;
}

static void styled(const struct show *show, const char *style, const char *text)
{
	if (show->colour)
		out_text(show->out, style);
	out_text(show->out, text);
	if (show->colour)
		out_text(show->out, "\033[0m");
}

void show_bold(const struct show *show, const char *text)
{
	styled(show, "\033[1m", text);
}

void show_dim(const struct show *show, const char *text)
{
	styled(show, "\033[2m", text);
}

/* Returns the first word's length in bytes; a number with the word after it counts as one word. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " ");

	while (length && text[length] && text[length - 1] >= '0' && text[length - 1] <= '9' &&
	       (text[length + 1] | 0x20) >= 'a' && (text[length + 1] | 0x20) <= 'z')
		length += 1 + strcspn(text + length + 1, " ");
	return length;
}

static void put_words(const struct show *show, const char *text, unsigned column, unsigned indent)
{
	char safe[4096];
	bool first = true;

	show_safe(safe, sizeof(safe), text, sizeof(safe));
	for (char *word = safe; *word; first = false) {
		size_t length = word_length(word);
		char end = word[length];

		word[length] = '\0';
		if (!first && column + 1 + show_columns(word) > SHOW_COLUMNS) {
			out_format(show->out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			out_char(show->out, ' ');
			column++;
		}
		out_text(show->out, word);
		column += show_columns(word);
		word += length + (end != '\0');
	}
}

void show_words(const struct show *show, const char *text, unsigned column, unsigned indent)
{
	put_words(show, text, column, indent);
	out_char(show->out, '\n');
}

void show_wrapped(const struct show *show, const char *sentence, unsigned indent, bool bold)
{
	if (bold && show->colour)
		out_text(show->out, "\033[1m");
	put_words(show, sentence, 0, indent);
	if (bold && show->colour)
		out_text(show->out, "\033[0m");
	out_char(show->out, '\n');
}

void out_format(struct out *out, const char *format, ...)
{
	char line[4096];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length > 0)
		out_bytes(out, line,
			  (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}

void show_heading(const struct show *show, const char *text)
{
	out_char(show->out, '\n');
	show_wrapped(show, text, 2, true);
}

void show_more(char *to, size_t size, const char *format, ...)
{
	size_t used = strlen(to);
	va_list list;

	va_start(list, format);
	vsnprintf(to + used, size - used, format, list);
	va_end(list);
}
