/* What the writers of a page's parts share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/history.h"
#include "analyse/trace/trace.h"
#include "render/page/page.h"

struct out;

/* Names of elements in a page: "t0" is column t of the first trace. */
enum { PAGE_NAME = 40 };

/*
 * page_spans.c: what CUPTI saw run, as much of it as a page shows.
 *
 * A track is a stream of a device, or a thread whose calls took long.
 */
struct page_spans {
	const struct trace_span **list; /* in the order of time */
	uint32_t *tracks;               /* of each, position in track */
	size_t count;
	const struct trace_span **track; /* a span of each track */
	size_t track_n;
	uint64_t left_out, left_out_ns; /* the shortest: how many, the longest of them */
};

/* The `most` longest, 0: all of them. The memory is the trace's. 0 or -errno with err_text(). */
int page_spans_find(struct page_spans *spans, struct trace *trace, uint64_t most);

/* Their members of the facts; nothing for a trace without. 0 or -errno with err_text(). */
int page_spans_facts(const struct page_spans *spans, struct trace *trace, struct out *out);

/* page_phases.c: phases, as many of them as a page shows. */
struct page_phases {
	uint64_t left_out, left_out_ns; /* the shortest: how many, the longest of them */
};

/* Leaves the trace the `most` longest, 0: all of them. 0 or -errno with err_text(). */
int page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most);

/* What was left out, a member of the facts with a comma before it. */
void page_phases_facts(const struct page_phases *phases, struct out *out);

/* page_facts.c: the members of a trace's JSON behind its report, each with a comma in front. */
int page_facts(const char *name, struct trace *trace, const struct history *history,
	       const struct history_folded *folded, const struct categories *categories,
	       struct out *out);

/* page_events.c: its columns, each an element. `number` tells traces apart. */
int page_events(const struct trace *trace, const struct history *history,
		const struct page_spans *spans, unsigned number, struct out *out);
