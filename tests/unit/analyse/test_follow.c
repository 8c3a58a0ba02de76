/* Following a spool from outside while another process writes it, and when that is killed. */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>

#include "analyse/input/error.h"
#include "analyse/live/follow.h"
#include "check.h"
#include "ledger/timeline.h"
#include "spool/txn.h"
#include "unit/chance.h"
#include "unit/recorder.h"

enum { PLENTY = 1 << 22, FEW = 2000, DEVICES = 16, LOOKS = 200, KILLS = 40, MANY = 20000 };

static char directory[] = "/tmp/memtrace-follow-XXXXXX";
static const char path[] = "t.spool";
static struct recorder recorder;
static struct follow follow;

static void enter_directory(void)
{
	OK(mkdtemp(directory));
	EQ(chdir(directory), 0);
}

static void leave_directory(void)
{
	unlink(path);
	EQ(chdir("/"), 0);
	EQ(rmdir(directory), 0);
}

/* So many that no copy of them is quick enough for a writer that never pauses. */
static void add_stacks(unsigned count)
{
	char name[32];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "stack %u", i);
		intern_pseudo_stack(&recorder.intern, name, 0, SPACE_DEVICE);
	}
}

/* A child that records: `pause` ns after every few steps, 0 never. */
static pid_t start_writer(uint64_t max_events, long pause, unsigned stacks)
{
	int ready[2];
	char byte;
	pid_t child;

	EQ(pipe(ready), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would outlive a test that fails */
		if (recorder_open(&recorder, path, max_events, stacks))
			_exit(1);
		add_stacks(stacks);
		for (unsigned i = 0;; i++) {
			struct timespec wait = { 0, pause };

			recorder_step(&recorder);
			if (i == 100 && write(ready[1], "y", 1) != 1)
				_exit(1);
			if (pause && i % 20 == 0)
				nanosleep(&wait, NULL);
		}
	}
	close(ready[1]);
	EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void end_writer(pid_t child)
{
	kill(child, SIGKILL);
	EQ(waitpid(child, NULL, 0), child);
}

/* All that is booked under stacks makes up the sums: only of a look that was not torn. */
static void expect_cells_make_sums(const struct spool *spool)
{
	uint64_t sums = spool_count(spool, SPOOL_SCOPE) * METRICS;
	uint64_t *live = calloc(sums + 1, sizeof(*live));

	OK(live);
	for (uint64_t i = 0; i < spool_count(spool, SPOOL_CELL); i++) {
		const struct spool_cell *cell = spool_at(spool, SPOOL_CELL, i);

		OK(cell->sum < sums);
		live[cell->sum] += cell->live;
	}
	for (uint64_t i = 0; i < sums; i++) {
		const struct spool_scope *scope = totals_scope(spool, (uint32_t)(i / METRICS));

		if (i % METRICS != METRIC_USED)
			EQ(live[i], scope->sums[i % METRICS].now);
	}
	free(live);
}

struct replay { /* events, as they are read on from look to look */
	uint64_t next, end;
	uint64_t allocated[DEVICES], reserved[DEVICES];
	bool hole;
	bool blurred; /* the look before was: more may have come than is read at once */
};

static void replay_event(void *context, const struct event *event)
{
	struct replay *replay = context;

	if (event->seq >= replay->end)
		return;
	replay->hole |= event->seq != replay->next && event->seq + 1 != replay->next;
	replay->next = event->seq + 1;
	if (event->device >= 0 && event->device < DEVICES && event_is_memory(event->op)) {
		replay->allocated[event->device] = event->allocated;
		replay->reserved[event->device] = event->reserved;
	}
}

/*
 * Are the sums those behind the very event that the header counts as the last? That one can have
 * been written anew between the look and the reading of events.
 */
static bool sums_are_of_one_moment(struct replay *replay)
{
	const struct spool *spool = &follow.spool;

	replay->end = spool->header->seq;
	/* The last one of the look before, too: it may have been written anew (ledger_retag). */
	follow_events(&follow, replay->next - !!replay->next, FOLLOW_CHUNKS, replay_event, replay);
	if (replay->hole && replay->blurred) {
		replay->hole = replay->blurred = false;
		return true;
	}
	replay->blurred = false;
	OK(!replay->hole);
	EQ(replay->next, replay->end);
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(spool, i);

		if (scope->kind != SCOPE_DEVICE)
			continue;
		if (scope->sums[METRIC_ALLOCATED].now != replay->allocated[scope->device] ||
		    scope->sums[METRIC_RESERVED].now != replay->reserved[scope->device])
			return false;
	}
	return true;
}

