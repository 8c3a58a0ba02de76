/*
 * Processes as they are now: as text, as JSON (include/memtrace/top.schema.json), and for
 * Prometheus.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyse/live/live_view.h"

struct out;

struct top {
	struct look *const *looks; /* in the order to be shown; their lines are sorted */
	size_t looks_n;
	unsigned lines; /* of source, of each process, at most */
};

/* The size of the page; rows 0: as many as it takes. */
struct top_page {
	unsigned columns, rows;
	bool colour;
	bool erase;       /* clears the terminal to the right of each line */
	const char *note; /* a line at the top, NULL for none */
};

enum { TOP_NARROWEST = 60 };

void top_text(const struct top *top, struct out *out, const struct top_page *page);
void top_json(const struct top *top, struct out *out);

/* The text format 0.0.4 of https://prometheus.io/docs/instrumenting/exposition_formats/ */
void top_prometheus(const struct top *top, struct out *out);
