/*
 * Shared by the files of the recorder, and for them alone: record.c, record_lock.c, record_mark.c,
 * calls.c, process_paths.c, life/fork_and_end.c.
 */
#pragma once

#include "base/guest/lock.h"
#include "capture/recorder/record.h"

enum { RECORD_NOTES = 16 };

#pragma GCC visibility push(hidden) /* variables of other files, read without a detour */

/* State that the constructor, a forked child and the end of a process without events read. */
extern struct record_process {
	uint64_t start_monotonic, start_realtime;
	int pid;
	_Atomic bool quiet; /* memtrace_stop() */
	/* Recording was needed once; if not, a fork has nothing to hold still. */
	_Atomic bool awake;
	_Atomic bool open, cuda_started;
	_Atomic uint32_t generation; /* the number of forks that led to this process */
	_Atomic(uint8_t *) alive;    /* a page that reads 0 in any child, however it was born */
} record_process;

extern struct recorder {
	/* Members that each event reads come first: the lock, the spool's head, the ledger's. */
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
	void **frame;  /* that takes the lock or drops it; NULL: none known */
	void *back;    /* its return address */
	unsigned turn; /* of the lock, while this thread has it maybe on another stack */
	uint64_t since;
} record_self;

#pragma GCC visibility pop

/* Ends recording because of trouble: one line, and a word in the header. With the lock held. */
void record_give_up(const char *what, int error);

/* True if the thread is in the middle of an update: this is a signal handler that has interrupted
 * it, or one on another stack, and must neither wait nor go on. */
bool record_interrupts_update(void **frame);

/* The same; the memory calls that are not recorded for it are counted. */
static inline __attribute__((always_inline)) bool record_interrupts(void **frame)
{
	if (__builtin_expect(!atomic_load_explicit(&recorder.lock.state, memory_order_relaxed),
			     1) ||
	    !record_interrupts_update(frame))
		return false;
	if (atomic_load(&record_process.open))
		atomic_fetch_add(&recorder.spool.header->nested, 1);
	return true;
}

/* This is another process than the one recorded so far: begins anew. */
void record_notice_fork_now(void);

/* Notices a child of fork, vfork's successor or clone that no handler announced, by the page. */
static inline void record_notice_fork(void)
{
	volatile uint8_t *alive = atomic_load_explicit(&record_process.alive, memory_order_acquire);

	if (alive && __builtin_expect(!*alive, 0))
		record_notice_fork_now();
}

/* --- paths of the files of the process (process_paths.c) --- */

/*
 * Resolves the output and the directory of spools against the working directory of the start.
 * `program`: the name that the process was started by, with or without a path; %e in the output is
 * its last part.
 */
void process_paths_init(const char *program);

/* Creates the spool under the first name that is free both for it and for its document; in another
 * directory if this one's file system cannot reserve space. 0 or -errno. */
int process_paths_create(void);

/* Memory that reads 0 in any child, however it was born; NULL if there is none. */
void *record_wiped_pages(size_t size);

/* Writes earlier marks into the recording just opened, and forgets them. Under the lock. */
void record_marks_put(bool opened);

/* In a forked child: forgets the parent's marks. */
void record_marks_clear(void);

/* --- counts of calls (calls.c) --- */

/* Once, before the first call is counted. */
void calls_init(void);

/* With the recorder's lock held, when the spool is there and when recording ends: adds the counts
 * from before the spool, and the length of a tick, as exactly as it is known by now. */
void calls_settle(void);

/* In a forked child: forgets the parent's counts. */
void calls_clear(void);
