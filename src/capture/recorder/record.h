/*
 * The recorder: one spool, one ledger and one lock in this process.
 *
 * The order of locks is in base/guest/locks.def: with record_lock() held nothing is done that may
 * wait or call out.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/guest/signals.h"
#include "capture/loader/hooks.h"
#include "ledger/intern.h"
#include "ledger/ledger.h"

enum record_state {
	RECORD_INERT,  /* before the constructor, a copy that was dlopened, or MEMTRACE_ENABLE=0 */
	RECORD_ASLEEP, /* on, but not needed yet: record_wake() comes first */
	RECORD_ON,
	RECORD_ENDED, /* closed, or stopped by trouble: calls are only counted */
};

extern _Atomic int record_state;

/*
 * The rest of the constructor's part, put off until it is needed: most processes that inherit
 * LD_PRELOAD never need it, such as shells and compilers, and their children need not clear what
 * was never written. False if recording was switched off meanwhile.
 */
bool record_wake(void);

/* True if hooked calls are recorded; else they only call the real function. Must be called before
 * anything is written that record_forked() clears. */
static inline bool record_on(void)
{
	int state = atomic_load_explicit(&record_state, memory_order_acquire);

	return __builtin_expect(state == RECORD_ON, 1) || (state == RECORD_ASLEEP && record_wake());
}

/* For the constructor: sets time zero, and the paths. No file, no mapping. `program`: the name that
 * the process was started by, with or without a path. */
void record_init(const char *program);

/* `frame` is that of the calling function. It tells a call of a signal handler, beneath the call
 * that it interrupted, from the call after one that was left by a jump (record_lock). */
#define record_begin(may_load) record_begin_in(__builtin_frame_address(0), may_load)
#define record_continue() record_continue_in(__builtin_frame_address(0))

/*
 * Must be called first in every hook that records: opens the spool at the first event, notices a
 * forked child. False when nothing is to be recorded. `may_load`: slow first-time work may be done
 * here (false in PyTorch's report).
 */
bool record_begin_in(void **frame, bool may_load);

/* The same for calls that cannot be the first event (a free, a mapping). */
bool record_continue_in(void **frame);

/* First-time work that needs no event: finds the unwinder, Python, PyTorch's real functions. */
void record_prepare(void);

/*
 * A thread of the host may leave between the two for good: it is cancelled, or a signal handler
 * jumps out of it. Then its update is taken back as after a kill, and recording goes on. The thread
 * itself does that when it comes here next, or a waiting thread that sees that the thread has ended
 * or its frame has gone. A function that calls record_lock() therefore does not return before
 * record_unlock() or record_done().
 */
#define record_lock() record_lock_in(__builtin_frame_address(0))
void record_unlock(void);

/* `frame` is that of the function that takes the lock; NULL where there is none: then the lock is
 * known to be lost only when the thread ends. */
void record_lock_in(void **frame);

/* The same for callers that read no sum and book only what may wait (ledger/pending.h). */
#define record_lock_only() record_lock_only_in(__builtin_frame_address(0))
void record_lock_only_in(void **frame);

/* True if this thread holds the lock, in a frame that a signal led away from. A thread that defers
 * signals must not wait for the lock then: only another signal could lead back to that frame. */
bool record_held(void);

/* Defers signals and takes the lock; false, with neither done, if record_held(). */
#define record_lock_deferred(deferred) record_lock_deferred_in(deferred, __builtin_frame_address(0))
bool record_lock_deferred_in(struct signals_deferred *deferred, void **frame);

/* True in a signal handler that interrupted its own thread between the two. */
#define record_inside() record_inside_in(__builtin_frame_address(0))
bool record_inside_in(void **frame);

/* True if there is a spool. With the lock held it stays so. */
bool record_is_open(void);

/* With the lock held (the spool's texts may be read without). */
struct spool *record_spool(void);
struct intern *record_intern(void);
struct ledger *record_ledger(void);

