/*
 * The recorder: one spool, one ledger and one lock in this process.
 */
#include "capture/record.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
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
#include "base/start.h"
#include "base/text.h"
#include "base/watch.h"
#include "capture/autograd.h"
#include "capture/bound.h"
#include "capture/calls.h"
#include "capture/choose.h"
#include "capture/control.h"
#include "capture/cost.h"
#include "capture/cupti.h"
#include "capture/doors.h"
#include "capture/facts.h"
#include "capture/finish.h"
#include "capture/loader.h"
#include "capture/modules.h"
#include "capture/now.h"
#include "capture/nvtx.h"
#include "capture/python.h"
#include "capture/resolve.h"
#include "capture/stacks.h"
#include "capture/torch.h"
#include "capture/unwind.h"
#include "capture/used.h"
#include "spool/txn.h"

enum {
	PENDING = 128,
	NOTES = 16,
	/* A million ranges may each have a name, of 24 bytes say. */
	MARK_NAMES = 1 << 20,
	MARK_BYTES = 24 << 20,
	MARK_FOLDED = 1 << 16, /* names more, with their numbers folded */
};

START_DATA _Atomic int record_state = RECORD_INERT;

/* Marks and ranges from before the first memory event, which is what creates the file. */
struct pending {
	uint64_t t, range;
	uint32_t thread;
	uint8_t op;
	char name[RECORD_NAME], domain[48], category[32];
	struct event_detail detail;
};

/* What the constructor, a forked child and the end of a process that does nothing look at. */
static START_DATA struct {
	uint64_t start_monotonic, start_realtime;
	int pid;
	_Atomic bool quiet; /* memtrace_stop() */
	_Atomic bool awake, open, cuda_started;
	_Atomic uint32_t generation; /* of this process: forks behind it */
	_Atomic(uint8_t *) alive;    /* a page that reads 0 in any child, however it was born */
} process;

static struct {
	struct lock lock, open_lock;
	_Atomic bool prepared;
	struct paths paths;
	struct spool spool;
	struct intern intern;
	struct ledger ledger;
	uint32_t hook_text[HOOKS];
	uint32_t mark_names, mark_bytes; /* distinct ones */
	uint32_t mark_folded;            /* the same, once there were too many */
	bool marks_full;
	uint32_t pending_count;
	uint64_t pending_lost;
	struct pending pending[PENDING];
	_Atomic(const char *) notes[NOTES];
	_Atomic uint64_t missed;
} record = { .lock = LOCK_INIT(RECORD), .open_lock = LOCK_INIT(OPEN) };

/* Where a thread is, for the signal handler that interrupts it there. */
enum phase {
	OUTSIDE,
	INSIDE, /* between record_lock() and record_unlock(), or on the way in */
	LEAVING /* all is done but the dropping of the lock */
};

static _Thread_local struct {
	uint32_t thread, generation;
	enum phase phase;
	bool nested;  /* the lock is what a signal handler interrupted, and is left to it */
	void **frame; /* that has the lock, and its return address */
	void *back;
} self;

START_CODE void record_init(void)
{
	process.pid = getpid();
	process.start_monotonic = now_init();
	process.quiet = !opt_flag(OPT_ID_start);
	paths_init();
	atomic_store(&record_state, opt_flag(OPT_ID_enable) ? RECORD_ASLEEP : RECORD_INERT);
}

static uint8_t *make_alive(void)
{
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, 4096, MADV_WIPEONFORK)) {
		munmap(page, 4096);
		return NULL;
	}
	*page = 1;
	return page;
}

bool record_awake(void)
{
	return atomic_load(&process.awake);
}

/*
 * Born past fork's handlers, while there was no page yet that tells? A clone in its maker's memory
 * was not: what it writes is its maker's. Where the kernel does not say that, it is a rarer thing
 * than a child is.
 */
static bool is_child(void)
{
	int pid = getpid();

	return pid != process.pid && syscall(SYS_kcmp, pid, process.pid, KCMP_VM, 0, 0) != 0;
}

