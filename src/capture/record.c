/*
 * The recorder: one spool, one ledger and one lock in this process.
 */
#include "capture/record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/watch.h"
#include "capture/autograd.h"
#include "capture/bound.h"
#include "capture/calls.h"
#include "capture/cupti.h"
#include "capture/doors.h"
#include "capture/facts.h"
#include "capture/finish.h"
#include "capture/loader.h"
#include "capture/modules.h"
#include "capture/nvtx.h"
#include "capture/python.h"
#include "capture/resolve.h"
#include "capture/stacks.h"
#include "capture/torch.h"
#include "capture/unwind.h"
#include "capture/used.h"
#include "spool/txn.h"

enum { PENDING = 128, COST_EVERY = 64, NOTES = 16 };

_Atomic int record_state = RECORD_INERT;

/* Marks and ranges from before the first memory event, which is what creates the file. */
struct pending {
	uint64_t t, range;
	uint32_t thread;
	uint8_t op;
	char name[96], domain[24];
};

static struct {
	struct lock lock, open_lock;
	struct spool spool;
	struct intern intern;
	struct ledger ledger;
	struct paths paths;
	uint64_t start_monotonic, start_realtime;
	int pid;
	uint8_t *alive; /* a page that reads 0 in any child, however it was born */
	_Atomic bool open, prepared, cuda_started;
	_Atomic bool quiet;          /* memtrace_stop() */
	_Atomic uint32_t generation; /* of this process: forks behind it */
	uint32_t hook_text[HOOKS];
	uint32_t pending_count;
	struct pending pending[PENDING];
	const char *notes[NOTES];
	_Atomic uint64_t missed;
} record = { .lock = LOCK_INIT(RECORD), .open_lock = LOCK_INIT(OPEN) };

static _Thread_local struct {
	uint32_t thread, generation;
	bool inside; /* between record_lock() and record_unlock(): a signal handler must not wait */
} self;

void record_init(void)
{
	uint8_t *page;

	record.pid = getpid();
	record.start_realtime = clock_realtime();
	record.start_monotonic = clock_now();
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED && !madvise(page, 4096, MADV_WIPEONFORK)) {
		*page = 1;
		record.alive = page;
	}
	record.quiet = !opt_flag(OPT_ID_start);
	paths_init(&record.paths);
	calls_init();
	atomic_store(&record_state, opt_flag(OPT_ID_enable) ? RECORD_ON : RECORD_INERT);
}

/* Recording ends by trouble: said once, kept in the header. With the lock held. */
static void give_up(const char *what, int error)
{
	if (atomic_exchange(&record_state, RECORD_ENDED) == RECORD_ENDED)
		return; /* other threads were on their way */
	log_say("recording stopped: ", what, ": ", facts_error(error),
		"; what was recorded so far is kept and the program goes on", NULL);
}

/* The kernel's number of this thread; asked again in a child. */
static int own_number(void)
{
	uint32_t generation = atomic_load_explicit(&record.generation, memory_order_relaxed) + 1;

	return self.generation == generation ? (int)self.thread : (int)syscall(SYS_gettid);
}

/* The thread that was recording has ended in the middle: its update is taken back, and no more. */
static void inherit(void)
{
	if (!record.spool.header)
		return;
	txn_cancel(&record.spool);
	if (record.ledger.error)
		return;
	record.ledger.error = -EOWNERDEAD;
	atomic_store(&record.spool.header->stop, spool_stop_reason(-EOWNERDEAD));
	give_up(record.paths.spool, -EOWNERDEAD);
}

void record_lock(void)
{
	self.inside = true; /* first: a handler may come in between */
	if (__builtin_expect(lock_take_as(&record.lock, own_number()), 0))
		inherit();
}

void record_unlock(void)
{
	lock_drop_as(&record.lock, own_number());
	self.inside = false;
}

/* In a signal handler that interrupted an update: it must neither wait for itself nor go on. */
static inline bool interrupts(void)
{
	if (__builtin_expect(!self.inside, 1))
		return false;
	if (atomic_load(&record.open))
		atomic_fetch_add(&record.spool.header->nested, 1);
	return true;
}

bool record_inside(void)
{
	return self.inside;
}

int record_pid(void)
{
	return record.pid;
}

bool record_is_open(void)
{
	return atomic_load_explicit(&record.open, memory_order_acquire);
}

struct spool *record_spool(void)
{
	return &record.spool;
}

struct intern *record_intern(void)
{
	return &record.intern;
}

struct ledger *record_ledger(void)
{
	return &record.ledger;
}

uint64_t record_now(void)
{
	return clock_now() - record.start_monotonic;
}

bool record_quiet(void)
{
	return atomic_load_explicit(&record.quiet, memory_order_relaxed);
}

