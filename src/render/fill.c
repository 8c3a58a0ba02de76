/* Texts with facts in them. */
#include "render/fill.h"

#include <string.h>

#include "base/text.h"
#include "render/show.h"

static size_t put_fact(char *to, size_t size, const struct fill_row *row, const void *facts)
{
	const char *at = (const char *)facts + row->at;
	char number[SHOW_NUMBER];
	uint64_t value;

	if (!row->show)
		return text_copy(to, size, at);
	memcpy(&value, at, sizeof(value));
	return text_copy(to, size, row->show(number, value));
}

void fill_text(char *to, size_t size, const char *text, const struct fill_row *rows, size_t rows_n,
	       const void *facts)
{
	size_t used = 0;

	to[0] = '\0';
	while (*text) {
		size_t plain = strcspn(text, "{");
		size_t name;

		used += text_copy_n(to + used, size - used, text, plain);
		text += plain;
		if (!*text)
			break;
		name = strcspn(text + 1, "}");
		for (size_t i = 0; i < rows_n; i++) {
			if (strlen(rows[i].name) == name && !strncmp(rows[i].name, text + 1, name))
				used += put_fact(to + used, size - used, &rows[i], facts);
		}
		text += name + 1;
		text += *text == '}';
	}
}