bool record_wake(void)
{
	struct signals_deferred deferred;
	int saved = errno;
	int asleep = RECORD_ASLEEP;

	if (!record_awake() && is_child())
		record_forked();
	signals_defer(&deferred);
	lock_take(&record.open_lock);
	if (!record_awake()) {
		process.start_realtime = clock_realtime() - (clock_now() - process.start_monotonic);
		atomic_store(&process.alive, make_alive());
		calls_init();
		atomic_store(&process.awake, true);
	}
	atomic_compare_exchange_strong(&record_state, &asleep, RECORD_ON);
	lock_drop(&record.open_lock);
	signals_deliver(&deferred);
	errno = saved;
	return atomic_load(&record_state) == RECORD_ON;
}

/* Recording ends by trouble: said once, kept in the header. With the lock held. */
static void give_up(const char *what, int error)
{
	if (error == -ECANCELED)
		return; /* on purpose: at the end, or in a child */
	if (atomic_exchange(&record_state, RECORD_ENDED) == RECORD_ENDED)
		return; /* other threads were on their way */
	log_say("recording stopped: ", what, ": ", facts_error(error),
		"; what was recorded so far is kept and the program goes on", NULL);
}

/* The kernel's number of this thread; asked again in a child. */
static int own_number(void)
{
	uint32_t generation = atomic_load_explicit(&process.generation, memory_order_relaxed) + 1;

	return self.generation == generation ? (int)self.thread : (int)syscall(SYS_gettid);
}

/*
 * Whoever had the lock has left it in the middle, for good: what it did is taken back, and what
 * only this process knows is read anew from the spool.
 */
static void mend(void)
{
	struct signals_deferred deferred;

	if (!record.spool.header)
		return;
	signals_defer(&deferred);
	txn_cancel(&record.spool);
	ledger_mend(&record.ledger);
	if (atomic_load(&process.open))
		atomic_fetch_add(&record.spool.header->abandoned, 1);
	signals_deliver(&deferred);
}

/* The holder may come back after all, and then two would be at it: nothing is written any more. */
static void end_overdue(void)
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

void record_lock_in(void **frame)
{
	int number = own_number();
	enum lock_got got;

	/* First, for a handler may come in between; and again, for it may have been here itself. */
	self.frame = frame;
	self.back = frame ? frame[1] : NULL;
	self.phase = INSIDE;
	atomic_signal_fence(memory_order_seq_cst);
	got = lock_take_as(&record.lock, number, frame);
	self.frame = frame;
	self.back = frame ? frame[1] : NULL;
	self.phase = INSIDE;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(got == LOCK_NESTED, 0))
		/* A handler, after another one, before what it interrupted knew that it has the
		 * lock: nothing has been touched yet, and it stays locked for it. */
		self.nested = true;
	else if (__builtin_expect(got == LOCK_LEFT, 0))
		mend();
	else if (__builtin_expect(got == LOCK_OVERDUE, 0))
		end_overdue();
}

void record_unlock(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(self.nested, 0)) {
		self.nested = false;
	} else {
		self.phase = LEAVING;
		atomic_signal_fence(memory_order_seq_cst);
		lock_drop_as(&record.lock, own_number());
		atomic_signal_fence(memory_order_seq_cst);
	}
	self.phase = OUTSIDE;
}

static bool on_other_stack(void)
{
	stack_t stack;

	return syscall(SYS_sigaltstack, NULL, &stack) || stack.ss_flags & SS_ONSTACK;
}

/*
 * Is the frame that has the lock gone? Surely if this one has its place or lies further out on the
 * same stack, or if it does not hold its return address any more.
 */
static bool frame_gone(void **frame)
{
	if (!self.frame)
		return false;
	if (frame >= self.frame && !on_other_stack())
		return true;
	return lock_frame_gone(self.frame + 1, self.back);
}

/* Not to be left in the middle itself: then nobody would know whose the lock is. */
static void rescue(int number)
{
	struct signals_deferred deferred;

	signals_defer(&deferred);
	self.nested = false; /* jumped out of, too */
	if (lock_rescue(&record.lock, number)) {
		mend();
		lock_drop_as(&record.lock, LOCK_RESCUED);
	}
	signals_deliver(&deferred);
}

