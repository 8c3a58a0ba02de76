/*
 * One self-contained HTML page of a trace, of two with their difference, or of the ranks of a job.
 *
 * The page's program is src/page (TypeScript), bundled by `make page` and carried by the tool. What
 * this writes into it is data only, and no byte of a trace can end the element it stands in: texts
 * are JSON without a '<', numbers are base64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merge;
struct out;

struct page_options {
	bool anonymize;      /* no paths, no names but those of public libraries */
	uint64_t max_events; /* told one by one; 0: all of them */
	const char *rules;   /* a file, analyse/categories/rules.h; NULL for none */
	struct merge *ranks; /* the job that the one trace belongs to; NULL for none */
};

/* Was the tool built with the page's program? err_text() says how to get it if not. */
bool page_is_built(void);

struct page_input {
	const char *path; /* is opened again and again */
	const char *name; /* as the page calls it */
};

/* One trace or two, base and head; none where only ranks are told. 0 or -errno with err_text(). */
int page_write(const struct page_input *inputs, size_t count, struct out *out,
	       const struct page_options *options);
