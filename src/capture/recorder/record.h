/* The recorder: this process's spool (the recording's mapped file), its ledger, and their lock.
 * base/guest/locks.def has the order of locks, and the calls that are not made under a lock. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/guest/signals.h"
#include "capture/loader/hooks.h"
#include "ledger/intern.h"
#include "ledger/ledger.h"

enum record_state {
	RECORD_INERT,  /* off (MEMTRACE_ENABLE=0, not preloaded, no dlsym) or not constructed yet */
	RECORD_ASLEEP, /* on, but record_wake() must still be called */
	RECORD_ON,
	RECORD_ENDED, /* finished, or stopped by an error: calls are only counted */
};

extern _Atomic int record_state;

/* Does the part of the constructor's work that can wait until the first hooked call. Most processes
 * that inherit LD_PRELOAD, such as shells and compilers, make no such call, and their children then
 * have nothing to clear. False if recording is off or has ended. */
bool record_wake(void);

/* True if hooked calls are recorded. Must be called before any write to data that record_forked()
 * clears: record_forked() clears nothing in a process that never called record_wake(). */
static inline bool record_on(void)
{
	int state = atomic_load_explicit(&record_state, memory_order_acquire);

	return __builtin_expect(state == RECORD_ON, 1) || (state == RECORD_ASLEEP && record_wake());
}

/* For the constructor. Makes no file and no mapping. `program`: as in process_paths_init(). */
void record_init(const char *program);

/* record_begin_in() and record_continue_in() get the calling function's frame address, to
 * distinguish a call that a signal handler makes inside an interrupted call from a call after a
 * jump out of an earlier call (see record_lock()). */
#define record_begin(may_load) record_begin_in(__builtin_frame_address(0), may_load)
#define record_continue() record_continue_in(__builtin_frame_address(0))

/* Must be called before an event is recorded: detects a forked child, opens the spool at the first
 * event, and carries out requests (guest_control()). False if the hook must not record. `may_load`:
 * true if slow first-time work may be done (false while PyTorch's allocator is locked). */
bool record_begin_in(void **frame, bool may_load);

/* Like record_begin_in(), but false if there is no spool: for events that are never the first. */
bool record_continue_in(void **frame);

/* Calls guest_prepare(), unless it was called before or the loader must not be called. */
void record_prepare(void);

/*
 * A thread can fail to get from record_lock() to record_unlock(): it is cancelled, or a signal
 * handler jumps out. Its update is then undone (txn_cancel()), and recording goes on. The thread
 * undoes the update itself in its next hook. A waiting thread does so if it finds that the owner
 * has ended or that the owner's frame is gone. So a function that calls record_lock() must call
 * record_unlock() or record_done() before it returns.
 */
#define record_lock() record_lock_in(__builtin_frame_address(0))
void record_unlock(void);

/* `frame` is the frame address of the function that takes the lock. With NULL, the lock counts as
 * abandoned only when the thread has ended. */
void record_lock_in(void **frame);

/* record_lock() without pending_settle(): for callers that read no sum, and that record only events
 * that may wait to be added to the sums (ledger/pending.h). */
#define record_lock_only() record_lock_only_in(__builtin_frame_address(0))
void record_lock_only_in(void **frame);

/* True if this thread already holds the lock: this is a signal handler that interrupted the code
 * that took the lock, or an earlier handler jumped out of that code. A caller that has deferred
 * signals must then not wait for the lock, which nobody would release. */
bool record_held(void);

/* True if this thread is in the middle of an update: see record_interrupts_update(). */
#define record_inside() record_inside_in(__builtin_frame_address(0))
bool record_inside_in(void **frame);

/* True if there is a spool, which stays open while the lock is held. */
bool record_is_open(void);

/* The results must be used with the lock held, except to read constant data, such as texts. */
struct spool *record_spool(void);
struct intern *record_intern(void);
struct ledger *record_ledger(void);

static inline uint32_t record_text(const char *text)
{
	return intern_text(record_intern(), text);
}

static inline void record_fact(const char *key, const char *value)
{
	intern_fact(record_intern(), key, value);
}

static inline const struct spool_stack *record_stack(uint32_t id)
{
	return spool_at(record_spool(), SPOOL_STACK, id);
}

