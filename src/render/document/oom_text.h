/*
 * An allocation that failed, told to people in at most 24 lines: what stderr shows at the end, what
 * the document holds, what `memtrace report --oom` prints.
 *
 * Also used at the end of the traced program: no allocation.
 */
#ifndef RENDER_DOCUMENT_OOM_TEXT_H
#define RENDER_DOCUMENT_OOM_TEXT_H

#include <stddef.h>

struct oom;
struct recording;

enum {
	OOM_TEXT_LINES = 23, /* one more names the trace */
	OOM_TEXT_COLUMNS = 80,
	OOM_TEXT_BYTES = 4 * OOM_TEXT_COLUMNS + 1, /* of a line, in UTF-8 */
};

struct oom_text {
	char lines[OOM_TEXT_LINES][OOM_TEXT_BYTES];
	unsigned count;
};

void oom_text(struct oom_text *text, const struct oom *oom, const struct recording *recording);

/* The piece of advice number `i` of the failure, with its numbers. */
void oom_text_advice(const struct oom *oom, unsigned i, char *to, size_t size);

#endif
