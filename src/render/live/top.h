/* Writes the memory of processes as text, as JSON (include/memtrace/top.schema.json), or for
 * Prometheus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyse/live/live_view.h"

struct out;

struct top {
	struct look *const *looks; /* processes in the order in which they are shown */
	size_t looks_n;
	unsigned lines; /* at most this many source lines are shown per process */
};

/* The layout of text. `rows` 0 means no limit. */
struct top_page {
	unsigned columns, rows;
	bool colour;
	bool erase;       /* clear the terminal to the right of each line */
	const char *note; /* text for the first line of the page, NULL for none */
};

enum { TOP_NARROWEST = 60 };

void top_text(const struct top *top, struct out *out, const struct top_page *page);
void top_json(const struct top *top, struct out *out);

/* Writes Prometheus's text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). */
void top_prometheus(const struct top *top, struct out *out);
