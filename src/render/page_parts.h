/* What the writers of a page's parts share. */
#ifndef RENDER_PAGE_PARTS_H
#define RENDER_PAGE_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/categories.h"
#include "analyse/history.h"
#include "analyse/history_fold.h"
#include "analyse/trace.h"
#include "render/page.h"

struct out;

/* Names of elements in a page: "t0" is column t of the first trace. */
enum { PAGE_NAME = 40 };

/* page_facts.c: the members of a trace's JSON behind its report, each with a comma in front. */
int page_facts(struct trace *trace, const struct history *history,
	       const struct history_folded *folded, const struct categories *categories,
	       struct out *out);

/* page_events.c: its columns, each an element. `number` tells traces apart. */
int page_events(const struct trace *trace, const struct history *history, unsigned number,
		struct out *out);

#endif