static void follow_a_writer(long pause, unsigned stacks, unsigned *torn)
{
	struct replay replay = { .next = 0 };
	unsigned wrong = 0;
	uint64_t first;
	pid_t child;

	enter_directory();
	child = start_writer(PLENTY, pause, stacks);
	EQ(follow_open(&follow, path), 0);
	first = follow.spool.header->seq;
	for (unsigned i = 0; i < LOOKS; i++) {
		struct timespec wait = { 0, 500000 };

		EQ(follow_look(&follow), 0);
		*torn += follow.torn;
		if (!follow.torn)
			expect_cells_make_sums(&follow.spool);
		if (follow.blurred)
			replay.blurred = true;
		else
			wrong = sums_are_of_one_moment(&replay) ? 0 : wrong + 1;
		OK(wrong < 4);
		nanosleep(&wait, NULL);
	}
	/* Without optimisation a writer that never pauses is hardly ever between two events. */
	OK(replay.next > first || follow.blurred);
	end_writer(child);
	follow_close(&follow);
	leave_directory();
}

TEST(a_look_at_a_writer_that_pauses_is_whole)
{
	unsigned torn = 0;

	follow_a_writer(2000000, 8, &torn);
	printf("# %u of %d looks were torn\n", torn, LOOKS);
	OK(torn < LOOKS);
}

TEST(sums_are_of_one_moment_though_the_writer_never_pauses)
{
	unsigned torn = 0;

	follow_a_writer(0, MANY, &torn);
	printf("# %u of %d looks were torn\n", torn, LOOKS);
}

/* Of a writer's spool: everything of one moment, or by how much not. Gives how many were not. */
static unsigned open_a_writers(uint64_t max_events, long pause, unsigned times)
{
	unsigned torn = 0;
	pid_t child;

	enter_directory();
	child = start_writer(max_events, pause, 8);
	for (unsigned i = 0; i < times; i++) {
		struct timespec wait = { 0, 3000000 };
		struct spool opened;

		EQ(recorder_read(&opened, path), 0);
		torn += opened.torn;
		EQ(opened.torn, opened.torn_events > 0);
		timeline_settle(&opened);
		if (!opened.torn)
			STR(recorder_complaint(&opened), NULL);
		spool_close(&opened);
		nanosleep(&wait, NULL);
	}
	end_writer(child);
	leave_directory();
	return torn;
}

TEST(a_spool_that_is_written_to_is_opened_as_it_was_at_one_moment)
{
	unsigned torn = open_a_writers(PLENTY, 1000000, 30);

	printf("# %u of 30 were torn\n", torn);
	OK(torn < 30);
}

TEST(also_one_whose_events_are_a_ring)
{
	unsigned torn = open_a_writers(FEW, 1000000, 10);

	printf("# %u of 10 were torn\n", torn);
	OK(torn < 10);
}

TEST(a_writer_that_never_pauses_is_told_by_how_much_it_went_on)
{
	printf("# %u of 1 was torn\n", open_a_writers(FEW, 0, 1));
}

/* The same rows that reading the file at once gives. */
static void expect_as_opened(enum spool_kind kind, const struct spool *opened)
{
	uint64_t count = spool_count(opened, kind);

	EQ(spool_count(&follow.spool, kind), count);
	for (uint64_t i = 0; i < count; i++)
		MEM(spool_at(&follow.spool, kind, i), spool_at(opened, kind, i),
		    (size_t)1 << spool_shift[kind]);
}

static void expect_sums_as_opened(const struct spool *opened)
{
	EQ(spool_count(&follow.spool, SPOOL_SCOPE), spool_count(opened, SPOOL_SCOPE));
	for (uint64_t i = 0; i < spool_count(opened, SPOOL_SCOPE); i++) {
		struct spool_scope wanted = *totals_scope(opened, (uint32_t)i);
		struct spool_scope is = *totals_scope(&follow.spool, (uint32_t)i);

		/* Points are made behind the update, and nobody follows them. */
		is.curve_state = wanted.curve_state;
		MEM(&is, &wanted, sizeof(is));
	}
}

static bool a_free_waits(const struct spool_backlog *backlog)
{
	for (uint64_t i = backlog->booked; i < backlog->put; i++) {
		if (backlog->waiting[i % SPOOL_WAITING].size < 0)
			return true;
	}
	return false;
}

