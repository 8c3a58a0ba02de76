/*
 * A process killed at any instruction of any kind of update leaves a whole spool, in which nothing
 * that was done before is missing.
 *
 * One process does the update, an instruction at a time; after every few of them another reads what
 * SIGKILL would leave there. STEPS=1 looks after each instruction (check-all), 0 not at all, else
 * so many of them lie between two looks. Without STEPS a long update is followed at its beginning.
 */
#define CHECK_SECONDS 3600
#include "check.h"

#include <sys/mman.h>

#include "analyse/input/error.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "ledger/vmm.h"
#include "unit/recorder.h"
#include "unit/stepping.h"

enum { MIB2 = 1 << 21, MOST_STEPS = 4000000 };
enum { EVERY = 97, LONG = 10000 }; /* an update that long repeats what it does */

static const uint64_t HOME = 0x600000000000u;  /* where these tests allocate */
static const uint64_t RANGE = 0x7e0000000000u; /* and map */

static char path[] = "/tmp/memtrace-steps-XXXXXX";
static struct recorder r;

struct kind {
	const char *name;
	void (*before)(void); /* not looked at, may be NULL */
	void (*act)(void);
	uint64_t max_events;
};

static struct event new_event(enum event_op op, uint64_t ptr, uint64_t size)
{
	return (struct event){
		.op = (uint8_t)op,
		.t = r.t += 700,
		.ptr = ptr,
		.size = size,
		.stack = r.stacks[2],
		.thread = 4242,
		.api = r.api,
		.sampled = true, /* more words to keep in step */
	};
}

static void born(enum event_op op, enum node_kind kind, uint32_t pool, uint64_t ptr, uint64_t size)
{
	struct event event = new_event(op, ptr, size);

	event.pool = pool;
	ledger_enter(&r.ledger, &event, kind, kind == NODE_BLOCK ? 0 : r.owners[1], 0);
}

static void died(enum node_kind kind, uint32_t pool, uint64_t ptr)
{
	struct event event = new_event(EVENT_FREE, ptr, 0);

	event.pool = pool;
	ledger_leave(&r.ledger, &event, kind, NULL);
}

/* --- what is done --- */

static void alloc(void)
{
	born(EVENT_ALLOC, NODE_ADDRESS, 0, HOME, 4096);
}

static void alloc_again(void)
{
	born(EVENT_ALLOC, NODE_ADDRESS, 0, HOME, 8192);
}

static void free_it(void)
{
	died(NODE_ADDRESS, 0, HOME);
}

static void failing_free(void)
{
	struct event event = new_event(EVENT_FREE, HOME, 0);
	struct spool_node was;

	if (ledger_leave(&r.ledger, &event, NODE_ADDRESS, &was)) {
		event.t = r.t += 10;
		ledger_undo(&r.ledger, &event, &was);
	}
}

static void reserve(void)
{
	born(EVENT_RESERVE, NODE_ADDRESS, r.pools[1], HOME, 20 * MIB2);
}

static void release(void)
{
	died(NODE_ADDRESS, r.pools[1], HOME);
}

static void block(void)
{
	born(EVENT_ALLOC, NODE_BLOCK, r.pools[1], HOME + 512, 512);
}

static void free_block(void)
{
	died(NODE_BLOCK, r.pools[1], HOME + 512);
}

static void retag_to(uint32_t pool)
{
	struct event like = new_event(EVENT_ALLOC, HOME, 0);

	ledger_retag(&r.ledger, live_find(&r.spool, NODE_ADDRESS, 0, HOME), pool, &like);
}

static void retag(void)
{
	retag_to(r.pools[1]);
}

static void untag(void)
{
	retag_to(0);
}

/* No longer the last event of all, so that two more have to correct it. */
static void alloc_and_more(void)
{
	alloc();
	block();
}

static void reserve_and_more(void)
{
	reserve();
	block();
}

static void grow_pool(void)
{
	struct event like = new_event(EVENT_RESERVE, 0, 0);

	like.pool = r.pools[2];
	ledger_adjust(&r.ledger, &like, METRIC_RESERVED, 3 * MIB2, r.stacks[0]);
}

static void shrink_pool(void)
{
	struct event like = new_event(EVENT_RELEASE, 0, 0);

	like.pool = r.pools[2];
	ledger_adjust(&r.ledger, &like, METRIC_RESERVED, -2 * MIB2, r.stacks[0]);
}

static void some_blocks(void)
{
	for (unsigned i = 0; i < 12; i++)
		born(EVENT_ALLOC, NODE_BLOCK, r.pools[2], HOME + i * 512, 512);
}

static void empty_pool(void)
{
	struct event like = new_event(EVENT_FREE, 0, 0);

	ledger_empty_pool(&r.ledger, r.pools[2], &like);
}

