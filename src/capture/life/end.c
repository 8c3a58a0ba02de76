/* The end of a recording: the document is written, and later calls are not recorded. */
#include "capture/recorder/record_parts.h"

#include <errno.h>

#include "base/guest/clock.h"
#include "base/guest/own_stack_and_thread.h"
#include "base/guest/signals.h"
#include "base/text/log.h"
#include "capture/life/life.h"
#include "capture/loader/loader.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind.h"
#include "ledger/device_used.h"
#include "ledger/pending.h"
#include "spool/txn.h"

/* The program's exit status; -1 if not known. */
static int exit_status = -1;

static void note_status(int status, void *unused)
{
	(void)unused;
	exit_status = status;
}

/* The function in libc.so that at_quick_exit() calls; at_quick_exit() itself is not in libc.so. */
int __cxa_at_quick_exit(void (*handler)(void *), void *library);

void life_watch_end(void)
{
	static atomic_bool watching;

	if (atomic_exchange(&watching, true))
		return;
	on_exit(note_status, NULL);
	__cxa_at_quick_exit((void (*)(void *))life_finish, NULL);
}

static void tell_if_blind(void)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < DOORS; i++)
		seen += door_uses[i];
	if (!seen && record_on() && atomic_load(&record_process.cuda_started))
		log_say("CUDA was used in a way that a preloaded library cannot see (RTLD_DEEPBIND "
			"or dlmopen): no trace was written",
			NULL);
}

/* Enters waiting blocks (pending.h) in the ledger, even after an error or inside an update. */
static void catch_up(void)
{
	struct spool_backlog *backlog = &recorder.spool.header->backlog;

	pending_settle_left(&recorder.spool);
	backlog->booked = backlog->put;
}

/* record_finish()'s work that calls the loader, and so must precede taking the recorder's lock. */
static void ask_last(void *unused)
{
	(void)unused;
	modules_refresh();
	control_check_signal();
	if (!atomic_load(&loader_silent) && libc_binding_past_us())
		record_note("a library bypasses preloaded libraries (RTLD_DEEPBIND): its CUDA "
			    "runtime calls are seen only as driver calls");
}

void record_finish(void)
{
	struct signals_deferred deferred;
	struct spool_header *header;
	bool in_handler = false;

	record_notice_fork();
	if (!atomic_load(&record_process.open)) {
		tell_if_blind();
		return;
	}
	finalize_begin();
	/* No signal handler may walk the stack while the loader is called: the walk would wait for
	 * libunwind's lock, whose holder may wait for the loader's lock. */
	deferred = signals_defer();
	if (record_inside()) {
		/* exit() in a signal handler: the interrupted update never continues. */
		in_handler = true;
		txn_cancel(&recorder.spool);
	} else {
		in_handler = unwind_met && unwind_until(NULL) == UNWIND_SIGNAL;
		own_stack_call(ask_last, NULL);
		record_lock();
		process_info_late();
		used_settle(&recorder.ledger);
	}
	atomic_store(&record_state, RECORD_ENDED);
	signals_deliver(&deferred);
	/* With an error set, other threads record nothing while the document is written. */
	if (!recorder.ledger.error)
		recorder.ledger.error = -ECANCELED;
	catch_up();
	header = recorder.spool.header;
	header->end = record_now();
	header->status = (uint64_t)exit_status + 1;
	calls_settle();
	atomic_store(&header->late, atomic_load(&recorder.missed));
	for (unsigned i = 0; i < DOORS; i++)
		header->doors[i] += door_uses[i];
	if (!atomic_load(&header->stop))
		atomic_store(&header->stop, SPOOL_CLOSED);
	spool_seal(&recorder.spool);
	record_unlock();
	finalize_write(in_handler);
}
