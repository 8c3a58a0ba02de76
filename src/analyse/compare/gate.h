/*
 * Gates and budgets: one expression, its parser, and its verdict on runs.
 *
 *	allocated.peak[device=0]>2%+1MiB      of two sides: it grew by more than both
 *	allocated.peak[phase=step]<=30GiB     of one side: it is no more than that
 *
 * Of several runs a side the medians are compared, and growth within their spread is no growth.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/metrics.h"

enum gate_kind {
	GATE_GROWTH, /* METRIC>LIMIT */
	GATE_MOST,   /* METRIC<=LIMIT */
};

struct gate {
	enum gate_kind kind;
	char text[200];  /* as it was given, without blanks at its ends */
	char words[200]; /* the texts that `query` points into */
	struct metric_query query;
	double percent;  /* negative: not given */
	uint64_t amount; /* bytes or a number; TRACE_NONE: not given */
};

struct gate_result {
	const struct gate *gate;
	char place[FIGURE_PLACE]; /* the worst one */
	int64_t base, head, noise;
	bool broken;
};

/* The gate of `memtrace diff --gate` without an expression. */
#define GATE_DEFAULT "allocated.peak>2%+1MiB"

/* 0, or -EINVAL and in err_text() one sentence that shows what is accepted. */
int gate_parse(struct gate *gate, enum gate_kind kind, const char *text);

/* The gate's verdict. `runs` are first those of the base (none for GATE_MOST), then those of the
 * head, at least one. 0, or -errno with err_text() when the narrowing matches nothing. */
int gate_judge(const struct gate *gate, const struct run *base, size_t base_n,
	       const struct run *head, size_t head_n, struct gate_result *result);

/* True if `a` is worse than `b` (whose gate may be NULL: nothing yet). A broken gate is worse than
 * one that holds, and more growth is worse than less. */
bool gate_worse(const struct gate_result *a, const struct gate_result *b);
