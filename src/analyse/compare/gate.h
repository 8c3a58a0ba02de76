/*
 * A gate or a budget: an expression that limits a metric, its parser, and the check of runs.
 *
 *	allocated.peak[device=0]>2%+1MiB        a gate: growth from base to head above both limits
 *	allocated.peak[phase=step]<=30GiB       a budget: a value of the head above the limit
 *
 * Of several runs, the median counts; growth within a side's range (highest - lowest) does not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/metrics.h"

enum gate_kind {
	GATE_GROWTH, /* METRIC>LIMIT: broken by growth of more than the limit */
	GATE_MOST,   /* METRIC<=LIMIT: broken by a value above the limit */
};

struct gate {
	enum gate_kind kind;
	char text[200];  /* the expression as given, without blanks before it */
	char words[200]; /* holds the texts that `query` points to */
	struct metric_query query;
	double percent;  /* limit in percent, negative if not given */
	uint64_t amount; /* limit in bytes or as a number; TRACE_NONE if not given */
};

struct gate_result {
	const struct gate *gate;
	const struct run *run;    /* the head's run, the first if it has several */
	char place[FIGURE_PLACE]; /* the device, pool, phase, ... where the value is worst */
	/* base, head: medians of each side's runs; noise: the larger range of a side's runs. */
	int64_t base, head, noise;
	bool broken;
};

/* The gate that `memtrace diff --gate` checks. */
#define GATE_DEFAULT "allocated.peak>2%+1MiB"

/* Parses an expression. Returns 0, or -EINVAL with err_text(), which shows the accepted form. */
int gate_parse(struct gate *gate, enum gate_kind kind, const char *text);

/* Checks the runs of the base (none for GATE_MOST) and of the head (at least one) against the gate.
 * Returns 0, or -errno with err_text() if the filters match nothing or a trace lacks the metric. */
int gate_judge(const struct gate *gate, const struct run *base, size_t base_n,
	       const struct run *head, size_t head_n, struct gate_result *result);

/* True if result `a` is worse than `b` (b->gate is NULL if there is no result yet). A broken gate
 * is worse than a gate that holds; otherwise more growth is worse. */
bool gate_worse(const struct gate_result *a, const struct gate_result *b);