/*
 * The thread has the lock, as far as it knows. False: it has it no more, and may go on. True: this
 * is a signal handler in the middle of its update, and must neither wait for it nor go on.
 */
static __attribute__((noinline)) bool interrupts_update(void **frame)
{
	int number = own_number();
	int saved = errno;
	bool in_update = false;

	if (!lock_is_own(&record.lock, number)) {
		/* It waits for the lock and takes it when we are through; or it was taken over. */
	} else if (self.phase == LEAVING) {
		lock_drop_as(&record.lock, number);
	} else if (frame_gone(frame)) {
		rescue(number);
	} else {
		in_update = true;
	}
	if (!in_update)
		self.phase = OUTSIDE;
	errno = saved;
	return in_update;
}

/* In a signal handler that interrupted an update its memory calls pass, and are counted. */
static inline __attribute__((always_inline)) bool interrupts(void **frame)
{
	if (__builtin_expect(self.phase == OUTSIDE, 1) || !interrupts_update(frame))
		return false;
	if (atomic_load(&process.open))
		atomic_fetch_add(&record.spool.header->nested, 1);
	return true;
}

bool record_inside_in(void **frame)
{
	return self.phase != OUTSIDE && interrupts_update(frame);
}

int record_pid(void)
{
	return process.pid;
}

bool record_is_open(void)
{
	return atomic_load_explicit(&process.open, memory_order_acquire);
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
	uint64_t now = now_ns();

	/* A child's time zero is younger than its thread's last look at the clock. */
	return now > process.start_monotonic ? now - process.start_monotonic : 0;
}

bool record_quiet(void)
{
	return atomic_load_explicit(&process.quiet, memory_order_relaxed);
}

uint32_t record_hook_text(enum hook_id id)
{
	if (!record.hook_text[id])
		record.hook_text[id] = intern_text(&record.intern, hooks[id].name);
	return record.hook_text[id];
}

uint32_t record_thread(void)
{
	uint32_t generation = atomic_load_explicit(&process.generation, memory_order_relaxed) + 1;
	char name[16];

	if (self.generation == generation)
		return self.thread;
	self.thread = (uint32_t)syscall(SYS_gettid);
	self.generation = generation;
	if (atomic_load(&process.open) && !prctl(PR_GET_NAME, name)) {
		name[sizeof(name) - 1] = '\0';
		record_lock();
		intern_thread(&record.intern, self.thread, name, record_now());
		record_unlock();
	}
	return self.thread;
}

/* What other threads of the parent held. */
static void forget_others(void)
{
	loader_forked();
	resolve_forked();
	nvtx_forked();
	lock_reset(&record.open_lock);
}

/* What this process knew of its parent's recording. */
static void clear(void)
{
	/* The parent's mapping is not in this process (MADV_DONTFORK), so there is nothing to
	 * unmap. */
	atomic_store(&process.open, false);
	spool_forget(&record.spool);
	intern_clear(&record.intern);
	ledger_clear(&record.ledger);
	modules_clear();
	torch_clear();
	autograd_clear();
	stacks_forked();
	facts_clear();
	calls_clear();
	cupti_clear();
	used_clear();
	memset(record.hook_text, 0, sizeof(record.hook_text));
	memset(record.notes, 0, sizeof(record.notes));
	record.pending_count = 0;
	record.pending_lost = 0;
	record.mark_names = record.mark_bytes = record.mark_folded = 0;
	record.marks_full = false;
}

void record_forked(void)
{
	uint8_t *alive = atomic_load(&process.alive);

	if (record_awake())
		clear();
	forget_others();
	lock_reset(&record.lock);
	self.phase = OUTSIDE;
	atomic_fetch_add(&process.generation, 1);
	process.pid = getpid();
	process.start_monotonic = clock_now();
	if (record_awake())
		process.start_realtime = clock_realtime();
	if (atomic_load(&record_state) == RECORD_ENDED)
		atomic_store(&record_state, RECORD_ON);
	if (alive)
		*alive = 1;
}