/* Its process ended, or was looked at, between the last word of that update and its end. */
TEST(what_an_unfinished_update_has_booked_waits_again)
{
	struct spool *spool = &recorder.spool;
	struct spool opened;

	enter_directory();
	EQ(recorder_open(&recorder, path, PLENTY, 3), 0);
	for (unsigned i = 0; i < 20; i++) {
		struct spool_backlog *backlog = &spool->header->backlog;

		do
			recorder_step(&recorder);
		while (!a_free_waits(backlog));
		txn_begin(spool);
		txn_set64(spool, &backlog->booked, backlog->put);
		EQ(follow_open(&follow, path), 0);
		OK(!follow.torn);
		EQ(recorder_read(&opened, path), 0);
		EQ(opened.caught_n, follow.spool.caught_n);
		OK(opened.caught_n);
		expect_sums_as_opened(&opened);
		expect_as_opened(SPOOL_STACK, &opened);
		expect_as_opened(SPOOL_CELL, &opened);
		spool_close(&opened);
		follow_close(&follow);
		txn_cancel(spool);
	}
	recorder_close(&recorder);
	leave_directory();
}

TEST(killed_at_any_moment_while_followed)
{
	uint64_t chance = 11;
	unsigned rolled_back = 0;

	enter_directory();
	for (unsigned i = 0; i < KILLS; i++) {
		struct timespec wait = { 0, (long)chance_below(&chance, 2000000) };
		pid_t child = start_writer(PLENTY, 0, i);
		struct spool opened;

		EQ(follow_open(&follow, path), 0);
		nanosleep(&wait, NULL);
		end_writer(child);
		EQ(follow_look(&follow), 0);
		OK(!follow.torn);
		EQ(recorder_read(&opened, path), 0);
		rolled_back += opened.cut;
		EQ(follow.spool.header->seq, opened.header->seq);
		expect_as_opened(SPOOL_TEXT, &opened);
		expect_sums_as_opened(&opened);
		expect_as_opened(SPOOL_STACK, &opened);
		expect_as_opened(SPOOL_CELL, &opened);
		expect_as_opened(SPOOL_STEP, &opened);
		/* Nothing happens any more: the same once more. */
		EQ(follow_look(&follow), 0);
		expect_sums_as_opened(&opened);
		expect_cells_make_sums(&follow.spool);
		spool_close(&opened);
		follow_close(&follow);
		unlink(path);
	}
	printf("# %u of %d were killed inside a transaction\n", rolled_back, KILLS);
	leave_directory();
}

static void count_in_order(void *context, const struct event *event)
{
	uint64_t *next = context;

	OK(event->seq >= *next);
	*next = event->seq + 1;
}

/* The ring turns under the reader: what it gets is in order all the same. */
TEST(events_of_a_ring_come_in_order)
{
	uint64_t next = 0;
	uint64_t asked = 0;
	pid_t child;

	enter_directory();
	child = start_writer(FEW, 0, 3);
	EQ(follow_open(&follow, path), 0);
	while (next <= 10 * FEW) {
		EQ(follow_look(&follow), 0);
		asked = follow_events(&follow, asked, 4, count_in_order, &next);
		EQ(asked, next);
	}
	end_writer(child);
	follow_close(&follow);
	leave_directory();
}

static void write_word(off_t at, uint32_t word)
{
	int fd = open(path, O_WRONLY);

	EQ(pwrite(fd, &word, sizeof(word), at), sizeof(word));
	close(fd);
}

TEST(what_cannot_be_followed_is_refused_in_a_sentence)
{
	pid_t child;

	enter_directory();
	EQ(follow_open(&follow, "none.spool"), -ENOENT);
	STR(err_text(), "none.spool: No such file or directory");
	EQ(follow_open(&follow, directory), -EINVAL);
	OK(strstr(err_text(), "not a regular file"));
	child = start_writer(PLENTY, 0, 1);
	end_writer(child);
	EQ(follow_open(&follow, path), 0);
	write_word(offsetof(struct spool_header, version), SPOOL_VERSION + 1);
	EQ(follow_look(&follow), -EINVAL);
	OK(strstr(err_text(), "newer version of memtrace"));
	follow_close(&follow);
	EQ(follow_open(&follow, path), -EINVAL);
	OK(strstr(err_text(), "newer version of memtrace"));
	write_word(offsetof(struct spool_header, version), SPOOL_VERSION);
	EQ(follow_open(&follow, path), 0);
	EQ(truncate(path, (off_t)(follow.spool.header->blocks - 1) << SPOOL_BLOCK_SHIFT), 0);
	EQ(follow_look(&follow), -EINVAL);
	OK(strstr(err_text(), "truncated"));
	follow_close(&follow);
	EQ(truncate(path, 100), 0);
	EQ(follow_open(&follow, path), -EINVAL);
	OK(strstr(err_text(), "too short"));
	write_word(0, 0);
	leave_directory();
}