/* The time since the constructor ran or, in a forked child, since the fork, in ns. */
uint64_t record_now(void);

/* The text id of a hooked function's name, interned once. Called with the lock held. */
uint32_t record_hook_text(enum hook_id id);

/* The pid of the process whose memory this is, even in a child that shares that memory (vfork). */
int record_pid(void);

/* The kernel's id of this thread. May take the lock in its first call on a thread. */
uint32_t record_thread(void);

/* Replaces record_unlock() after a use of the ledger: also ends recording after a ledger error. */
void record_done(void);

/* Counts a free of memory whose allocation was not recorded. Called with the lock held. */
void record_unmatched(void);

/* True while no events are recorded: after memtrace_stop(), or with MEMTRACE_START=0. */
bool record_quiet(void);

/* A mark, or a range's push or pop, with NVTX's details. Texts that are too long are cut. */
struct record_mark {
	uint64_t t, range; /* t: ns, set by record_mark(); range: id by nvtx_start(), or 0 */
	uint32_t thread;   /* set by record_mark() */
	uint8_t op;        /* enum event_op */
	char name[256], domain[48], category[32];
	struct event_detail detail;
};

/* Records a mark. A mark from before the first memory event is stored until that event. */
void record_mark(struct record_mark *mark);

/* Records a mark. Needs the lock and an open spool. Does nothing if record_quiet(). */
void record_mark_locked(const char *name);

/* Switches the recording of events on or off; the ledger's sums are updated in both cases. */
void record_events(bool on);
void record_events_locked(bool on); /* record_events() with the lock held */

/* Counts a call that came after the end of recording. */
void record_missed(void);

/* Describes an error number (errno or -errno) in English, whatever the locale. */
const char *record_error_text(int error);

/* Adds `text`, a constant string, to the trace's capture.notes, unless they contain it already. */
void record_note(const char *text);

/* Ends recording and writes the trace (JSON). Called by life_finish(). */
void record_finish(void);

/* In a forked child: drops the parent's recording. record_forked_asleep() is enough in the child of
 * a process with one thread that never called record_wake(). */
void record_forked(void);
void record_forked_asleep(void);

/* record_forked() in a child forked by a signal handler that interrupted this library. The
 * interrupted function continues in the child, so state that it may use is dropped only later, by
 * record_notice_fork(). `inside`: the interrupted function held the lock. */
void record_forked_in_handler(bool inside);

/*
 * --- The time that recording events costs the traced program (calls.c) ---
 *
 * The trace has this cost by kind of event. One call in COST_EVERY is timed from the hook's entry
 * to its return, without the time of the hooked function itself. A runtime call and the driver call
 * that it makes count as one call with two hooks: the time inside each hook is added up.
 */
enum { COST_EVERY = 61 }; /* a prime, so that every call in a repeated series gets timed */

/* The number of this thread's calls since the last timed one; the call that raises it to COST_EVERY
 * is timed. Calls inside another hooked call do not count. */
extern _Thread_local uint32_t overhead_past;

void overhead_start(bool first);
void overhead_stop(enum spool_cost_kind kind, bool last, bool event);

/* Called on entry to a hook, and after the hook's call of the real function. `first`: true on entry
 * to the outermost hook. */
static inline void overhead_enter(bool first)
{
	if (first)
		overhead_past++;
	if (__builtin_expect(overhead_past >= COST_EVERY, 0))
		overhead_start(first);
}

/* Called on return from a hook, and before the hook's call of the real function, without the
 * recorder's lock. `last`: the outermost hook returns. `event`: the hook recorded an event;
 * otherwise no cost is counted. */
static inline void overhead_leave(enum spool_cost_kind kind, bool last, bool event)
{
	if (__builtin_expect(overhead_past >= COST_EVERY, 0))
		overhead_stop(kind, last, event);
}

/* --- counts of calls (calls.c) --- */

/* The time now in ticks (tsc_tick_ns()), for calls_note(); 0 if calls are not counted. */
uint64_t calls_begin(void);

/* Counts an outermost call that lasted from `begin` until now; `status` is not 0 if it failed. */
void calls_note(enum hook_id id, uint64_t begin, int status);