void record_forked_in_handler(bool inside)
{
	if (atomic_load(&process.open) &&
	    (!atomic_load(&process.alive) || spool_copy_in_child(&record.spool))) {
		record_forked();
		return;
	}
	forget_others();
	if (!inside)
		lock_reset(&record.lock);
	if (!record.ledger.error)
		record.ledger.error = -ECANCELED;
}

/* Not while a signal handler has interrupted what would find nothing of it any more. */
static __attribute__((noinline)) void notice_fork_now(void)
{
	int saved = errno;

	if (!unwind_signal_in_us())
		record_forked();
	errno = saved;
}

/* A child of fork, vfork's successor, clone: nobody told us, but the page tells. */
static inline void notice_fork(void)
{
	volatile uint8_t *alive = atomic_load_explicit(&process.alive, memory_order_acquire);

	if (alive && __builtin_expect(!*alive, 0))
		notice_fork_now();
}

void record_prepare(void)
{
	struct signals_deferred deferred;
	const char *path;

	if (__builtin_expect(atomic_load_explicit(&record.prepared, memory_order_relaxed), 1) ||
	    atomic_load(&loader_silent) || atomic_exchange(&record.prepared, true))
		return;
	signals_defer(&deferred); /* the loader's functions must not be entered again */
	path = watch_path(NULL);  /* once in a process: the loader allocates */
	loader_enter();
	finish_watch();
	unwind_prepare();
	python_prepare(resolve_dlsym);
	torch_prepare();
	autograd_prepare();
	loader_leave();
	watch_path(path);
	signals_deliver(&deferred);
}

/* "aten::mm, seq = 17" -> "aten::mm, seq = #" */
static void fold_numbers(const char *name, char *to)
{
	bool in_number = false;

	for (; *name; name++) {
		bool digit = *name >= '0' && *name <= '9';

		if (!digit || !in_number)
			*to++ = (char)(digit ? '#' : *name);
		in_number = digit;
	}
	*to = '\0';
}

/*
 * Names that count (a step, a sequence number) would fill the table of texts: beyond so many, later
 * ones have their numbers folded, and if they are that different still, one name between them.
 */
static uint32_t mark_name(const char *name)
{
	uint64_t before = spool_count(&record.spool, SPOOL_TEXT);
	char folded[sizeof(record.pending->name)];
	uint32_t id;

	if (record.mark_folded >= MARK_FOLDED)
		return intern_text(&record.intern, "[too many names]");
	if (record.marks_full) {
		fold_numbers(name, folded);
		name = folded;
	}
	id = intern_text(&record.intern, name);
	if (spool_count(&record.spool, SPOOL_TEXT) == before)
		return id;
	if (record.marks_full) {
		record.mark_folded++;
		return id;
	}
	record.mark_bytes += strlen(name) + 1;
	if (++record.mark_names < MARK_NAMES && record.mark_bytes < MARK_BYTES)
		return id;
	record.marks_full = true;
	intern_fact(&record.intern, "note",
		    "very many names of ranges: the numbers in later ones are told as #");
	return id;
}

static void put_mark(const struct pending *from)
{
	struct event event = {
		.op = from->op,
		.t = from->t,
		.thread = from->thread,
		.stream = from->range,
		.device = NO_DEVICE,
		.detail = from->detail,
	};

	event.name = mark_name(from->name);
	event.pool = intern_text(&record.intern, from->domain);
	event.detail.category = intern_text(&record.intern, from->category);
	ledger_note(&record.ledger, &event);
}

/* Of a flight recorder only a limit that was asked for counts. */
static int start_ledger(void)
{
	uint64_t most = opt_count(OPT_ID_max_events);
	uint64_t ns = 0, bytes = 0;
	bool keep = *opt_text(OPT_ID_keep) && !opt_parse_keep(opt_text(OPT_ID_keep), &ns, &bytes);
	int error = ledger_init(&record.ledger, &record.spool,
				keep && !opt_given(OPT_ID_max_events) ? UINT64_MAX : most);

	if (!error && keep)
		journal_keep(&record.ledger.journal, ns, bytes);
	return error;
}

