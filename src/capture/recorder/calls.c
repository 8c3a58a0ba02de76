/*
 * Counts and times the calls of the functions in counted_calls.def and hooks.def, and measures the
 * time that recording events costs the traced program.
 *
 * Of nested calls only the outermost is counted. The counts are in the spool, so that they outlive
 * a killed process: one row for each function and group of threads (shard), made at the first call.
 * Usually no lock is taken, no locked instruction is used, and threads share no cache line.
 */
#include "capture/recorder/record_parts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/guest/clock.h"
#include "base/guest/signals.h"
#include "base/settings/opt.h"
#include "capture/loader/tsc_clock.h"

/*
 * The first OWN_SHARDS threads each get a shard for good, so that its rows have one writer; later
 * threads share the other shards. In a forked child the thread keeps its shard, with new rows, and
 * the numbering of threads continues. After vfork() a child writes its parent's rows while the
 * parent waits. Two threads can write a row meant for one writer only if clone() gives a child its
 * parent's memory and thread-local storage and lets both run; some counts are then lost.
 */
enum { OWN_SHARDS = 48, SHARED_SHARDS = 16, SHARDS = OWN_SHARDS + SHARED_SHARDS };

typedef _Atomic(struct spool_call *) slot;

/* Counts of calls for which no row could be made. They are added to the function's next new row. */
static struct spool_call early_counts[HOOKS];

static HOT_DATA struct {
	/* Pointers to rows of the spool, by shard and function; all read NULL in a forked child. */
	slot *slots;
	_Atomic uint64_t threads; /* number of threads so far, here and in parent processes */
} calls;

static HOT_THREAD _Thread_local struct {
	slot *slots; /* the shard's slots; NULL until the thread's first call */
	bool alone;  /* true if no other thread uses the shard */
} own;

void calls_init(void)
{
	/* fork() wipes these pages: they point to rows of the parent, unmapped in a child. */
	if (opt_flag(OPT_ID_calls))
		calls.slots = record_wiped_pages(sizeof(slot) * SHARDS * HOOKS);
}

/* Not inlined, like all rare cases, so that calls_note() itself needs few registers. */
static __attribute__((noinline)) uint64_t ask_now(void)
{
	return tsc_ticks_steady() ? ticks_now() : clock_now();
}

static INLINED uint64_t now(void)
{
	int known = atomic_load_explicit(&tsc_ticks, memory_order_relaxed);

	return __builtin_expect(known == TICKS_STEADY, 1) ? ticks_now() : ask_now();
}

HOT_CODE uint64_t calls_begin(void)
{
	return __builtin_expect(calls.slots != NULL, 1) ? now() : 0;
}

