/* What memtrace top does once it knows what is wanted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyse/live/live_view.h"

enum { TOP_LINES_MOST = 10000 };

struct top_options {
	bool once, json;
	const char *hosts[65];  /* names of this host beside its own; ended by NULL */
	const char *prometheus; /* a file, or an address as top_server_is_address() says; NULL */
	uint64_t interval;      /* ns */
	bool paced;             /* an interval was given */
	unsigned lines;         /* of source of each process */
	enum live_view_order order;
};

/*
 * Looks until it is over, or a key or signal ends it: a status of statuses.def, having said on
 * stderr what was wrong. `operands` are pids and spools, ended by NULL; none: every process of this
 * user.
 */
int top_session(const struct top_options *options, char **operands);