static int start_tables(void)
{
	int error = intern_init(&record.intern, &record.spool);

	if (!error)
		error = start_ledger();
	if (error)
		return error;
	record.spool.header->start_monotonic = process.start_monotonic;
	record.spool.header->start_realtime = process.start_realtime;
	record.ledger.quiet = record_quiet();
	atomic_store(&record.spool.header->recording, !record_quiet());
	record.spool.header->sample = choose_interval();
	control_opened(record.spool.header);
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
	struct signals_deferred deferred;
	int error;

	signals_defer(&deferred);
	lock_take(&record.open_lock);
	if (!atomic_load(&process.open) && record_on()) {
		record_lock();
		error = paths_create(&record.paths, &record.spool);
		if (!error)
			error = start_recording();
		if (error)
			give_up(record.paths.spool, error);
		for (uint32_t i = 0; !error && i < record.pending_count; i++)
			put_mark(&record.pending[i]);
		if (!error && atomic_load(&loader_silent))
			intern_fact(&record.intern, "note",
				    "born by a clone past fork's handlers, among threads: native "
				    "frames were not looked for");
		if (!error && record.pending_lost)
			intern_fact(&record.intern, "note",
				    "some of very many ranges and marks from before the first "
				    "memory event were not kept");
		record.pending_count = 0;
		record.pending_lost = 0;
		atomic_store(&process.open, !error);
		record_unlock();
	}
	lock_drop(&record.open_lock);
	signals_deliver(&deferred);
	return atomic_load(&process.open);
}

bool record_begin_in(void **frame, bool may_load)
{
	notice_fork();
	if (!record_on() || interrupts(frame))
		return false;
	if (may_load)
		record_prepare();
	if (__builtin_expect(!atomic_load_explicit(&process.open, memory_order_acquire), 0)) {
		if (may_load)
			facts_ask();
		if (!open_recording())
			return false;
	}
	if (__builtin_expect(control_asked(record.spool.header), 0))
		control_act();
	return true;
}

bool record_continue_in(void **frame)
{
	notice_fork();
	return atomic_load_explicit(&process.open, memory_order_acquire) &&
	       record_begin_in(frame, true);
}

void record_done(void)
{
	if (record.ledger.error)
		give_up(record.paths.spool, record.ledger.error);
	record_unlock();
}

void record_cost(enum spool_cost_kind kind, uint64_t ns)
{
	record_lock();
	if (atomic_load(&process.open)) {
		struct spool_cost *cost = &record.spool.header->costs[kind];

		cost->ns += ns;
		cost->events++;
	}
	record_unlock();
}

void record_unmatched(void)
{
	if (!record.ledger.error)
		record.spool.header->unmatched++;
}

/* Does the pop end the push? */
static bool is_end_of(const struct pending *pop, const struct pending *push)
{
	if (pop->op != EVENT_POP || push->op != EVENT_PUSH || pop->range != push->range)
		return false;
	return pop->range || (pop->thread == push->thread && !strcmp(pop->domain, push->domain));
}

/*
 * No memory event has come yet. What began and ended in front of the first saw no memory, so when
 * there are too many such ranges go first: what stays open must be known.
 */
static void put_pending(const struct pending *mark)
{
	uint32_t at = record.pending_count;

	if (mark->op == EVENT_POP && record.pending_count > PENDING / 2) {
		while (at && !is_end_of(mark, &record.pending[at - 1]))
			at--;
		if (!at)
			return;
		memmove(record.pending + at - 1, record.pending + at,
			(record.pending_count - at) * sizeof(*record.pending));
		record.pending_count--;
		return;
	}
	if (record.pending_count < PENDING)
		record.pending[record.pending_count++] = *mark;
	else
		record.pending_lost++;
}

void record_mark_detailed(enum event_op op, const char *name, const char *domain, uint64_t range,
			  const struct record_detail *detail)
{
	struct pending mark = { .op = (uint8_t)op, .range = range };

	cost_enter(true);
	notice_fork();
	if (!record_on() || record_quiet() || interrupts(__builtin_frame_address(0)))
		return;
	mark.t = record_now();
	mark.thread = record_thread();
	text_copy(mark.name, sizeof(mark.name), name ? name : "");
	text_copy(mark.domain, sizeof(mark.domain), domain ? domain : "");
	if (detail) {
		text_copy(mark.category, sizeof(mark.category),
			  detail->category ? detail->category : "");
		mark.detail = detail->rest;
	}
	record_lock();
	if (atomic_load(&process.open))
		put_mark(&mark);
	else
		put_pending(&mark);
	record_unlock();
	cost_leave(SPOOL_COST_RANGE, true, true);
}