static void raise_max(_Atomic uint64_t *max, uint64_t value)
{
	uint64_t known = atomic_load_explicit(max, memory_order_relaxed);

	while (value > known &&
	       !atomic_compare_exchange_weak_explicit(max, &known, value, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

static void add_relaxed(_Atomic uint64_t *to, uint64_t value)
{
	atomic_fetch_add_explicit(to, value, memory_order_relaxed);
}

/* Adds to a word that only this thread writes, with one unlocked instruction: no signal handler of
 * this thread can interrupt the addition, and readers of an aligned word get either value. */
static INLINED void add_alone(_Atomic uint64_t *to, uint64_t value)
{
#if defined(__x86_64__)
	uint64_t *word = (uint64_t *)to;

	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(value) : "cc");
#else
	add_relaxed(to, value);
#endif
}

static uint64_t take_relaxed(_Atomic uint64_t *from)
{
	return atomic_exchange_explicit(from, 0, memory_order_relaxed);
}

/* Adds a row to the spool; readers see complete rows only. Called with the recorder's lock held. */
static struct spool_call *make_row(enum hook_id id)
{
	struct spool_call *early = &early_counts[id];
	struct spool_call *row = spool_next_row(record_spool(), SPOOL_CALL);

	if (!row)
		return NULL;
	*row = (struct spool_call){
		.name = record_hook_text(id),
		.calls = take_relaxed(&early->calls),
		.failed = take_relaxed(&early->failed),
		.ticks = take_relaxed(&early->ticks),
		.max = take_relaxed(&early->max),
	};
	spool_add_rows(record_spool(), SPOOL_CALL, 1);
	return row;
}

void calls_settle(void)
{
	for (int id = 0; calls.slots && id < HOOKS; id++) {
		struct spool_call *row;

		if (!atomic_load_explicit(&early_counts[id].calls, memory_order_relaxed))
			continue;
		row = make_row((enum hook_id)id);
		if (row && !atomic_load(&calls.slots[id]))
			atomic_store(&calls.slots[id], row);
	}
	record_spool()->header->tick_ns = tsc_tick_ns();
}

static __attribute__((noinline)) void take_shard(void)
{
	uint64_t before = atomic_fetch_add(&calls.threads, 1);
	uint64_t shard = before < OWN_SHARDS ? before : OWN_SHARDS + before % SHARED_SHARDS;

	/* stored in this order, since a signal handler of this thread may run this code too */
	own.slots = &calls.slots[shard * HOOKS];
	atomic_signal_fence(memory_order_seq_cst);
	own.alone = before < OWN_SHARDS;
}

/* The function's row, made at its first call in this shard; NULL if no row can be made now. */
static struct spool_call *find_row(slot *at, enum hook_id id)
{
	struct spool_call *row;

	if (record_inside() || !record_continue())
		return NULL; /* inside an update, or no spool: early_counts gets the call */
	SIGNALS_DEFERRED();
	if (record_held())
		return NULL;
	record_lock();
	row = atomic_load_explicit(at, memory_order_relaxed);
	if (!row && record_on()) {
		row = make_row(id);
		record_spool()->header->tick_ns = tsc_tick_ns();
		atomic_store_explicit(at, row, memory_order_release);
	}
	record_unlock();
	return row;
}

static void note_shared(struct spool_call *row, uint64_t ticks, int status)
{
	add_relaxed(&row->calls, 1);
	if (status)
		add_relaxed(&row->failed, 1);
	add_relaxed(&row->ticks, ticks);
	raise_max(&row->max, ticks);
}

static __attribute__((noinline)) void note_elsewhere(slot *at, enum hook_id id, uint64_t ticks,
						     int status)
{
	struct spool_call *row = atomic_load_explicit(at, memory_order_acquire);

	if (!row)
		row = find_row(at, id);
	note_shared(row ? row : &early_counts[id], ticks, status);
}

HOT_CODE void calls_note(enum hook_id id, uint64_t begin, int status)
{
	uint64_t ticks = now() - begin;
	struct spool_call *row;

	if (__builtin_expect(!own.slots, 0))
		take_shard();
	row = atomic_load_explicit(&own.slots[id], memory_order_acquire);
	if (__builtin_expect(!row || !own.alone, 0)) {
		note_elsewhere(&own.slots[id], id, ticks, status);
		return;
	}
	add_alone(&row->calls, 1);
	if (__builtin_expect(status, 0))
		add_alone(&row->failed, 1);
	add_alone(&row->ticks, ticks);
	raise_max(&row->max, ticks);
}

void calls_clear(void)
{
	memset(early_counts, 0, sizeof(early_counts));
	if (calls.slots)
		memset(calls.slots, 0, sizeof(slot) * SHARDS * HOOKS);
}

/* --- the time that recording events costs --- */

enum {
	MOST_NS = 1 << 16, /* longer times are ignored: the kernel ran another thread meanwhile */
	READINGS = 16,     /* ask_clock() measures this often, and uses the shortest time */
};

HOT_THREAD _Thread_local uint32_t overhead_past;

static _Thread_local struct {
	uint64_t since, ns;
} watch;

/* ns that reading the clock adds to each measured time */
static _Atomic uint32_t clock_ns;

static void ask_clock(void)
{
	uint64_t least = MOST_NS;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t begin = tsc_ns();
		uint64_t took = tsc_ns() - begin;

		if (took < least)
			least = took;
	}
	atomic_store_explicit(&clock_ns, (uint32_t)least, memory_order_relaxed);
}

void overhead_start(bool first)
{
	overhead_past = COST_EVERY;
	if (first) {
		watch.ns = 0;
		if (!atomic_load_explicit(&clock_ns, memory_order_relaxed))
			ask_clock();
	}
	watch.since = tsc_ns();
}

void overhead_stop(enum spool_cost_kind kind, bool last, bool event)
{
	uint64_t took = tsc_ns() - watch.since;
	uint32_t clock = atomic_load_explicit(&clock_ns, memory_order_relaxed);

	watch.ns += took > clock ? took - clock : 0;
	if (!last)
		return;
	overhead_past = 0;
	if (!event || watch.ns >= MOST_NS)
		return;
	record_lock_only();
	/* With an error set, the recording has ended and its document may be being written. */
	if (atomic_load(&record_process.open) && !recorder.ledger.error) {
		struct spool_cost *cost = &recorder.spool.header->costs[kind];

		cost->ns += watch.ns;
		cost->events++;
	}
	record_unlock();
}