static void out_of_memory(void)
{
	struct event event = new_event(EVENT_OOM, 0, 1ull << 40);
	struct spool_oom known = { .refused = 1ull << 40, .left = 1 << 20, .total = 1 << 30 };

	event.pool = r.pools[1];
	ledger_oom(&r.ledger, &event, &known);
	ledger_retry(&r.ledger, 0);
}

static void marks(void)
{
	struct event event = new_event(EVENT_MARK, 0, 0);

	event.name = intern_text(&r.intern, "a mark that nobody has made before");
	event.device = NO_DEVICE;
	ledger_note(&r.ledger, &event);
	used_enter(&r.ledger, &(struct spool_used){ .t = r.t, .used = 3ull << 30 }, 0, false);
}

/* A device, a pool, an owner and a space that are new: their scopes and their curves. */
static void first_of_all(void)
{
	struct event event = new_event(EVENT_ALLOC, HOME, 4096);

	event.device = 7;
	event.space = SPACE_ARRAY;
	ledger_enter(&r.ledger, &event, NODE_ARRAY, intern_text(&r.intern, "libcufft.so.11"), 0);
	event = new_event(EVENT_ALLOC, HOME, 512);
	event.device = 7;
	event.pool = intern_text(&r.intern, "a new pool");
	ledger_enter(&r.ledger, &event, NODE_BLOCK, 0, 0);
}

/* --- virtual memory --- */

static void create(void)
{
	born(EVENT_ALLOC, NODE_HANDLE, 0, 0x77, 4 * MIB2);
}

static void map(void)
{
	struct event event = new_event(EVENT_MAP, RANGE, 4 * MIB2);

	vmm_map(&r.ledger, &event, 0x77);
}

static void unmap(void)
{
	struct event event = new_event(EVENT_UNMAP, RANGE, 4 * MIB2);

	vmm_unmap(&r.ledger, &event);
}

static void let_go(void)
{
	struct event event = new_event(EVENT_FREE, 0x77, 0);
	struct spool_node was;

	vmm_release(&r.ledger, NODE_HANDLE, &event, &was);
}

static void failing_release(void)
{
	struct event event = new_event(EVENT_FREE, 0x77, 0);
	struct spool_node was;

	if (!vmm_release(&r.ledger, NODE_HANDLE, &event, &was))
		return;
	event.t = r.t += 10;
	vmm_unrelease(&r.ledger, &event, &was);
}

static void retain(void)
{
	vmm_retain(&r.ledger, NODE_HANDLE, 0x77);
}

static void create_and_map(void)
{
	create();
	map();
}

static void create_map_release(void)
{
	create_and_map();
	let_go();
}

/* Of two handles the second is mapped over the first, whose last mapping that was. */
static void two_handles(void)
{
	create_map_release();
	born(EVENT_ALLOC, NODE_HANDLE, 0, 0x78, 4 * MIB2);
}

static void map_over(void)
{
	struct event event = new_event(EVENT_MAP, RANGE, 4 * MIB2);

	vmm_map(&r.ledger, &event, 0x78);
}

/* --- tables --- */

static void fill_buckets(void)
{
	uint64_t buckets = r.spool.header->live.buckets;

	for (uint64_t i = 1; r.spool.header->live.count < buckets; i++)
		born(EVENT_ALLOC, NODE_ADDRESS, 0, HOME + i * 4096, 4096);
}

/* The next element of the table needs a block, and that the file grows. */
static void fill_table(enum spool_kind kind)
{
	while (r.spool.header->blocks < r.spool.file_blocks)
		OK(!spool_need(&r.spool, SPOOL_CURVE,
			       r.spool.used[SPOOL_CURVE] * spool_per_block(SPOOL_CURVE)));
	while (spool_count(&r.spool, kind) < r.spool.used[kind] * spool_per_block(kind))
		intern_thread(&r.intern, 5, "a thread", 5);
}

static void fill_threads(void)
{
	fill_table(SPOOL_THREAD);
}

static void interning(void)
{
	struct intern_steps steps = { .native = 1, .python = 1, .owner = r.owners[1] };
	struct spool_module module = { .base = 0x7f1000000000, .low = 1, .high = 2 };
	struct spool_frame frame = { .language = FRAME_NATIVE, .offset = 0x777 };
	uint32_t frames[2];

	module.path = intern_text(&r.intern, "/usr/lib/libnew.so");
	frame.module = intern_module(&r.intern, &module);
	frames[0] = intern_frame(&r.intern, &frame);
	frame = (struct spool_frame){ .language = FRAME_PYTHON, .line = 17 };
	frame.function = intern_text(&r.intern, "Net.forward_and_some_more_text_than_a_word");
	frame.file = intern_text(&r.intern, "/home/user/net.py");
	frames[1] = intern_frame(&r.intern, &frame);
	steps.frames = frames;
	intern_stack(&r.intern, (struct hash128){ 99, 98 }, &steps);
	intern_fact(&r.intern, "note", "a fact that became known late");
	intern_thread(&r.intern, 4711, "pt_autograd_0", 5);
}

