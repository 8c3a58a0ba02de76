/*
 * The processes that `memtrace top` looks at: found, opened, looked at, and left when they end.
 */
#pragma once

#include "analyse/live/live_view.h"

struct top_targets {
	char **words; /* pids and spools, NULL at the end; none: every process of this user */
	struct look **looks; /* by pid */
	size_t count, size;
	uint64_t searched_at; /* ns, CLOCK_MONOTONIC */
	char said[1000];      /* the last trouble, or end of a process; "" for none */
	bool failed;          /* it was trouble */
};

/*
 * Finds and opens them: a status of statuses.def, with err_text() unless it is STATUS_DONE. Having
 * found none is STATUS_NO where none was named.
 */
int top_targets_open(struct top_targets *targets, char **words);

/*
 * Looks at all of them. Those that ended are left a look later, and what can no longer be read at
 * once; every few seconds processes that began meanwhile are looked for.
 */
void top_targets_look(struct top_targets *targets);

void top_targets_sort(struct top_targets *targets, enum live_view_order order);
void top_targets_close(struct top_targets *targets);
