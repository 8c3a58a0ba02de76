/*
 * Writes one self-contained HTML page of a trace, of two traces with their difference, or of the
 * ranks of a job.
 *
 * The page's program is src/page (TypeScript), which `make page` bundles into one HTML file that
 * the tool contains; here the data are added to it. No byte of a trace can end the HTML element
 * that it is in, because texts are written as JSON without a '<', and numbers as base64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge;
struct out;

struct page_options {
	bool anonymize;      /* hide paths, and all names except those of public libraries */
	uint64_t max_events; /* maximum number of events (others are summed up), and a limit for the
			      * number of spans and phases; 0: no limit */
	const char *rules;   /* a file of rules (analyse/categories/rules.h); NULL for none */
	struct merge *ranks; /* the ranks of the trace's job; NULL for none */
};

/* True if the tool contains the page's program; else err_text() describes how to build it. */
bool page_is_built(void);

struct page_input {
	const char *path; /* the file, which is opened several times */
	const char *name; /* the name shown in the page */
};

/* Writes a page of one trace, two (base and head), or none (only ranks). Returns 0 or -errno. */
int page_write(const struct page_input *inputs, size_t count, struct out *out,
	       const struct page_options *options);
