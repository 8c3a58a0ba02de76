/*
 * Which push a pop ends: the newest open one that fits, by number for a range that was started and
 * ended (on whatever thread), by thread and domain for one that was pushed.
 *
 * Only open ranges are held, so the memory follows how many are open at once.
 */
#ifndef FACTS_RANGES_H
#define FACTS_RANGES_H

#include <stdbool.h>

#include "codec/event.h"

struct range {
	uint64_t number; /* 0: pushed */
	uint32_t thread, domain;
	uint32_t name;  /* text */
	uint32_t phase; /* whatever the owner counts them by */
	uint32_t next;  /* 1 + the next in its chain, or of the spare ones */
	bool open;
};

struct ranges {
	struct range *list;
	uint32_t *heads; /* 1 + the newest of each chain; as many as `size` */
	uint32_t used, size, spare;
	uint32_t open; /* how many */
};

void ranges_start(struct ranges *ranges);
void ranges_clear(struct ranges *ranges);

/* A push: false without memory. */
bool ranges_push(struct ranges *ranges, const struct event *push, uint32_t phase);

/* The range that the pop ends goes to *was, and is open no more; false if none is open. */
bool ranges_pop(struct ranges *ranges, const struct event *pop, struct range *was);

#endif
