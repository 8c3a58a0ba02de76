/* Shared by the writers of a page's parts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/history.h"
#include "analyse/trace/trace.h"
#include "render/page/page.h"

struct out;

/* Room for the name of an element: "t0" is column t of the first trace. */
enum { PAGE_NAME = 40 };

/*
 * page_spans.c: the spans that CUPTI recorded, as many of them as a page shows.
 *
 * A track is a stream of a device, or a thread with long calls.
 */
struct page_spans {
	const struct trace_span **list; /* in the order of time */
	uint32_t *tracks;               /* by span: the position of its track */
	size_t count;
	const struct trace_span **track; /* one span of each track */
	size_t track_n;
	uint64_t left_out, left_out_ns; /* the shortest: how many, and the longest of them */
};

/* Finds the `most` longest spans (0: all), in the trace's memory. 0 or -errno. */
int page_spans_find(struct page_spans *spans, struct trace *trace, uint64_t most);

/* Writes the member "spans", if the trace has any of CUPTI. 0 or -errno with err_text(). */
int page_spans_facts(const struct page_spans *spans, struct trace *trace, struct out *out);

/* page_phases.c: as many phases as a page shows. */
struct page_phases {
	uint64_t left_out, left_out_ns; /* the shortest: how many, and the longest of them */
};

/* Removes all but the `most` longest phases (0: none) from the trace. 0 or -errno. */
int page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most);

/* Writes the member on phases left out, after a comma; nothing if there are none. */
void page_phases_facts(const struct page_phases *phases, struct out *out);

/* page_facts.c: writes a trace's members after its report. 0 or -errno. */
int page_facts(const char *name, struct trace *trace, const struct history *history,
	       const struct history_folded *folded, const struct categories *categories,
	       struct out *out);

/* page_events.c: writes the columns of a trace, each as an element. `number`: 0 for the first
 * trace, 1 for the second. 0 or -errno with err_text(). */
int page_events(const struct trace *trace, const struct history *history,
		const struct page_spans *spans, unsigned number, struct out *out);