static inline uint32_t record_text(const char *text)
{
	return intern_text(record_intern(), text);
}

/* One of the facts about the process (intern_fact). */
static inline void record_fact(const char *key, const char *value)
{
	intern_fact(record_intern(), key, value);
}

static inline const struct spool_stack *record_stack(uint32_t id)
{
	return spool_at(record_spool(), SPOOL_STACK, id);
}

/* ns since process start. */
uint64_t record_now(void);

/* The text of a row's name, interned once. With the lock held. */
uint32_t record_hook_text(enum hook_id id);

/*
 * The process whose memory this is, also for a child that shares it (vfork, clone with CLONE_VM).
 */
int record_pid(void);

/* The kernel's id of this thread. */
uint32_t record_thread(void);

/* After every use of the ledger, instead of record_unlock(): ends recording if the ledger ran into
 * trouble. */
void record_done(void);

/* Counts a free of memory that was never seen. With the lock held. */
void record_unmatched(void);

/* True while events are off (memtrace_stop). Then no stack is needed either. */
bool record_quiet(void);

/* A mark, push or pop, with the details that NVTX gives. Longer texts are cut. */
struct record_mark {
	uint64_t t, range; /* record_mark() fills in `t` and `thread` */
	uint32_t thread;
	uint8_t op; /* enum event_op */
	char name[256], domain[48], category[32];
	struct event_detail detail;
};

/* Marks from before the first memory event are kept for it. */
void record_mark(struct record_mark *mark);

/* Enters a mark at this moment, under the lock with a spool. Nothing while events are off. */
void record_mark_locked(const char *name);

/* Switches events on or off (the ledger goes on). */
void record_events(bool on);
void record_events_locked(bool on); /* with the lock held */

/* Counts a call after the end of recording, until the document is written. */
void record_missed(void);

/* An errno in words, without locale. */
const char *record_error_text(int error);

/* Adds a line to capture.notes, once each; the text must be a constant. */
void record_note(const char *text);

/* Ends recording and writes the document; for the destructor. */
void record_finish(void);

/* In a forked child: forgets the parent's recording; without one yet, there is none here. */
void record_forked(void);
void record_forked_asleep(void);

/* The same in the child of a signal handler that has interrupted this library: the interrupted
 * function goes on in the child, too, so the rest is done after it. `inside`: it had the lock. */
void record_forked_in_handler(bool inside);

/*
 * --- The cost of events to the traced program (calls.c) ---
 *
 * The trace gives it by kind. One event in COST_EVERY is timed from the hook's entry to its return,
 * less the time that the host's own functions took meanwhile. A runtime call and the driver call
 * beneath it are one event of two hooks: the watch runs in both and stands still in between.
 */
enum { COST_EVERY = 61 }; /* a prime: programs allocate and free in turns */

/* This thread's events since the last one that was timed; at COST_EVERY one is. */
extern _Thread_local uint32_t overhead_past;

/* The out-of-line part, where an event is timed. */
void overhead_start(bool first);
void overhead_stop(enum spool_cost_kind kind, bool last, bool event);

/* On entry to a hook, or back from a function of the host's; `first`: this thread is in no other
 * hook. */
static inline void overhead_enter(bool first)
{
	if (first)
		overhead_past++;
	if (__builtin_expect(overhead_past >= COST_EVERY, 0))
		overhead_start(first);
}

/* On return from a hook or before a function of the host's, without the recorder's lock; `last`:
 * from the outermost hook. `event`: it recorded one; else nothing is counted. */
static inline void overhead_leave(enum spool_cost_kind kind, bool last, bool event)
{
	if (__builtin_expect(overhead_past >= COST_EVERY, 0))
		overhead_stop(kind, last, event);
}

/* --- counts of calls (calls.c) --- */

/* 0 when calls are not counted. */
uint64_t calls_begin(void);

/* Counts an outermost call, from calls_begin() until now; `status` is not 0 if it failed. */
void calls_note(enum hook_id id, uint64_t begin, int status);
