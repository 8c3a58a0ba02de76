/*
 * The recorder's lock, and who has left it in the middle: signal handlers, threads that end or
 * jump.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hot.h"
#include "base/signals.h"
#include "capture/record_parts.h"
#include "ledger/backlog.h"
#include "spool/txn.h"

HOT_THREAD _Thread_local struct record_self record_self;

/* The kernel's number of this thread; asked again in a child. */
static int own_number(void)
{
	uint32_t generation =
		atomic_load_explicit(&record_process.generation, memory_order_relaxed) + 1;

	return record_self.generation == generation ? (int)record_self.thread
						    : (int)syscall(SYS_gettid);
}

/*
 * Whoever had the lock has left it in the middle, for good: what it did is taken back, and what
 * only this process knows is read anew from the spool.
 */
static void mend(void)
{
	struct signals_deferred deferred;

	if (!recorder.spool.header)
		return;
	signals_defer(&deferred);
	txn_cancel(&recorder.spool);
	ledger_mend(&recorder.ledger);
	if (atomic_load(&record_process.open))
		atomic_fetch_add(&recorder.spool.header->abandoned, 1);
	signals_deliver(&deferred);
}

/* The holder may come back after all, and then two would be at it: nothing is written any more. */
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

	/* First, for a handler may come in between; and again, for it may have been here itself. */
	record_self.frame = frame;
	record_self.back = frame ? frame[1] : NULL;
	record_self.phase = INSIDE;
	atomic_signal_fence(memory_order_seq_cst);
	got = lock_take_as(&recorder.lock, number, frame);
	record_self.frame = frame;
	record_self.back = frame ? frame[1] : NULL;
	record_self.phase = INSIDE;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(got == LOCK_NESTED, 0))
		/* A handler, after another one, before what it interrupted knew that it has the
		 * lock: nothing has been touched yet, and it stays locked for it. */
		record_self.nested = true;
	else if (__builtin_expect(got == LOCK_LEFT, 0))
		mend();
	else if (__builtin_expect(got == LOCK_OVERDUE, 0))
		end_overdue();
}

HOT_CODE void record_lock_in(void **frame)
{
	record_lock_only_in(frame);
	backlog_settle(&recorder.ledger);
}

HOT_CODE void record_unlock(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(record_self.nested, 0)) {
		record_self.nested = false;
	} else {
		record_self.phase = LEAVING;
		atomic_signal_fence(memory_order_seq_cst);
		lock_drop_as(&recorder.lock, own_number());
		atomic_signal_fence(memory_order_seq_cst);
	}
	record_self.phase = OUTSIDE;
}

/* Not to be left in the middle itself: then nobody would know whose the lock is. */
static void rescue(int number)
{
	struct signals_deferred deferred;

	signals_defer(&deferred);
	record_self.nested = false; /* jumped out of, too */
	if (lock_rescue(&recorder.lock, number)) {
		mend();
		lock_drop_as(&recorder.lock, LOCK_RESCUED);
	}
	signals_deliver(&deferred);
}

bool record_interrupts_update(void **frame)
{
	int number = own_number();
	int saved = errno;
	bool in_update = false;

	if (!lock_is_own(&recorder.lock, number)) {
		/* It waits for the lock and takes it when we are through; or it was taken over. */
	} else if (record_self.phase == LEAVING) {
		lock_drop_as(&recorder.lock, number);
	} else if (record_self.frame &&
		   lock_frame_left(record_self.frame, record_self.back, frame)) {
		rescue(number);
	} else {
		in_update = true;
	}
	if (!in_update)
		record_self.phase = OUTSIDE;
	errno = saved;
	return in_update;
}

bool record_inside_in(void **frame)
{
	return record_self.phase != OUTSIDE && record_interrupts_update(frame);
}
