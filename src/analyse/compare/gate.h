/*
 * A gate or a budget: an expression, its parser, and its verdict on runs.
 *
 *	allocated.peak[device=0]>2%+1MiB        a gate: growth from base to head above both limits
 *	allocated.peak[phase=step]<=30GiB       a budget: a value of the head above the limit
 *
 * Several runs on a side count by their median; growth within their spread does not count.
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
	const struct run *run;    /* the run of the head, or the first of several */
	char place[FIGURE_PLACE]; /* the device, pool, phase, ... where the value is worst */
	int64_t base, head, noise;
	bool broken;
};

/* The gate of `memtrace diff --gate`. */
#define GATE_DEFAULT "allocated.peak>2%+1MiB"

/* Parses an expression: 0, or -EINVAL with err_text(), which shows the accepted form. */
int gate_parse(struct gate *gate, enum gate_kind kind, const char *text);

/* Judges runs by the gate: those of the base (none for GATE_MOST) and those of the head, at least
 * one. Returns 0, or -errno with err_text() if the filters match nothing or a metric is missing. */
int gate_judge(const struct gate *gate, const struct run *base, size_t base_n,
	       const struct run *head, size_t head_n, struct gate_result *result);

/* True if result `a` is worse than `b` (b->gate: NULL if there is no result yet). A broken gate is
 * worse than a gate that holds; else more growth is worse. */
bool gate_worse(const struct gate_result *a, const struct gate_result *b);
