/* Text of traced programs in Markdown. */
#ifndef RENDER_EMIT_MARKDOWN_H
#define RENDER_EMIT_MARKDOWN_H

struct out;

enum { MARKDOWN_NAME = 240 }; /* columns that a name is cut to */

/* The text made safe, with entities for all that could be markup, a mention or a link. */
void markdown_text(struct out *out, const char *text);

#endif
