/* A child begins anew, however it was born. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guest/clock.h"
#include "base/guest/own_stack.h"
#include "base/guest/own_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/start.h"
#include "capture/cuda/device_usage.h"
#include "capture/cupti/cupti.h"
#include "capture/life/life.h"
#include "capture/loader/loader.h"
#include "capture/loader/tsc_clock.h"
#include "capture/nvtx/nvtx.h"
#include "capture/python/python.h"
#include "capture/recorder/calls.h"
#include "capture/recorder/record_parts.h"
#include "capture/stack/modules.h"
#include "capture/stack/sampling.h"
#include "capture/stack/stacks.h"
#include "capture/stack/unwind.h"
#include "capture/torch/torch.h"

/* Locks that other threads of the parent held. */
static void forget_others(void)
{
	loader_forked();
	python_forked();
	torch_forked();
	nvtx_forked();
	own_stack_forked();
	own_thread_forked();
	lock_reset(&recorder.open_lock);
}

/* Everything that this process knew of its parent's recording. */
static void clear(void)
{
	/* The parent's mapping is not in this process (MADV_DONTFORK), so there is nothing to
	 * unmap. */
	atomic_store(&record_process.open, false);
	spool_forget(&recorder.spool);
	intern_clear(&recorder.intern);
	ledger_clear(&recorder.ledger);
	modules_clear();
	torch_clear();
	autograd_clear();
	stacks_forked();
	sampling_forked();
	process_info_clear();
	calls_clear();
	cupti_clear();
	usage_clear();
	memset(recorder.hook_text, 0, sizeof(recorder.hook_text));
	memset(recorder.notes, 0, sizeof(recorder.notes));
	record_marks_clear();
}

/* Of what a child has in memory for nothing else it touches one page. */
START_CODE void record_forked_asleep(void)
{
	record_process.pid = (int)raw_call(SYS_getpid, 0, 0, 0);
	record_process.start_monotonic = tsc_asked();
}

void record_forked(void)
{
	uint8_t *alive = atomic_load(&record_process.alive);

	if (record_awake())
		clear();
	forget_others();
	lock_reset(&recorder.lock);
	atomic_fetch_add(&record_process.generation, 1);
	record_forked_asleep();
	if (record_awake())
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

/* Not while a signal handler has interrupted what would find nothing of it any more. */
void record_notice_fork_now(void)
{
	int saved = errno;

	if (!unwind_signal_in_us())
		record_forked();
	errno = saved;
}