uint32_t record_hook_text(enum hook_id id)
{
	if (!record.hook_text[id])
		record.hook_text[id] = intern_text(&record.intern, hooks[id].name);
	return record.hook_text[id];
}

uint32_t record_thread(void)
{
	uint32_t generation = atomic_load_explicit(&record.generation, memory_order_relaxed) + 1;
	char name[16];

	if (self.generation == generation)
		return self.thread;
	self.thread = (uint32_t)syscall(SYS_gettid);
	self.generation = generation;
	if (atomic_load(&record.open) && !prctl(PR_GET_NAME, name)) {
		name[sizeof(name) - 1] = '\0';
		record_lock();
		intern_thread(&record.intern, self.thread, name, record_now());
		record_unlock();
	}
	return self.thread;
}

void record_forked(void)
{
	/* The parent's mapping is not in this process (MADV_DONTFORK), so there is nothing to
	 * unmap. */
	atomic_store(&record.open, false);
	spool_forget(&record.spool);
	intern_clear(&record.intern);
	ledger_clear(&record.ledger);
	modules_clear();
	torch_clear();
	autograd_clear();
	facts_clear();
	calls_clear();
	cupti_clear();
	loader_forked();
	resolve_forked();
	nvtx_forked();
	used_clear();
	memset(record.hook_text, 0, sizeof(record.hook_text));
	memset(record.notes, 0, sizeof(record.notes));
	record.pending_count = 0;
	lock_reset(&record.lock);
	lock_reset(&record.open_lock);
	self.inside = false;
	atomic_fetch_add(&record.generation, 1);
	record.pid = getpid();
	record.start_monotonic = clock_now();
	record.start_realtime = clock_realtime();
	if (atomic_load(&record_state) == RECORD_ENDED)
		atomic_store(&record_state, RECORD_ON);
	if (record.alive)
		*record.alive = 1;
}

void record_prepare(void)
{
	const char *path;

	if (__builtin_expect(atomic_load_explicit(&record.prepared, memory_order_relaxed), 1) ||
	    atomic_exchange(&record.prepared, true))
		return;
	path = watch_path(NULL); /* once in a process: the loader allocates */
	loader_enter();
	finish_watch();
	unwind_prepare();
	python_prepare(resolve_dlsym);
	torch_prepare();
	autograd_prepare();
	loader_leave();
	watch_path(path);
}

static void put_mark(const struct pending *from)
{
	struct event event = {
		.op = from->op,
		.t = from->t,
		.thread = from->thread,
		.stream = from->range,
		.device = NO_DEVICE,
	};

	event.name = intern_text(&record.intern, from->name);
	event.pool = intern_text(&record.intern, from->domain);
	ledger_note(&record.ledger, &event);
}

static int start_tables(void)
{
	int error = intern_init(&record.intern, &record.spool);

	if (!error)
		error = ledger_init(&record.ledger, &record.spool, opt_count(OPT_ID_max_events));
	if (error)
		return error;
	record.spool.header->start_monotonic = record.start_monotonic;
	record.spool.header->start_realtime = record.start_realtime;
	record.ledger.quiet = record_quiet();
	facts_record(&record.intern, &record.paths);
	for (unsigned i = 0; i < NOTES && record.notes[i]; i++)
		intern_fact(&record.intern, "note", record.notes[i]);
	calls_settle();
	used_settle();
	return 0;
}

/* Without room for the first rows there is nothing that anybody could read: no file then. */
static int start_recording(void)
{
	int error = start_tables();

	if (!error) {
		spool_publish(&record.spool);
		return 0;
	}
	spool_unlink(&record.spool);
	ledger_clear(&record.ledger);
	intern_clear(&record.intern);
	spool_close(&record.spool);
	return error;
}

/* The first memory event creates the file. */
static bool open_recording(void)
{
	int cancel = cancel_hold();
	int error;

	lock_take(&record.open_lock);
	if (!atomic_load(&record.open) && record_on()) {
		record_lock();
		error = paths_create(&record.paths, &record.spool);
		if (!error)
			error = start_recording();
		if (error)
			give_up(record.paths.spool, error);
		for (uint32_t i = 0; !error && i < record.pending_count; i++)
			put_mark(&record.pending[i]);
		record.pending_count = 0;
		atomic_store(&record.open, !error);
		record_unlock();
	}
	lock_drop(&record.open_lock);
	cancel_release(cancel);
	return atomic_load(&record.open);
}

/* A child of fork, vfork's successor, clone: nobody told us, but the page tells. */
static inline void notice_fork(void)
{
	if (record.alive && __builtin_expect(!*(volatile uint8_t *)record.alive, 0))
		record_forked();
}

