/* Carries out requests to this process at its next memory event (recorder/callbacks.h): those of
 * tools come through the spool's header (memtrace ctl), others by the signal of MEMTRACE_SIGNAL. */
#include "capture/life/life.h"

#include <errno.h>
#include <signal.h>

#include "base/guest/hot.h"
#include "base/guest/start.h"
#include "base/settings/opt.h"
#include "base/text/text.h"
#include "capture/recorder/callbacks.h"
#include "capture/recorder/record.h"

HOT_DATA _Atomic uint32_t guest_control_seen;

/* Value of guest_control_seen that makes guest_control() run: it equals no number of requests. */
enum { LOOK_AGAIN = UINT32_MAX };

static START_DATA struct signal_choice chosen;
static _Atomic uint32_t signalled; /* number of signals that have not been acted upon yet */
static atomic_bool installed;

static void on_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&signalled, 1);
	atomic_store(&guest_control_seen, LOOK_AGAIN);
}

START_CODE void control_init(void)
{
	struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
	struct sigaction before;

	if (!*opt_text(OPT_ID_signal))
		return;
	signal_choice_parse(opt_text(OPT_ID_signal), &chosen);
	if (!chosen.signal || sigaction(chosen.signal, NULL, &before))
		return;
	if (before.sa_flags & SA_SIGINFO || before.sa_handler != SIG_DFL) {
		record_note("MEMTRACE_SIGNAL has no effect: that signal was already handled or "
			    "ignored when the program started");
		return;
	}
	sigemptyset(&ours.sa_mask);
	atomic_store(&installed, !sigaction(chosen.signal, &ours, NULL));
}

void control_check_signal(void)
{
	struct sigaction now;

	if (!atomic_load(&installed) || sigaction(chosen.signal, NULL, &now) ||
	    (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_signal))
		return;
	record_note("MEMTRACE_SIGNAL has no effect any more: the program changed how that signal "
		    "is handled");
}

/* Writes one dump for all new signals, at the next hooked call: a signal handler cannot do it. */
static void dump_on_signals(uint32_t times)
{
	int error;

	if (chosen.does != SIGNAL_DUMPS || !times)
		return;
	error = finalize_dump(NULL);
	if (error && error != -EBUSY)
		record_note("a trace requested through MEMTRACE_SIGNAL could not be written");
}

/* Carries out a request. Any process may have written the text, so its NUL may be missing. */
static void act(const struct spool_request *request)
{
	char name[SPOOL_REQUEST_TEXT + 1];

	if (request->verb == VERB_START || request->verb == VERB_STOP) {
		record_events_locked(request->verb == VERB_START);
	} else if (request->verb == VERB_MARK) { /* other verbs, of newer tools, are ignored */
		text_copy_n(name, sizeof(name), request->text, sizeof(request->text));
		record_mark_locked(name);
	}
}

void guest_control(void)
{
	struct spool_header *header;
	uint32_t asked;
	uint32_t acted;
	uint32_t times;

	record_thread(); /* precedes record_lock(), as record_thread() may take that lock */
	record_lock();
	header = record_spool()->header;
	asked = atomic_load_explicit(&header->asked, memory_order_acquire);
	acted = atomic_load(&header->acted);
	if (asked - acted > SPOOL_REQUESTS)
		acted = asked - SPOOL_REQUESTS;
	for (; acted != asked; acted++)
		act(&header->requests[acted % SPOOL_REQUESTS]);
	atomic_store(&header->acted, acted);
	/* Stored before `signalled` is read: any later signal makes guest_control() run again. */
	atomic_store(&guest_control_seen, asked);
	times = atomic_exchange(&signalled, 0);
	if (chosen.does == SIGNAL_TOGGLES && times % 2)
		record_events_locked(record_quiet());
	for (uint32_t mark = 0; chosen.does == SIGNAL_MARKS && mark < times; mark++)
		record_mark_locked("signal");
	record_unlock();
	dump_on_signals(times);
}

void control_opened(const struct spool_header *header)
{
	atomic_store(&guest_control_seen, atomic_load(&header->asked));
	if (atomic_load(&signalled))
		atomic_store(&guest_control_seen, LOOK_AGAIN);
}
