/* Each stack as a text, made once: for the formats that name it in every row. */
#ifndef RENDER_SELECTION_STACK_TEXTS_H
#define RENDER_SELECTION_STACK_TEXTS_H

#include <stdint.h>

struct trace;

struct stack_text {
	const char *line;   /* "Net.forward (train.py:12)": the frame that matters to its user */
	const char *frames; /* those worth showing, " < " between them, innermost first */
	const char *site;   /* NULL for none */
	const char *owner;  /* NULL when unknown */
};

struct stack_texts {
	struct trace *trace;
	struct stack_text *texts; /* by stack */
};

/* The memory is the trace's. 0 or -errno with err_text(). */
int stack_texts_make(struct stack_texts *texts, struct trace *trace);

/* Of a stack's number; of none, UINT32_MAX, a text of NULLs. */
const struct stack_text *stack_text(const struct stack_texts *texts, uint32_t stack);

#endif