/* The block of texts is nearly full: the next one begins another. */
static void fill_texts(void)
{
	char text[1024];

	for (unsigned i = 0; (spool_count(&r.spool, SPOOL_TEXT) & (SPOOL_BLOCK - 1)) < 130600;
	     i++) {
		snprintf(text, sizeof(text), "%0300u", i);
		intern_text(&r.intern, text);
	}
}

static void long_text(void)
{
	char text[2048];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	intern_fact(&r.intern, "note", text);
}

/* Far enough apart for a point of the curve each. */
static void fill_curve(void)
{
	for (unsigned i = 0; i < CURVE_POINTS + 10; i++) {
		r.t += 2000;
		if (i % 2)
			free_it();
		else
			alloc();
	}
}

static void fill_ring(void)
{
	for (unsigned i = 0; i < 200; i++) {
		alloc();
		free_it();
	}
}

static void pairs(void)
{
	for (unsigned i = 0; i < 6; i++) {
		alloc();
		free_it();
	}
}

static void pair(void)
{
	alloc();
	free_it();
}

static void resync(void)
{
	r.ledger.quiet = true;
	alloc();
	r.ledger.quiet = false;
	journal_resync(&r.ledger.journal);
	free_it();
}

/* --- blocks that wait --- */

enum { WAITS = 512 }; /* bytes: no address of theirs is a sample */

static uint64_t waiting_told;

static void wait_for(enum event_op op, unsigned number)
{
	struct event event = new_event(op, HOME + (3ull * number + 1) * WAITS, WAITS);
	struct pending_told told = { .reserved = ledger_pool_sum(&r.ledger, 0, r.pools[1],
								 METRIC_RESERVED) };

	r.t -= 699; /* or each would need a point of its own in the curves */
	event.t = r.t;
	event.sampled = false;
	event.pool = r.pools[1];
	event.stack = r.stacks[number % 3];
	waiting_told += op == EVENT_ALLOC ? WAITS : (uint64_t)-WAITS;
	told.allocated = waiting_told;
	if (pending_put(&r.ledger, &event, &told))
		return;
	if (op == EVENT_ALLOC)
		ledger_enter(&r.ledger, &event, NODE_BLOCK, 0, 0);
	else
		OK(ledger_leave(&r.ledger, &event, NODE_BLOCK, NULL));
}

/* A peak that leaves room below it, and a few that stay. */
static void make_headroom(void)
{
	pending_settle(&r.ledger);
	waiting_told = ledger_pool_sum(&r.ledger, 0, r.pools[1], METRIC_ALLOCATED);
	for (unsigned i = 0; i < 30; i++)
		wait_for(EVENT_ALLOC, i);
	for (unsigned i = 8; i < 30; i++)
		wait_for(EVENT_FREE, i);
	pending_settle(&r.ledger);
}

static void put_some(void)
{
	for (unsigned i = 30; i < 36; i++)
		wait_for(EVENT_ALLOC, i);
	for (unsigned i = 0; i < 4; i++) {
		wait_for(EVENT_FREE, i);
		wait_for(EVENT_FREE, 30 + i);
	}
	for (unsigned i = 40; i < 44; i++)
		wait_for(EVENT_ALLOC, i);
	OK(r.ledger.backlog.waiting > 10);
}

static void put_more_than_wait(void)
{
	for (unsigned i = 0; i < SPOOL_WAITING; i++) {
		wait_for(EVENT_ALLOC, 50);
		wait_for(EVENT_FREE, 50);
	}
}

static void settle(void)
{
	pending_settle(&r.ledger);
}

static void make_and_put(void)
{
	make_headroom();
	put_some();
}

