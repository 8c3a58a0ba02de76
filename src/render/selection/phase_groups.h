/*
 * Phases of one name together; and where a family (analyse/trace/phase_name.h) has many names, as
 * "step 1" to "step 100" are, those of it: "step #".
 */
#ifndef RENDER_SELECTION_PHASE_GROUPS_H
#define RENDER_SELECTION_PHASE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/trace/trace.h"

enum {
	PHASE_GROUPS_FOLD = 8, /* so many names that differ in their number are told one by one */
	PHASE_GROUPS_NAME = 200,
};

struct phase_group {
	const struct trace_phase *first; /* of phase_groups.sorted */
	uint64_t count, total_ns, peak_bytes, peak_reserved;
	struct trace_phase_count born, freed, outliving; /* of all; TRACE_NONE: not told */
	int64_t growth; /* allocated at the ends less at the starts */
	bool open;      /* one of them never ended */
	bool folded;    /* of several names */
};

struct phase_groups {
	struct phase_group *list; /* by peak of allocated, the highest first */
	size_t count;
	struct trace_phase *sorted; /* those given, those of a group one behind the other */
};

/* 0 or -errno with err_text(); to be cleared all the same. */
int phase_groups_find(struct phase_groups *groups, const struct trace_phase *phases, size_t count);
void phase_groups_clear(struct phase_groups *groups);

/* The name of all of them, or, when folded, "step #" or "Thunk" in `to`, cut to size. */
const char *phase_group_name(const struct phase_group *group, char *to, size_t size);

/* The same for people, with the domain, if any, behind: "ncclAllReduce (NCCL)". Always in `to`. */
const char *phase_group_title(const struct phase_group *group, char *to, size_t size);

/* What they did on a device: the highest peaks, all that was born ... False when none tells it. */
bool phase_group_device(const struct phase_group *group, int device,
			struct trace_phase_device *sums);

#endif
