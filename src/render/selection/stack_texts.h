/* Makes each stack's texts once, for formats that repeat them in every row of that stack. */
#pragma once

#include <stdint.h>

struct trace;

struct stack_text {
	const char *line;   /* the most relevant frame: "Net.forward (train.py:12)" */
	const char *frames; /* the relevant frames, innermost first: "a < b < c" */
	const char *site;   /* the stack's call site, NULL for none */
	const char *owner;  /* library that allocates, NULL if unknown */
};

struct stack_texts {
	struct trace *trace;
	struct stack_text *texts; /* indexed by stack */
};

/* Makes the texts, in memory from the trace's arena. */
void stack_texts_make(struct stack_texts *texts, struct trace *trace);

/* Returns the texts of a stack; for UINT32_MAX (no stack) all of them are NULL. */
const struct stack_text *stack_text(const struct stack_texts *texts, uint32_t stack);
