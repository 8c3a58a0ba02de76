/*
 * Groups phases with the same name and finds the values of each group. If a family
 * (analyse/trace/phase_name.h) has many names, such as "step 1" to "step 100", all its phases are
 * one group: "step #".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"

enum {
	PHASE_GROUPS_FOLD = 8, /* a family with more names than this becomes one group */
	PHASE_GROUPS_NAME = 200,
};

struct emit_rows;

/* The values of a group on one device. */
struct phase_values {
	int device;
	uint64_t peak_bytes, peak_reserved; /* the highest of all phases in the group */
	uint64_t above_start;               /* largest rise from a phase's start to its peak */
	int64_t growth; /* median change of allocated bytes in a phase; INT64_MIN if not known */
	struct trace_phase_count kept; /* blocks not freed in their phase: medians or TRACE_NONE */
	struct trace_phase_count allocations, freed; /* sums over the phases, or TRACE_NONE */
};

struct phase_group {
	const struct trace_phase *first; /* the group's phases: `count` adjacent elements */
	uint64_t number;                 /* position when groups are sorted by name */
	uint64_t count, total_ns;
	struct phase_values
		values; /* of the device with the highest peak; sums are of all devices */
	bool open;      /* a phase of the group never ended */
	bool folded;    /* the group is a family of several names */
};

/* Finds the groups as rows of struct phase_group, the group with the highest allocated peak first.
 * Memory is from the trace's arena. */
struct emit_rows phase_groups_find(struct trace *trace, const struct trace_phase *phases,
				   size_t count);

/* Returns the name of the group's phases; for a folded group, `to` receives it: "step #". */
const char *phase_group_name(const struct phase_group *group, char *to, size_t size);

/* Writes the group's name, with its domain if it has one ("ncclAllReduce (NCCL)"). Returns `to`. */
const char *phase_group_title(const struct phase_group *group, char *to, size_t size);

/* Sets *values to the group's values on `device`. False if no phase has values for the device. */
bool phase_group_device(const struct phase_group *group, struct trace *trace, int device,
			struct phase_values *values);
