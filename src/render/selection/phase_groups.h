/*
 * Phases of one name, summed; and where a family (analyse/trace/phase_name.h) has many names, as
 * "step 1" to "step 100", all phases of the family: "step #".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"

enum {
	PHASE_GROUPS_FOLD = 8, /* up to so many names that differ in their number stay apart */
	PHASE_GROUPS_NAME = 200,
};

struct emit_rows;

struct phase_group {
	const struct trace_phase *first; /* an array of `count` phases */
	uint64_t number;                 /* in the order of names */
	uint64_t count, total_ns, peak_bytes, peak_reserved;
	struct trace_phase_count allocations, freed, kept; /* of all; TRACE_NONE: not known */
	int64_t growth; /* allocated bytes at the ends less those at the starts */
	bool open;      /* one of them never ended */
	bool folded;    /* of several names */
};

/* Finds rows of struct phase_group, the highest peak of allocated first. The memory is the trace's.
 * Returns 0 or -errno with err_text(). */
int phase_groups_find(struct emit_rows *groups, struct trace *trace,
		      const struct trace_phase *phases, size_t count);

/* The name of all of them, or, when folded, "step #" or "Thunk" in `to`, cut to size. */
const char *phase_group_name(const struct phase_group *group, char *to, size_t size);

/* The same for people, followed by the domain, if any: "ncclAllReduce (NCCL)". Always in `to`. */
const char *phase_group_title(const struct phase_group *group, char *to, size_t size);

/* The group's figures on a device: the highest peaks, and sums of allocated, freed and kept. False
 * if no phase has any for the device. */
bool phase_group_device(const struct phase_group *group, int device,
			struct trace_phase_device *sums);
