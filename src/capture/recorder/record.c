/* The recorder: how it starts at the first event, and the functions that every hook calls. */
#include "capture/recorder/record_parts.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guest/clock.h"
#include "base/guest/old_glibc.h"
#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/signals.h"
#include "base/guest/start.h"
#include "base/mem/each.h"
#include "base/settings/opt.h"
#include "base/text/log.h"
#include "capture/loader/loader.h"
#include "capture/loader/tsc_clock.h"
#include "capture/recorder/callbacks.h"

START_DATA _Atomic int record_state = RECORD_INERT;

START_DATA struct record_process record_process;

HOT_LARGE struct recorder recorder = { .lock = LOCK_INIT(RECORD), .open_lock = LOCK_INIT(OPEN) };

START_CODE void record_init(const char *program)
{
	record_process.pid = (int)raw_call(SYS_getpid, 0, 0, 0);
	record_process.start_monotonic = tsc_init();
	record_process.quiet = !opt_flag(OPT_ID_start);
	process_paths_init(program);
	atomic_store(&record_state, opt_flag(OPT_ID_enable) ? RECORD_ASLEEP : RECORD_INERT);
}

void *record_wiped_pages(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	if (madvise(pages, size, MADV_WIPEONFORK)) {
		munmap(pages, size);
		return NULL;
	}
	return pages;
}

/*
 * True in a child that ran no fork handler, and whose parent had not called record_wake(). False in
 * a clone that shares its parent's memory, because it adds to its parent's recording. Only kcmp()
 * tells such a clone from a child; if kcmp() fails, returns true, as clones are rarer.
 */
static bool is_child(void)
{
	int pid = getpid();

	return pid != record_process.pid &&
	       syscall(SYS_kcmp, pid, record_process.pid, KCMP_VM, 0, 0) != 0;
}

static void wake(void *unused)
{
	int asleep = RECORD_ASLEEP;
	uint8_t *alive;

	(void)unused;
	if (!record_process.awake && is_child())
		record_forked();
	libc_binding_bind();
	lock_take(&recorder.open_lock);
	if (!resolve_can()) {
		atomic_store(&record_state, RECORD_INERT);
	} else if (!record_process.awake) {
		guest_wake();
		record_process.start_realtime =
			clock_realtime() - (clock_now() - record_process.start_monotonic);
		alive = record_wiped_pages(4096);
		if (alive)
			*alive = 1;
		atomic_store(&record_process.alive, alive);
		calls_init();
		atomic_store(&record_process.awake, true);
	}
	atomic_compare_exchange_strong(&record_state, &asleep, RECORD_ON);
	lock_drop(&recorder.open_lock);
}

bool record_wake(void)
{
	int saved = errno;

	own_stack_call(wake, NULL);
	errno = saved;
	return atomic_load(&record_state) == RECORD_ON;
}

const char *record_error_text(int error)
{
	unsigned number = (unsigned)(error < 0 ? -error : error);

	if (error == -EOWNERDEAD)
		return "a thread of the program did not finish its update of the recording";
	if (error == -ESTALE)
		return "the file was removed or replaced";
	return number < COUNT_OF(old_errors) && old_errors[number] ? old_errors[number]
								   : "unknown error";
}

void record_give_up(const char *what, int error)
{
	if (error == -ECANCELED)
		return; /* no error: recording has ended, or this is a forked child */
	if (atomic_exchange(&record_state, RECORD_ENDED) == RECORD_ENDED)
		return; /* only the first thread reports */
	log_say("recording stopped: ", what, ": ", record_error_text(error),
		"; what was recorded so far is kept, and the program continues", NULL);
}

int record_pid(void)
{
	return record_process.pid;
}

bool record_is_open(void)
{
	return atomic_load_explicit(&record_process.open, memory_order_acquire);
}

HOT_CODE struct spool *record_spool(void)
{
	return &recorder.spool;
}

HOT_CODE struct intern *record_intern(void)
{
	return &recorder.intern;
}

HOT_CODE struct ledger *record_ledger(void)
{
	return &recorder.ledger;
}

HOT_CODE uint64_t record_now(void)
{
	uint64_t now = tsc_ns();

	/* In a forked child, start_monotonic comes from the kernel; tsc_ns() may give less. */
	return now > record_process.start_monotonic ? now - record_process.start_monotonic : 0;
}

HOT_CODE bool record_quiet(void)
{
	return atomic_load_explicit(&record_process.quiet, memory_order_relaxed);
}

uint32_t record_hook_text(enum hook_id id)
{
	if (!recorder.hook_text[id])
		recorder.hook_text[id] = record_text(hooks[id].name);
	return recorder.hook_text[id];
}

HOT_CODE uint32_t record_thread(void)
{
	uint32_t generation =
		atomic_load_explicit(&record_process.generation, memory_order_relaxed) + 1;
	char name[16];

	if (record_self.generation == generation)
		return record_self.thread;
	record_self.thread = (uint32_t)syscall(SYS_gettid);
	record_self.generation = generation;
	if (atomic_load(&record_process.open) && !prctl(PR_GET_NAME, name)) {
		name[sizeof(name) - 1] = '\0';
		record_lock();
		intern_thread(&recorder.intern, record_self.thread, name, record_now());
		record_unlock();
	}
	return record_self.thread;
}