static const struct kind kinds[] = {
	{ "blocks wait", make_headroom, put_some, 1000 },
	{ "what waits is booked", make_and_put, settle, 1000 },
	{ "more than may wait", make_headroom, put_more_than_wait, 1000 },
	{ "more than a ring has room for", make_headroom, put_more_than_wait, 60 },
	{ "alloc", NULL, alloc, 1000 },
	{ "free", alloc, free_it, 1000 },
	{ "an address given again", alloc, alloc_again, 1000 },
	{ "a free that fails", alloc, failing_free, 1000 },
	{ "reserve", NULL, reserve, 1000 },
	{ "release", reserve, release, 1000 },
	{ "a pool's block", NULL, block, 1000 },
	{ "a pool's block is freed", block, free_block, 1000 },
	{ "retag of the last event", alloc, retag, 1000 },
	{ "untag of the last event", reserve, untag, 1000 },
	{ "retag by two events", alloc_and_more, retag, 1000 },
	{ "untag by two events", reserve_and_more, untag, 1000 },
	{ "a pool grows", NULL, grow_pool, 1000 },
	{ "a pool shrinks", grow_pool, shrink_pool, 1000 },
	{ "a pool is emptied", some_blocks, empty_pool, 1000 },
	{ "out of memory", NULL, out_of_memory, 1000 },
	{ "marks and what is used", NULL, marks, 1000 },
	{ "new scopes", NULL, first_of_all, 1000 },
	{ "create", NULL, create, 1000 },
	{ "map", create, map, 1000 },
	{ "unmap", create_and_map, unmap, 1000 },
	{ "unmap that ends the memory", create_map_release, unmap, 1000 },
	{ "map over the last mapping", two_handles, map_over, 1000 },
	{ "release of a handle", create, let_go, 1000 },
	{ "release of a mapped handle", create_and_map, let_go, 1000 },
	{ "retain", create, retain, 1000 },
	{ "a release that fails", create_and_map, failing_release, 1000 },
	{ "a bucket is split", fill_buckets, alloc, 1000 },
	{ "a table and the file grow", fill_threads, interning, 1000 },
	{ "interning", NULL, interning, 1000 },
	{ "texts need a block", fill_texts, long_text, 1000 },
	{ "a curve is halved", fill_curve, pairs, 10000 },
	{ "the ring turns", fill_ring, pairs, 40 },
	{ "a ring of one", fill_ring, pair, 1 },
	{ "a retag in a ring of one", alloc_and_more, retag, 1 },
	{ "no events at all", NULL, pairs, 0 },
	{ "events stop and go on", NULL, resync, 1000 },
};

/* --- the two processes --- */

/* What the one that may be killed has done: written after, so that it cannot be missing. */
static struct account {
	_Atomic uint64_t events;
} * account;

__attribute__((noreturn)) static void do_it(const struct kind *kind)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || recorder_open(&r, path, kind->max_events, 7))
		_exit(1);
	recorder_choose(&r, 4096, false);
	for (unsigned i = 0; i < 25; i++)
		recorder_step(&r);
	if (kind->before)
		kind->before();
	account->events = r.spool.header->seq;
	raise(SIGSTOP);
	kind->act();
	account->events = r.spool.header->seq;
	raise(SIGSTOP);
	_exit(r.ledger.error != 0);
}

static void look(const struct kind *kind, unsigned long step)
{
	const char *complaint = NULL;
	struct spool spool;

	if (recorder_read(&spool, path)) {
		complaint = err_text();
	} else {
		timeline_settle(&spool);
		complaint = recorder_complaint(&spool);
		if (!complaint && spool.header->seq < account->events)
			complaint = "an event that was done is missing";
		if (!complaint && spool.torn)
			complaint = "torn, though nobody writes";
	}
	if (complaint)
		printf("# %s, instruction %lu: %s\n", kind->name, step, complaint);
	STR(complaint, NULL);
	spool_close(&spool);
}

/* `every`: 0 if nobody wished for one. The number of instructions; -1 when that cannot be done
 * here. */
static long run(const struct kind *kind, unsigned long every, unsigned *looks)
{
	unsigned long step = 0;
	pid_t child;
	int status;

	unlink(path);
	fflush(NULL);
	child = fork();
	if (!child)
		do_it(kind);
	EQ(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status))
		return -1;
	for (; step < MOST_STEPS; step++) {
		if (!stepping_next(child, &status))
			return -1;
		OK(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		if (step % (every ? every : EVERY) == 0) {
			look(kind, step);
			++*looks;
		}
		if (!every && step == LONG) {
			ptrace(PTRACE_CONT, child, NULL, NULL);
			EQ(waitpid(child, &status, 0), child);
			OK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
			break;
		}
	}
	OK(step < MOST_STEPS);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	EQ(waitpid(child, &status, 0), child);
	EQ(status, 0);
	look(kind, step);
	return (long)step;
}

TEST(whole_at_any_instruction_of_any_update)
{
	const char *wish = getenv("STEPS");
	unsigned long every = wish ? strtoul(wish, NULL, 10) : 0;
	int fd;

	if (wish && !every)
		SKIP("not asked for");
	fd = mkstemp(path);
	close(fd);
	account = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	OK(account != MAP_FAILED);
	stepping_begin();
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		unsigned looks = 0;
		long steps = run(&kinds[i], every, &looks);

		if (steps < 0)
			SKIP("no single steps here");
		printf("# %s: %ld instructions, %u looks\n", kinds[i].name, steps, looks);
		OK(steps > 100 && looks);
	}
	unlink(path);
}