bool record_begin(bool may_load)
{
	notice_fork();
	if (!record_on() || interrupts())
		return false;
	if (may_load)
		record_prepare();
	if (__builtin_expect(atomic_load_explicit(&record.open, memory_order_acquire), 1))
		return true;
	if (may_load)
		facts_ask();
	return open_recording();
}

bool record_continue(void)
{
	notice_fork();
	return atomic_load_explicit(&record.open, memory_order_acquire) && record_begin(true);
}

void record_done(uint64_t t)
{
	struct spool_header *header = record.spool.header;

	if (record.ledger.error) {
		give_up(record.paths.spool, record.ledger.error);
	} else if (header->seq % COST_EVERY == 0) {
		header->cost_ns += record_now() - t;
		header->cost_events++;
	}
	record_unlock();
}

void record_unmatched(void)
{
	if (!record.ledger.error)
		record.spool.header->unmatched++;
}

void record_mark(enum event_op op, const char *name, const char *domain, uint64_t range)
{
	struct pending mark = { .op = (uint8_t)op, .range = range };

	notice_fork();
	if (!record_on() || record_quiet() || interrupts())
		return;
	mark.t = record_now();
	mark.thread = record_thread();
	text_copy(mark.name, sizeof(mark.name), name ? name : "");
	text_copy(mark.domain, sizeof(mark.domain), domain ? domain : "");
	record_lock();
	if (atomic_load(&record.open))
		put_mark(&mark);
	else if (record.pending_count < PENDING)
		record.pending[record.pending_count++] = mark;
	record_unlock();
}

void record_events(bool on)
{
	notice_fork();
	if (interrupts())
		return;
	record_lock();
	atomic_store(&record.quiet, !on);
	record.ledger.quiet = !on;
	if (on && atomic_load(&record.open))
		journal_resync(&record.ledger.journal);
	record_unlock();
}

void record_enable(bool on)
{
	int from = on ? RECORD_INERT : RECORD_ON;

	if (!record.start_monotonic ||
	    !atomic_compare_exchange_strong(&record_state, &from, on ? RECORD_ON : RECORD_INERT))
		return;
	if (on && atomic_load(&record.open)) {
		record_thread(); /* takes the lock itself, the first time */
		record_lock();
		torch_restart();
		record_unlock();
	}
}

void record_missed(void)
{
	if (atomic_load_explicit(&record_state, memory_order_relaxed) == RECORD_ENDED)
		atomic_fetch_add_explicit(&record.missed, 1, memory_order_relaxed);
}

void record_note(const char *text)
{
	record_lock();
	for (unsigned i = 0; i < NOTES; i++) {
		if (record.notes[i] && strcmp(record.notes[i], text))
			continue;
		if (!record.notes[i] && atomic_load(&record.open))
			intern_fact(&record.intern, "note", text);
		record.notes[i] = text;
		break;
	}
	record_unlock();
}

void record_fact(const char *key, const char *value)
{
	record_lock();
	if (atomic_load(&record.open))
		intern_fact(&record.intern, key, value);
	record_unlock();
}

void record_cuda_started(void)
{
	atomic_store(&record.cuda_started, true);
	record_prepare();
}

/* CUDA ran in this process and no call of it came through any door: RTLD_DEEPBIND or dlmopen. */
static void tell_if_blind(void)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < DOORS; i++)
		seen += doors_counted(i);
	if (!seen && record_on() && atomic_load(&record.cuda_started))
		log_say("CUDA was used in a way that a preload cannot see (RTLD_DEEPBIND, "
			"dlmopen): no trace",
			NULL);
}

void record_finish(void)
{
	struct spool_header *header;

	notice_fork();
	if (!atomic_load(&record.open)) {
		tell_if_blind();
		return;
	}
	if (self.inside) {
		/* exit() in a signal handler: what it interrupted will never go on. */
		txn_cancel(&record.spool);
	} else {
		modules_refresh();
		if (bound_past_us())
			record_note("a library calls the CUDA runtime past every preload "
				    "(RTLD_DEEPBIND): seen at the driver only");
		record_lock();
		facts_late(&record.intern);
	}
	atomic_store(&record_state, RECORD_ENDED);
	/* Threads that were on their way here find nothing to do while the document is written. */
	if (!record.ledger.error)
		record.ledger.error = -ECANCELED;
	header = record.spool.header;
	header->end = record_now();
	header->status = (uint64_t)finish_status() + 1;
	calls_settle();
	atomic_store(&header->late, atomic_load(&record.missed));
	for (unsigned i = 0; i < DOORS; i++)
		header->doors[i] += doors_counted(i);
	if (!atomic_load(&header->stop))
		atomic_store(&header->stop, SPOOL_CLOSED);
	spool_seal(&record.spool);
	record_unlock();
	finish_write(&record.spool, &record.paths);
}
