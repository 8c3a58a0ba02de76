/* Declarations that the writers of a page's parts share. */
#pragma once

#include <stdint.h>

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/history.h"
#include "analyse/trace/trace.h"
#include "render/emit/emit.h"
#include "render/page/page.h"

struct out;

/* Bytes for the id of an HTML element, such as "t0", column t of the first trace. */
enum { PAGE_NAME = 40 };

/*
 * The spans (kernels, copies, calls) that CUPTI recorded, as many as a page shows.
 *
 * A track has the spans of one stream of a device, or the long calls of one thread.
 */
struct page_spans {
	uint32_t *tracks; /* by span: position of its track */
	struct emit_rows track;
	uint64_t count, dropped;
	uint64_t left_out, left_out_ns; /* number of spans not shown, ns of the longest of them */
};

/* Keeps only the `most` longest spans of the trace (0: keeps all), and sorts them by time. */
void page_spans_find(struct page_spans *spans, struct trace *trace, uint64_t most);

/* Writes the member "spans" if the run used CUPTI. */
void page_spans_facts(const struct page_spans *spans, const struct trace *trace, struct out *out);

/* The phases that a page does not show. */
struct page_phases {
	uint64_t left_out, left_out_ns; /* number of these phases, length of the longest in ns */
};

/* Removes all but the `most` longest phases from the trace; none if `most` is 0. */
void page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most);

/* Writes the member "phases_left_out" after a comma; nothing if no phase was left out. */
void page_phases_facts(const struct page_phases *phases, struct out *out);

/* Writes the members of a trace that follow its report in a page. */
void page_facts(const char *name, struct trace *trace, const struct history *history,
		const struct history_folded *folded, const struct categories *categories,
		struct out *out);

/* Writes the columns of a trace, each as an HTML element. `number`: 0 for the first trace, 1 for
 * the second. */
void page_events(const struct trace *trace, const struct history *history,
		 const struct page_spans *spans, unsigned number, struct out *out);
