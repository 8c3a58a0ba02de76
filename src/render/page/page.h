/*
 * One self-contained HTML page of a trace, of two traces with their difference, or of the ranks of
 * a job.
 *
 * The page's program is src/page (TypeScript), which `make page` bundles and the tool contains.
 * Only data are written into it, and no byte of a trace can end the element it stands in: texts are
 * JSON without a '<', numbers are base64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge;
struct out;

struct page_options {
	bool anonymize;      /* hide paths, and all names but those of public libraries */
	uint64_t max_events; /* events written one by one, the others as sums; 0: all of them */
	const char *rules;   /* a file of rules, analyse/categories/rules.h; NULL for none */
	struct merge *ranks; /* the job that the one trace belongs to; NULL for none */
};

/* True if the tool contains the page's program; else err_text() describes how to build it. */
bool page_is_built(void);

struct page_input {
	const char *path; /* the file, which is opened several times */
	const char *name; /* the name shown in the page */
};

/* Writes a page of one trace, two (base, head), or none (ranks). 0 or -errno. */
int page_write(const struct page_input *inputs, size_t count, struct out *out,
	       const struct page_options *options);
