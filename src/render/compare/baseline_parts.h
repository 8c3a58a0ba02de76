/* The parts of a baseline, and its sites: stacks cut to what names them, and their shares of the
 * peaks. */
#ifndef RENDER_COMPARE_BASELINE_PARTS_H
#define RENDER_COMPARE_BASELINE_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/run_totals.h"

struct kept_frame {
	const char *function, *path; /* path: of the source or of the module */
	uint32_t line;
	bool python;
};

enum { KEPT_FRAMES = 3 };

/* One name in one space; of stacks that only reserved the space is "". */
struct kept_site {
	struct trace_site site;                /* sums of all its sites in the document */
	struct kept_frame frames[KEPT_FRAMES]; /* innermost first */
	unsigned frames_n;
	uint64_t *shares; /* bytes and count in each peak that is kept: 2 * peaks_n of them */
};

struct kept {
	struct kept_site *sites; /* in an order that is the same in every run */
	size_t sites_n;
	uint32_t *peaks; /* those of whole devices: positions among the trace's */
	size_t peaks_n;
	struct arena *arena;
	struct run *run;
	uint32_t *of_stack; /* while it is made: by stack, 1 + its site */
};

/* Free with kept_clear(): 0, or -errno with err_text(). */
int kept_read(struct kept *kept, struct run *run);
void kept_clear(struct kept *kept);

/* baseline_phases.c: fills the phases of `to`: 0 or -errno. */
int kept_phases(struct trace *to, struct arena *arena, const struct trace *trace);

static inline const struct trace_peak *kept_peak(const struct kept *kept, size_t i)
{
	return &kept->run->trace.peaks[kept->peaks[i]];
}

#endif
