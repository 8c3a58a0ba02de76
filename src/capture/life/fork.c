/* The handlers that fork() calls, and all that a child does: it begins without a recording, however
 * it was made. */
#include "capture/recorder/record_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/guest/clock.h"
#include "base/guest/debug_checks.h"
#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/start.h"
#include "capture/cuda/cuda_call.h"
#include "capture/cuda/device_usage.h"
#include "capture/cupti/cupti.h"
#include "capture/life/life.h"
#include "capture/loader/loader.h"
#include "capture/loader/tsc_clock.h"
#include "capture/nvtx/nvtx.h"
#include "capture/python/python.h"
#include "capture/recorder/callbacks.h"
#include "capture/stack/modules.h"
#include "capture/stack/stacks.h"
#include "capture/stack/unwind.h"
#include "capture/torch/torch.h"

/* The function in libc.so that pthread_atfork() calls; pthread_atfork() may not be in libc.so. */
int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
		      void *library);

/* --- a child --- */

static void forget_others(void)
{
	loader_forked();
	python_forked();
	torch_forked();
	nvtx_forked();
	own_thread_forked();
	lock_reset(&recorder.open_lock);
}

static void clear(void)
{
	/* The parent's spool is not mapped here (MADV_DONTFORK), so there is nothing to unmap. */
	atomic_store(&record_process.open, false);
	spool_forget(&recorder.spool);
	intern_clear(&recorder.intern);
	ledger_clear(&recorder.ledger);
	modules_clear();
	torch_clear();
	autograd_clear();
	stacks_forked();
	sampling_forked();
	calls_clear();
	cupti_clear();
	usage_clear();
	memset(recorder.hook_text, 0, sizeof(recorder.hook_text));
	memset(recorder.notes, 0, sizeof(recorder.notes));
	record_marks_clear();
}

/* All that a child needs if its parent recorded nothing. Writes to, and so copies, one page. */
START_CODE void record_forked_asleep(void)
{
	record_process.pid = (int)raw_call(SYS_getpid, 0, 0, 0);
	record_process.start_monotonic = tsc_asked();
}

void record_forked(void)
{
	uint8_t *alive = atomic_load(&record_process.alive);

	if (record_process.awake)
		clear();
	forget_others();
	lock_reset(&recorder.lock);
	atomic_fetch_add(&record_process.generation, 1);
	record_forked_asleep();
	if (record_process.awake)
		record_process.start_realtime = clock_realtime();
	if (atomic_load(&record_state) == RECORD_ENDED)
		atomic_store(&record_state, RECORD_ON);
	if (alive)
		*alive = 1;
}

void record_forked_in_handler(bool inside)
{
	if (atomic_load(&record_process.open) &&
	    (!atomic_load(&record_process.alive) || spool_copy_in_child(&recorder.spool))) {
		record_forked();
		return;
	}
	forget_others();
	if (!inside)
		lock_reset(&recorder.lock);
	if (!recorder.ledger.error)
		recorder.ledger.error = -ECANCELED;
}

/* Calls record_forked(), except in a signal handler that interrupted this library's own code. */
void record_notice_fork_now(void)
{
	int saved = errno;

	if (!unwind_signal_in_us())
		record_forked();
	errno = saved;
}

/* --- the handlers --- */

/* glibc's __libc_single_threaded; NULL before glibc 2.32. */
static START_DATA const char *single_threaded;

/* A fork holds the recorder's lock, so that no other thread is in an update when the child is made.
 * A signal handler that forks may have interrupted an update, and must not wait for that update. */
static _Thread_local struct {
	bool handler; /* a signal interrupted this library, and its handler forks */
	bool inside;  /* that signal interrupted an update of the recording */
	bool asleep;  /* nothing is recorded, and there is no other thread */
} forking;

START_CODE static void before_fork(void)
{
	bool asleep =
		single_threaded && *single_threaded && !record_process.awake && !loader_used();

	if (forking.asleep != asleep) /* usually equal: then no page is written */
		forking.asleep = asleep;
	if (asleep)
		return;
	forking.inside = record_inside();
	forking.handler = forking.inside || unwind_signal_in_us();
	loader_hold();
	torch_hold();
	if (!forking.inside)
		record_lock_in(NULL); /* NULL: this frame ends before the lock is released */
	watch_forked(); /* no debug checks: other libraries' handlers run under this lock */
}

START_CODE static void after_fork_in_parent(void)
{
	if (forking.asleep)
		return;
	if (!forking.inside)
		record_unlock();
	loader_release();
}

START_CODE static void after_fork_in_child(void)
{
	if (forking.asleep) {
		record_forked_asleep();
		return;
	}
	cuda_call_forked();
	if (forking.handler)
		record_forked_in_handler(forking.inside);
	else
		record_forked();
}

/*
 * In a shell, which makes no hooked call, fork handlers are not even registered. A program that may
 * use CUDA is noticed early: it is linked with CUDA, or it calls dlsym() (find_real()). The handler
 * before_fork() must be registered before those of other libraries, so that it runs after them: it
 * makes threads wait, and another library's handler might wait for one of these threads.
 */
static START_DATA atomic_bool begun, held;

START_CODE bool life_begun(void)
{
	return atomic_load(&begun);
}

void life_begin(void)
{
	atomic_store(&begun, true);
	if (!guest_preloaded || atomic_exchange(&held, true))
		return;
	single_threaded = dlvsym(RTLD_DEFAULT, "__libc_single_threaded", "GLIBC_2.32");
	__register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, NULL);
}
