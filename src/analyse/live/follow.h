/*
 * Reads a spool (the file of a recording) again and again while another process writes it.
 *
 * The file is read, never mapped: no lock of the writer is taken, no byte is changed, and a file
 * that is cut short is an error, not a SIGBUS.
 */
#pragma once

#include "analyse/spool/read.h"
#include "codec/wire.h"

struct follow {
	struct spool spool; /* the copies; tables that follow_look() does not copy are empty */
	bool torn;    /* true if only the sums are of one point in time: writing never paused */
	bool blurred; /* true if the sums are not of one point in time either */
	struct read_progress reading;
	uint64_t generation; /* header.generation of the copy; if odd, the next look copies anew */
	uint8_t *chunk;      /* buffer for a block of the file */
	uint64_t newest;     /* 1 + the number of the last chunk read, 0 for none */
};

/* Opens a spool and copies its tables. 0, or -errno with err_text(). */
int follow_open(struct follow *follow, const char *path);
void follow_close(struct follow *follow);

/*
 * Brings follow->spool up to date: the tables from SPOOL_TEXT to SPOOL_CELL, as they were between
 * two transactions (but see `torn`). 0, or -errno with err_text() and a partial copy.
 */
int follow_look(struct follow *follow);

/*
 * Calls `each` for the events from sequence number `seq` on, in order: those in the newest `chunks`
 * chunks (blocks of events in the spool), and those not yet in a chunk (pending.h). Returns 1 + the
 * last event's sequence number, or `seq` if there was no event. Overwritten events, and those in a
 * damaged chunk, are left out.
 */
enum { FOLLOW_CHUNKS = 64 }; /* maximum number of chunks read by one call */
typedef void follow_event_fn(void *context, const struct event *event);
uint64_t follow_events(struct follow *follow, uint64_t seq, unsigned chunks, follow_event_fn *each,
		       void *context);