void record_mark(enum event_op op, const char *name, const char *domain, uint64_t range)
{
	record_mark_detailed(op, name, domain, range, NULL);
}

void record_mark_locked(const char *name)
{
	struct pending mark = { .op = EVENT_MARK, .t = record_now(), .thread = self.thread };

	text_copy(mark.name, sizeof(mark.name), name);
	if (!record_quiet())
		put_mark(&mark);
}

void record_events_locked(bool on)
{
	if (on != record_quiet())
		return; /* they are */
	atomic_store(&process.quiet, !on);
	record.ledger.quiet = !on;
	if (atomic_load(&process.open))
		atomic_store(&record.spool.header->recording, on);
}

void record_events(bool on)
{
	notice_fork();
	if (interrupts(__builtin_frame_address(0)))
		return;
	record_lock();
	record_events_locked(on);
	record_unlock();
}

void record_enable(bool on)
{
	int from = on ? RECORD_INERT : RECORD_ON;
	int to = on ? RECORD_ASLEEP : RECORD_INERT; /* who is woken twice goes on */

	if (!process.start_monotonic || (!on && !record_on()) ||
	    !atomic_compare_exchange_strong(&record_state, &from, to))
		return;
	if (on && atomic_load(&process.open)) {
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
	struct signals_deferred deferred;

	for (unsigned i = 0; i < NOTES; i++) {
		if (atomic_load_explicit(&record.notes[i], memory_order_relaxed) == text)
			return; /* some places say it at each call */
	}
	signals_defer(&deferred);
	record_lock();
	for (unsigned i = 0; i < NOTES; i++) {
		if (record.notes[i] && strcmp(record.notes[i], text))
			continue;
		if (!record.notes[i] && atomic_load(&process.open))
			intern_fact(&record.intern, "note", text);
		record.notes[i] = text;
		break;
	}
	record_unlock();
	signals_deliver(&deferred);
}

void record_fact(const char *key, const char *value)
{
	record_lock();
	if (atomic_load(&process.open))
		intern_fact(&record.intern, key, value);
	record_unlock();
}

void record_cuda_started(void)
{
	atomic_store(&process.cuda_started, true);
	record_prepare();
}

/* CUDA ran in this process and no call of it came through any door: RTLD_DEEPBIND or dlmopen. */
static void tell_if_blind(void)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < DOORS; i++)
		seen += doors_counted(i);
	if (!seen && record_on() && atomic_load(&process.cuda_started))
		log_say("CUDA was used in a way that a preload cannot see (RTLD_DEEPBIND, "
			"dlmopen): no trace",
			NULL);
}

START_CODE bool record_idle(void)
{
	return !atomic_load(&process.open) && !atomic_load(&process.cuda_started);
}

void record_finish(void)
{
	struct signals_deferred deferred;
	struct spool_header *header;

	notice_fork();
	if (!atomic_load(&process.open)) {
		tell_if_blind();
		return;
	}
	/* The loader is asked: a handler that walked the stack in between would wait for a thread
	 * that has libunwind's lock and waits for the loader's. */
	signals_defer(&deferred);
	if (record_inside()) {
		/* exit() in a signal handler: what it interrupted will never go on. */
		txn_cancel(&record.spool);
		finish_prepare(&record.paths, false);
	} else {
		modules_refresh();
		control_check_signal();
		finish_prepare(&record.paths, true);
		if (!atomic_load(&loader_silent) && bound_past_us())
			record_note("a library calls the CUDA runtime past every preload "
				    "(RTLD_DEEPBIND): seen at the driver only");
		record_lock();
		facts_late(&record.intern);
	}
	atomic_store(&record_state, RECORD_ENDED);
	signals_deliver(&deferred);
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
