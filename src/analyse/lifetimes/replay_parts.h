/* What replay.c and replay_rows.c share. For them alone. */
#ifndef ANALYSE_LIFETIMES_REPLAY_PARTS_H
#define ANALYSE_LIFETIMES_REPLAY_PARTS_H

#include "analyse/lifetimes/replay.h"

/* Rows that are there from the beginning, and what finds the others: 0 or -errno. */
int replay_start_rows(struct replay *replay);

/* The row that the event's stack is booked under, 1 + its position; 0 without memory. */
uint32_t replay_row_of(struct replay *replay, const struct event *event, uint8_t category);

#endif
