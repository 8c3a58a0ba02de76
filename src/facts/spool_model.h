/*
 * A spool's facts, ready to be printed: names of frames, sites, compositions of peaks.
 *
 * Also used at the end of the traced program, so all memory comes from its arena. The spool is not
 * changed and must outlive the recording.
 */
#ifndef FACTS_SPOOL_MODEL_H
#define FACTS_SPOOL_MODEL_H

#include <stdbool.h>

#include "base/mem/arena.h"
#include "facts/symbols.h"
#include "facts/trace_model.h"
#include "spool/spool.h"

struct recording_frame {
	const char *function; /* NULL when unknown */
	const char *symbol;   /* native: as the file spells it */
};

struct recording_share { /* of one stack in one sum */
	uint32_t stack;
	uint64_t live, live_count;
	uint64_t at_peak, at_peak_count;
	uint64_t estimated, estimated_at_peak; /* bytes, of a sampled recording */
};

struct recording_held { /* by one stack: at exit, and in the peaks of allocated */
	uint64_t live, live_count;
	uint64_t peak, peak_count;
	uint64_t estimated, estimated_peak; /* bytes, of a sampled recording */
};

struct recording {
	const struct spool *spool;
	struct arena arena;
	uint32_t frames, stacks, scopes;
	uint32_t room;                 /* for frames */
	struct recording_frame *names; /* by frame */
	struct site_frame *seen;       /* by frame, as sites see it */
	struct recording_share
		*shares;             /* by sum: [first[s], first[s + 1]), largest at peak first */
	uint32_t *first;             /* sums + 1 of them */
	struct recording_held *held; /* by stack; of devices, and of spaces outside of them */
	struct trace_site *sites;    /* largest at peak first; their stacks are in by_site */
	uint32_t site_count;
	uint32_t *by_site; /* stacks in the order of sites */
	bool damaged;      /* something in the spool made no sense and was left out */
};

/* 0 or -ENOMEM. */
int recording_read(struct recording *recording, const struct spool *spool,
		   enum symbols_names names);

/*
 * Of a recording that is empty (all 0) or was extended before: names what the spool's frames and
 * stacks have become more by since, and nothing else. The spool must be the same, and lie where it
 * lay. 0 or -ENOMEM.
 */
int recording_extend(struct recording *recording, const struct spool *spool,
		     enum symbols_names names);
void recording_clear(struct recording *recording);

/* The frame, row checked; NULL for a number out of range. */
const struct spool_frame *recording_frame(const struct recording *recording, uint32_t frame);
const struct spool_stack *recording_stack(const struct recording *recording, uint32_t stack);
const struct spool_module *recording_module(const struct recording *recording, uint32_t module);

/* The frames of a stack, innermost first; `i` below native + python. */
uint32_t recording_step(const struct recording *recording, const struct spool_stack *stack,
			uint32_t i);
uint32_t recording_depth(const struct recording *recording, const struct spool_stack *stack);

/* recording_names.c: fills `seen` from a frame on, for which there is room: 0 or -ENOMEM. Then, of
 * a stack, the name of its site (NULL without memory). */
int recording_see(struct recording *recording, uint32_t first);
const char *recording_site(struct recording *recording, const struct spool_stack *stack);

/* recording_sites.c: fills sites and by_site from stacks and `held`. 0 or -ENOMEM. */
int recording_find_sites(struct recording *recording);

/*
 * The line of a stack that its user knows: "Net.forward (train.py:12)", "take (leak)", cut to size;
 * a backward pass's says so.
 */
void recording_line(struct recording *recording, uint32_t stack, char *to, size_t size);

/* The first fact with the key behind `from` (0 to begin): 1 + its position, 0 for none. */
uint32_t recording_fact(const struct recording *recording, const char *key, uint32_t from);
const char *recording_value(const struct recording *recording, uint32_t fact);

#endif
