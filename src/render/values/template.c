/* Texts with facts in them. */
#include "render/values/template.h"

#include <string.h>

#include "base/text/text.h"

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