void record_prepare(void)
{
	if (__builtin_expect(atomic_load_explicit(&recorder.prepared, memory_order_relaxed), 1) ||
	    atomic_load(&loader_silent) || atomic_exchange(&recorder.prepared, true))
		return;
	loader_call(guest_prepare, NULL);
}

static int start_tables(void)
{
	uint64_t most = opt_count(OPT_ID_max_events);
	uint64_t ns = 0, bytes = 0;
	bool keep = *opt_text(OPT_ID_keep) && !opt_parse_keep(opt_text(OPT_ID_keep), &ns, &bytes);
	int error = intern_init(&recorder.intern, &recorder.spool);

	/* With `keep`, old events are dropped, so the default of max_events does not apply. */
	if (keep && !opt_given(OPT_ID_max_events))
		most = UINT64_MAX;
	error = error ?: ledger_init(&recorder.ledger, &recorder.spool, most);
	if (error)
		return error;
	if (keep)
		journal_keep(&recorder.ledger.journal, ns, bytes);
	recorder.spool.header->start_monotonic = record_process.start_monotonic;
	recorder.spool.header->start_realtime = record_process.start_realtime;
	recorder.ledger.quiet = record_quiet();
	atomic_store(&recorder.spool.header->recording, !record_quiet());
	guest_open();
	for (unsigned i = 0; i < RECORD_NOTES && recorder.notes[i]; i++)
		record_fact("note", recorder.notes[i]);
	calls_settle();
	return 0;
}

static int make_file(void *unused)
{
	int error = process_paths_create();
	bool made = !error;

	(void)unused;
	if (made)
		error = start_tables();
	if (!error) {
		spool_publish(&recorder.spool);
	} else if (made) {
		/* There was no room for the first rows, so the spool is empty. */
		spool_unlink(&recorder.spool);
		ledger_clear(&recorder.ledger);
		intern_clear(&recorder.intern);
		spool_close(&recorder.spool);
	}
	if (error)
		record_give_up(recorder.paths.spool, error);
	record_marks_put(!error);
	if (!error && atomic_load(&loader_silent))
		record_fact("note",
			    "this process was forked while another thread may have held a lock "
			    "of the dynamic loader: its call stacks have no native frames");
	atomic_store(&record_process.open, !error);
	return 0;
}

static __attribute__((noinline)) bool open_recording(void)
{
	SIGNALS_DEFERRED();
	lock_take(&recorder.open_lock);
	if (!atomic_load(&record_process.open) && record_on() && !record_held()) {
		record_thread(); /* stores this thread's id: make_file() may use another thread */
		record_lock();
		own_thread_run(make_file, NULL, false);
		record_unlock();
		/* Threads seen so far have no name in the spool: record_thread() now stores one. */
		atomic_fetch_add(&record_process.generation, 1);
	}
	lock_drop(&recorder.open_lock);
	return atomic_load(&record_process.open);
}

HOT_CODE bool record_begin_in(void **frame, bool may_load)
{
	record_notice_fork();
	if (!record_on() || record_interrupts(frame))
		return false;
	if (may_load)
		record_prepare();
	if (__builtin_expect(!atomic_load_explicit(&record_process.open, memory_order_acquire),
			     0)) {
		if (may_load)
			guest_ask();
		if (!open_recording())
			return false;
	}
	if (__builtin_expect(guest_control_asked(recorder.spool.header), 0))
		guest_control();
	return true;
}

HOT_CODE bool record_continue_in(void **frame)
{
	record_notice_fork();
	return atomic_load_explicit(&record_process.open, memory_order_acquire) &&
	       record_begin_in(frame, true);
}

HOT_CODE void record_done(void)
{
	if (recorder.ledger.error)
		record_give_up(recorder.paths.spool, recorder.ledger.error);
	record_unlock();
}

void record_unmatched(void)
{
	if (!recorder.ledger.error)
		recorder.spool.header->unmatched++;
}

void record_events_locked(bool on)
{
	if (on != record_quiet())
		return; /* nothing to change */
	atomic_store(&record_process.quiet, !on);
	recorder.ledger.quiet = !on;
	if (atomic_load(&record_process.open))
		atomic_store(&recorder.spool.header->recording, on);
}

void record_events(bool on)
{
	record_notice_fork();
	if (record_interrupts(__builtin_frame_address(0)))
		return;
	record_lock();
	record_events_locked(on);
	record_unlock();
}

void record_missed(void)
{
	atomic_fetch_add_explicit(&recorder.missed, 1, memory_order_relaxed);
}

void record_note(const char *text)
{
	for (unsigned i = 0; i < RECORD_NOTES; i++) {
		if (atomic_load_explicit(&recorder.notes[i], memory_order_relaxed) == text)
			return; /* already noted: some callers repeat their note at each call */
	}
	SIGNALS_DEFERRED();
	if (record_held())
		return;
	record_lock();
	for (unsigned i = 0; i < RECORD_NOTES; i++) {
		if (recorder.notes[i] && strcmp(recorder.notes[i], text))
			continue;
		if (!recorder.notes[i] && atomic_load(&record_process.open))
			record_fact("note", text);
		recorder.notes[i] = text;
		break;
	}
	record_unlock();
}
