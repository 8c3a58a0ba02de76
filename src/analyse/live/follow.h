/*
 * A spool that is being written, looked at again and again from outside.
 *
 * The file is read, never mapped: no lock of the writer's is taken, nothing of it is changed, and a
 * file that somebody cuts short is an error and no SIGBUS. Each look copies what a table has gained
 * and the rows that change (sums, stacks, cells), not the events: those are read for the stretch
 * that is asked for.
 */
#pragma once

#include "analyse/spool/read.h"
#include "codec/wire.h"

struct follow {
	struct spool spool; /* the tables that are followed, others empty; as of the last look */
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
 * The events that are there from number `seq` on, in order, at most those of the newest `chunks`
 * chunks: each is handed to `each`. Gives the number behind the last one (`seq` when there was
 * none). Events that were written over meanwhile, or lie in a chunk that makes no sense, are left
 * out.
 */
enum { FOLLOW_CHUNKS = 64 }; /* at most */
typedef void follow_event_fn(void *context, const struct event *event);
uint64_t follow_events(struct follow *follow, uint64_t seq, unsigned chunks, follow_event_fn *each,
		       void *context);
