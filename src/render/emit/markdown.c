/* Text of traced programs in Markdown. */
#include "render/emit/markdown.h"

#include <string.h>

#include "base/text/out.h"
#include "render/values/values.h"

void markdown_text(struct out *out, const char *text)
{
	char safe[4 * MARKDOWN_NAME];

	show_safe(safe, sizeof(safe), text, MARKDOWN_NAME);
	for (const char *p = safe; *p; p++) {
		if (strchr("&<>\"'|`*_~[](){}#@\\!:", *p))
			out_format(out, "&#%d;", *p);
		else
			out_char(out, *p);
	}
}
