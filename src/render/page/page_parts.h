/* Functions that the source files of a page share: each writes a part of the page. */
#pragma once

#include <stdint.h>

#include "analyse/categories/categories.h"
#include "analyse/lifetimes/history.h"
#include "analyse/trace/trace.h"
#include "render/emit/emit.h"
#include "render/page/page.h"

struct out;

/* Size in bytes of a buffer for an HTML element's id, such as "t0" for column t of trace 0. */
enum { PAGE_NAME = 40 };

/*
 * The spans that a page shows: kernels, copies and long CUDA calls, as CUPTI recorded them. A track
 * has the spans of one stream of a device, or the calls of one thread.
 */
struct page_spans {
	uint32_t *tracks; /* for each span: the index of its track */
	struct emit_rows track;
	uint64_t count, dropped;        /* number of spans shown; number not in the trace */
	uint64_t left_out, left_out_ns; /* number of spans not shown; duration of the longest */
};

/* Keeps only the `most` longest spans of the trace (0: keeps all), and sorts them by time. */
void page_spans_find(struct page_spans *spans, struct trace *trace, uint64_t most);

/* Writes the member "spans" if the run used CUPTI. */
void page_spans_facts(const struct page_spans *spans, const struct trace *trace, struct out *out);

/* The phases that a page does not show. */
struct page_phases {
	uint64_t left_out, left_out_ns; /* number of these phases; ns of the longest of them */
};

/* Removes all but the `most` longest phases from the trace; removes none if `most` is 0. */
void page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most);

/* Writes the member "phases_left_out" after a comma; nothing if no phase was left out. */
void page_phases_facts(const struct page_phases *phases, struct out *out);

/* Writes the JSON members that follow the report of a trace in a page. */
void page_facts(const char *name, struct trace *trace, const struct history *history,
		const struct history_folded *folded, const struct categories *categories,
		struct out *out);

/* Writes the columns of a trace, each as an HTML element. `number` is 0 for the first trace and 1
 * for the second. */
void page_events(const struct trace *trace, const struct history *history,
		 const struct page_spans *spans, unsigned number, struct out *out);
