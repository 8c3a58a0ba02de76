/*
 * The recorder's lock, and its recovery when the thread that holds the lock ends, jumps out of the
 * update, or is moved to another stack by a signal handler.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guest/clock.h"
#include "base/guest/hot.h"
#include "base/guest/signals.h"
#include "base/guest/thread_stack.h"
#include "capture/recorder/record_parts.h"
#include "ledger/pending.h"
#include "spool/txn.h"

enum { NEAR = 256 }; /* frames less than this many words apart are taken to be on one stack */
static const uint64_t OVERDUE_NS = 1000000000; /* frame_gone() waits this long */

HOT_THREAD _Thread_local struct record_self record_self;

/* The kernel's id of this thread, as from record_thread() but without taking the lock. */
static int own_number(void)
{
	uint32_t generation =
		atomic_load_explicit(&record_process.generation, memory_order_relaxed) + 1;

	return record_self.generation == generation ? (int)record_self.thread
						    : (int)syscall(SYS_gettid);
}

/* Called when the lock's owner has left an update for good: undoes the update, and reloads the
 * values that the ledger copies from the spool. */
static void mend(void)
{
	if (!recorder.spool.header)
		return;
	SIGNALS_DEFERRED();
	txn_cancel(&recorder.spool);
	ledger_mend(&recorder.ledger);
	if (atomic_load(&record_process.open))
		atomic_fetch_add(&recorder.spool.header->abandoned, 1);
}

/* Stops recording once a slow owner has lost the lock: if the owner goes on, two threads write. */
static void end_overdue(void)
{
	if (!recorder.spool.header)
		return;
	txn_cancel(&recorder.spool);
	if (recorder.ledger.error)
		return;
	recorder.ledger.error = -EOWNERDEAD;
	atomic_store(&recorder.spool.header->stop, spool_stop_reason(-EOWNERDEAD));
	record_give_up(recorder.paths.spool, -EOWNERDEAD);
}

HOT_CODE void record_lock_only_in(void **frame)
{
	int number = own_number();
	enum lock_got got;

	/* set before the lock is taken, since a signal may come right after */
	record_self.frame = frame;
	record_self.back = frame ? frame[1] : NULL;
	atomic_signal_fence(memory_order_seq_cst);
	got = lock_take_as(&recorder.lock, number, frame);
	if (__builtin_expect(got == LOCK_LEFT, 0))
		mend();
	else if (__builtin_expect(got == LOCK_OVERDUE, 0))
		end_overdue();
}

HOT_CODE void record_lock_in(void **frame)
{
	record_lock_only_in(frame);
	pending_settle(&recorder.ledger);
}

HOT_CODE void record_unlock(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	lock_drop_as(&recorder.lock, own_number());
	atomic_signal_fence(memory_order_seq_cst);
	record_self.frame = NULL;
}

/*
 * True if the frame that took the lock at `turn` is gone: its function was left. That is certain if
 * its return address at *where has changed, or if the present call's `frame` is at the same address
 * or further out on the same stack. If it is on another stack (it may only be suspended), it counts
 * as gone OVERDUE_NS after this thread first saw it there.
 */
static bool frame_gone(unsigned turn, void **where, void **frame)
{
	const void *back = atomic_load(&recorder.lock.back);

	if (!where && record_self.frame) { /* the owner is about to take or drop the lock */
		where = record_self.frame + 1;
		back = record_self.back;
	}
	if (!where || lock_frame_gone(where, back))
		return where;
	if (frame + 1 < where || lock_on_other_stack())
		return false;
	if (frame - where < NEAR || (thread_stack_has(where) && thread_stack_has(frame)))
		return true;
	if (record_self.turn != turn || !record_self.since) {
		record_self.turn = turn;
		record_self.since = clock_now();
	}
	return clock_now() - record_self.since > OVERDUE_NS;
}

/* Takes over the lock if its owner's frame is gone, undoes the update, and drops the lock. Signals
 * are deferred, because a jump out of here would leave the lock held. A signal handler may have
 * returned to that frame since frame_gone() ran, so `turn` and `where` are checked again. */
static void rescue(int number, unsigned turn, void *const *where)
{
	SIGNALS_DEFERRED();
	if (turn == atomic_load(&recorder.lock.turn) && where == atomic_load(&recorder.lock.left) &&
	    lock_rescue(&recorder.lock, number)) {
		mend();
		lock_drop_as(&recorder.lock, LOCK_RESCUED);
	}
}

bool record_interrupts_update(void **frame)
{
	unsigned turn = atomic_load(&recorder.lock.turn);
	void **where = atomic_load(&recorder.lock.left);
	int number = own_number();
	int saved = errno;

	if (lock_is_own(&recorder.lock, number) && frame_gone(turn, where, frame))
		rescue(number, turn, where);
	errno = saved;
	return lock_is_own(&recorder.lock, number);
}

bool record_inside_in(void **frame)
{
	return atomic_load_explicit(&recorder.lock.state, memory_order_relaxed) &&
	       record_interrupts_update(frame);
}

bool record_held(void)
{
	return lock_is_own(&recorder.lock, own_number());
}
