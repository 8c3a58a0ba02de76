/*
 * Repeated looks, from another process, at a spool that is being written.
 *
 * The file is read, never mapped: no lock of the writer is taken, no byte is changed, and a file
 * that is cut short is an error, not a SIGBUS. Each look copies the new rows of the tables and the
 * rows that change (sums, stacks, cells). Events are read separately, from a number on.
 */
#pragma once

#include "analyse/spool/read.h"
#include "codec/wire.h"

struct follow {
	struct spool spool; /* the followed tables as of the last look; the others are empty */
	bool torn;    /* the writer never paused: sums are of one moment, cells of some around it */
	bool blurred; /* it was not between two events even once: so are the sums */
	struct read_progress reading;
	uint64_t generation; /* that the changing tables are of; odd for none */
	uint8_t *chunk;      /* one block */
	uint64_t newest;     /* 1 + the chunk that was read last */
};

/* 0, or -errno with err_text(). */
int follow_open(struct follow *follow, const char *path);
void follow_close(struct follow *follow);

/*
 * Brings follow->spool up to date: sums, texts, frames, stacks and cells as they were between two
 * transactions (of a process killed inside one: before it). Errors as above; the tables are then
 * those of the look before.
 */
int follow_look(struct follow *follow);

/*
 * Calls `each` for the events from number `seq` on, in order, at most those of the newest `chunks`
 * chunks. Returns the number after the last one (`seq` when there was none). Events that were
 * written over meanwhile, or lie in a damaged chunk, are left out.
 */
enum { FOLLOW_CHUNKS = 64 }; /* at most */
typedef void follow_event_fn(void *context, const struct event *event);
uint64_t follow_events(struct follow *follow, uint64_t seq, unsigned chunks, follow_event_fn *each,
		       void *context);
