/* Declarations for the files of this folder and of capture/life alone. */
#pragma once

#include "base/guest/hot.h"
#include "base/guest/lock.h"
#include "capture/recorder/record.h"

enum { RECORD_NOTES = 16 };

#pragma GCC visibility push(hidden) /* hidden, so that other files' variables are read directly */

/* State that the constructor, a forked child and the end of a process use, even without events. */
extern struct record_process {
	uint64_t start_monotonic, start_realtime;
	int pid;
	_Atomic bool quiet; /* true while no events are recorded: record_quiet() */
	/* true once record_wake() has run; before, a forked child has nothing to clear */
	_Atomic bool awake;
	_Atomic bool open, cuda_started;
	_Atomic uint32_t generation; /* raised by record_forked(), and when the spool is opened */
	_Atomic(uint8_t *) alive;    /* points to 1; to 0 in a child with a copy of the memory */
} record_process;

extern struct recorder {
	/* The members that each event uses come first. */
	struct lock lock;
	_Atomic bool prepared;
	struct ledger ledger;
	struct lock open_lock;
	struct intern intern;
	uint32_t hook_text[HOOKS];
	_Atomic(const char *) notes[RECORD_NOTES];
	_Atomic uint64_t missed;
	struct spool spool;
	struct process_paths {
		char output[4096], spool[4096];
	} paths;
} recorder;

extern _Thread_local struct record_self {
	uint32_t thread, generation;
	void **frame;   /* the frame that takes, holds or drops the lock, or NULL */
	void *back;     /* that frame's return address */
	unsigned turn;  /* lock.turn when its holder was first seen on another stack */
	uint64_t since; /* time at which `turn` was set, ns; 0: never */
} record_self;

#pragma GCC visibility pop

/* Ends recording after an error and reports the error, with `what`, on stderr. Needs the lock. */
void record_give_up(const char *what, int error);

/* True if this thread is in the middle of an update: the caller is in a signal handler that
 * interrupted the update, or on another stack. The caller must then neither wait nor record. */
bool record_interrupts_update(void **frame);

/* Like record_interrupts_update(); if true, also counts the call as not recorded. */
static INLINED bool record_interrupts(void **frame)
{
	if (__builtin_expect(!atomic_load_explicit(&recorder.lock.state, memory_order_relaxed),
			     1) ||
	    !record_interrupts_update(frame))
		return false;
	if (atomic_load(&record_process.open))
		atomic_fetch_add(&recorder.spool.header->nested, 1);
	return true;
}

/* In a child of the recorded process: calls record_forked(), unless this thread is in a signal
 * handler that interrupted this library. */
void record_notice_fork_now(void);

/* Detects, by the page `alive`, a child with a copy of the memory that ran no fork handler. */
static inline void record_notice_fork(void)
{
	volatile uint8_t *alive = atomic_load_explicit(&record_process.alive, memory_order_acquire);

	if (alive && __builtin_expect(!*alive, 0))
		record_notice_fork_now();
}

/* --- paths of the files of the process (process_paths.c) --- */

/*
 * Stores the working directory, to which relative paths of options refer. `program`: the name by
 * which the process was started, with or without a path; %e in the output stands for its last part.
 */
void process_paths_init(const char *program);

/* Creates the spool under the first name that is free for both the spool and its trace, or in
 * another directory if the spool's file system cannot reserve space. 0 or -errno. */
int process_paths_create(void);

/* Maps `size` bytes that read 0 in a child with a copy of the memory; NULL if not possible. */
void *record_wiped_pages(size_t size);

/* Drops the stored marks; if `opened`, records them first. Called with the lock held. */
void record_marks_put(bool opened);

/* In a forked child: drops the parent's stored marks. */
void record_marks_clear(void);

/* --- counts of calls (calls.c) --- */

/* Must be called once, before the first call is counted. */
void calls_init(void);

/* Called when the spool was created and when recording ends, with the recorder's lock held: adds
 * counts that have no row yet, and stores the length of a tick as measured so far. */
void calls_settle(void);

/* In a forked child: drops the parent's counts. */
void calls_clear(void);
