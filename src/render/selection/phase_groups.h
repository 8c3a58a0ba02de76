/*
 * Groups phases with the same name and sums their values. If a family (analyse/trace/phase_name.h)
 * has many names, such as "step 1" to "step 100", all its phases are one group: "step #".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"

enum {
	PHASE_GROUPS_FOLD = 8, /* most names of a family that stay separate groups */
	PHASE_GROUPS_NAME = 200,
};

struct emit_rows;

struct phase_group {
	const struct trace_phase *first; /* the first of `count` adjacent phases */
	uint64_t number;                 /* position when groups are sorted by name */
	uint64_t count, total_ns, peak_bytes, peak_reserved;
	struct trace_phase_count allocations, freed, kept; /* sums; TRACE_NONE: not known */
	int64_t growth; /* sum of (allocated bytes at the end - at the start) */
	bool open;      /* a phase of the group never ended */
	bool folded;    /* the group is a family of several names */
};

/* Finds the groups as rows of struct phase_group, the group with the highest allocated peak first.
 * Memory is from the trace's arena. Returns 0 or -errno with err_text(). */
int phase_groups_find(struct emit_rows *groups, struct trace *trace,
		      const struct trace_phase *phases, size_t count);

/* The name of the group's phases; if folded, "step #" or "Thunk", written to `to`. */
const char *phase_group_name(const struct phase_group *group, char *to, size_t size);

/* Writes the group's name and any domain to `to`, "ncclAllReduce (NCCL)", and returns it. */
const char *phase_group_title(const struct phase_group *group, char *to, size_t size);

/* Sets *sums to the group's values on a device: the highest peaks; sums of bytes allocated, freed
 * and kept (not freed in the phase). False if no phase has values for the device. */
bool phase_group_device(const struct phase_group *group, int device,
			struct trace_phase_device *sums);
