/* Each stack as a text, made once, for formats that write the stack in every row. */
#pragma once

#include <stdint.h>

struct trace;

struct stack_text {
	const char *line;   /* "Net.forward (train.py:12)": the most relevant frame */
	const char *frames; /* those worth showing, " < " between them, innermost first */
	const char *site;   /* NULL for none */
	const char *owner;  /* NULL when unknown */
};

struct stack_texts {
	struct trace *trace;
	struct stack_text *texts; /* by stack */
};

/* The memory is the trace's. */
void stack_texts_make(struct stack_texts *texts, struct trace *trace);

/* The texts of a stack's number; for UINT32_MAX (no stack) one of NULLs. */
const struct stack_text *stack_text(const struct stack_texts *texts, uint32_t stack);
