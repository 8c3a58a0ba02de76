/* The spool file: who may make it, what may be read of it, and what is left when its writer dies.
 */
#define CHECK_SECONDS 200
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "analyse/input/error.h"
#include "analyse/spool/read.h"
#include "base/mem/arena.h"
#include "ledger/live.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "render/document/document.h"
#include "spool/txn.h"
#include "unit/chance.h"
#include "unit/recorder.h"
#include "unit/stepping.h"

enum { PLENTY = 1000000, KILLS = 200, MUTATIONS = 300 };

static char directory[] = "/tmp/memtrace-spool-XXXXXX";
static char path[4096];
static struct recorder recorder;

/* A name in a directory of this test's own. */
static const char *in_directory(const char *name)
{
	if (strstr(directory, "XXXXXX"))
		OK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void remove_all(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	OK(system(command) == 0);
}

/* A closed spool of so many random events at `path`. */
static void make_spool(unsigned steps, uint64_t seed)
{
	EQ(recorder_open(&recorder, path, PLENTY, seed), 0);
	for (unsigned i = 0; i < steps; i++)
		recorder_step(&recorder);
	EQ(recorder.ledger.error, 0);
	recorder_close(&recorder);
}

static void write_file(const char *name, const char *bytes, size_t length)
{
	int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	OK(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	close(fd);
}

/* --- making one --- */

TEST(create_refuses_what_is_there)
{
	struct spool spool;
	struct stat status;
	char target[4200];

	write_file("file", "x", 1);
	EQ(spool_create(&spool, path), -EEXIST);
	EQ(stat(path, &status), 0);
	EQ(status.st_size, 1);
	snprintf(target, sizeof(target), "%s.target", path);
	in_directory("link");
	EQ(symlink(target, path), 0); /* to nothing: creating must not follow it */
	EQ(spool_create(&spool, path), -EEXIST);
	EQ(access(target, F_OK), -1);
	in_directory("folder");
	EQ(mkdir(path, 0700), 0);
	EQ(spool_create(&spool, path), -EEXIST);
	EQ(spool_create(&spool, in_directory("no/such/folder")), -ENOENT);
	remove_all();
}

TEST(create_is_private_and_sparse_of_nothing)
{
	struct spool spool;
	struct stat status;

	umask(0);
	EQ(spool_create(&spool, in_directory("t.spool")), 0);
	EQ(stat(path, &status), 0);
	EQ(status.st_mode & 07777, 0600);
	/* Claimed before it is touched: a full disk cannot raise SIGBUS later. */
	OK((uint64_t)status.st_blocks * 512 >= (uint64_t)status.st_size);
	EQ(spool_unlink(&spool), 0);
	EQ(access(path, F_OK), -1);
	EQ(spool_unlink(&spool), -ESTALE);
	spool_close(&spool);
	remove_all();
}

TEST(a_name_too_long_is_refused)
{
	static char name[5000];
	struct spool spool;

	memset(name, 'x', sizeof(name) - 1);
	EQ(spool_create(&spool, name), -ENAMETOOLONG);
}

TEST(tables_grow_across_blocks)
{
	static uint64_t wanted[SPOOL_KINDS][4];
	struct spool spool;
	char opened[4096];

	EQ(spool_create(&spool, in_directory("t.spool")), 0);
	/* Interleaved, so that no table's blocks lie side by side. */
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned kind = SPOOL_CHUNK; kind < SPOOL_KINDS; kind++) {
			uint64_t index = round * spool_per_block(kind);
			uint64_t value = kind * 1000 + round;

			EQ(spool_need(&spool, kind, index), 0);
			memcpy(spool_at(&spool, kind, index + spool_per_block(kind) - 1), &value,
			       1);
			memcpy(spool_at(&spool, kind, index), &value, 1);
			wanted[kind][round] = value & 255;
			spool.header->count[kind] = index + spool_per_block(kind);
		}
	}
	snprintf(opened, sizeof(opened), "%s", path);
	spool_publish(&spool);
	spool_close(&spool);
	EQ(recorder_read(&spool, opened), 0);
	for (unsigned kind = SPOOL_CHUNK; kind < SPOOL_KINDS; kind++) {
		EQ(spool.used[kind], 4);
		EQ(spool_count(&spool, kind), 4 * spool_per_block(kind));
		for (unsigned round = 0; round < 4; round++)
			EQ(*(uint8_t *)spool_at(&spool, kind, round * spool_per_block(kind)),
			   wanted[kind][round]);
	}
	spool_close(&spool);
	remove_all();
}

TEST(a_file_that_was_moved_ends_growth)
{
	struct spool spool;
	char other[4200];
	int error = 0;

	EQ(spool_create(&spool, in_directory("t.spool")), 0);
	snprintf(other, sizeof(other), "%s.moved", path);
	EQ(rename(path, other), 0);
	write_file("t.spool", "another's", 9);
	for (uint64_t i = 0; !error; i++)
		error = spool_need(&spool, SPOOL_CHUNK, i);
	EQ(error, -ESTALE);
	EQ(spool_stop_reason(error), SPOOL_VANISHED);
	spool_close(&spool);
	remove_all();
}

/* --- reading one --- */

TEST(what_was_written_is_read)
{
	struct spool spool;

	in_directory("t.spool");
	make_spool(5000, 1);
	EQ(recorder_read(&spool, path), 0);
	STR(recorder_complaint(&spool), NULL);
	OK(!spool_writer_lives(&spool));
	spool_close(&spool);
	remove_all();
}

/* Each snapshot copies what came since the one before: chunks begun anew are among it. */
TEST(a_snapshot_goes_on_from_the_one_before)
{
	static struct spool copy;

	EQ(recorder_open(&recorder, in_directory("t.spool"), 20000, 9), 0);
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned step = 0; step < 1500; step++)
			recorder_step(&recorder);
		EQ(spool_snapshot(&copy, &recorder.spool), 0);
		EQ(copy.header->seq, recorder.spool.header->seq);
		pending_settle_left(&copy);
		STR(recorder_complaint(&copy), NULL);
		atomic_fetch_or(&recorder.spool.header->generation, 1);
		EQ(spool_snapshot(&copy, &recorder.spool), 1);
		atomic_fetch_and(&recorder.spool.header->generation, ~1ull);
	}
	OK(recorder.spool.header->dropped > 0);
	pages_free(copy.base, copy.reserved);
	recorder_close(&recorder);
	remove_all();
}

TEST(what_is_no_spool_is_refused)
{
	static char bytes[6 * SPOOL_BLOCK];
	struct spool_header *header = (struct spool_header *)bytes;
	struct spool spool;

	EQ(recorder_read(&spool, in_directory("none")), -ENOENT);
	OK(strstr(err_text(), "none"));
	OK(!spool.base);
	write_file("empty", "", 0);
	EQ(recorder_read(&spool, path), -EINVAL);
	OK(strstr(err_text(), "too short"));
	write_file("zeros", bytes, sizeof(bytes));
	EQ(recorder_read(&spool, path), -EINVAL);
	OK(strstr(err_text(), "nothing is recorded in this spool"));
	header->magic[0] = 'm';
	write_file("strange", bytes, sizeof(bytes));
	EQ(recorder_read(&spool, path), -EINVAL);
	OK(strstr(err_text(), "not a memtrace spool"));
	memcpy(header->magic, SPOOL_MAGIC, 8);
	header->version = SPOOL_VERSION + 1;
	write_file("newer", bytes, sizeof(bytes));
	EQ(recorder_read(&spool, path), -EINVAL);
	OK(strstr(err_text(), "newer version of memtrace"));
	header->version = SPOOL_VERSION;
	header->header_bytes = 12;
	write_file("other", bytes, sizeof(bytes));
	EQ(recorder_read(&spool, path), -EINVAL);
	header->header_bytes = sizeof(*header);
	write_file("least", bytes, sizeof(bytes));
	EQ(recorder_read(&spool, path), 0);
	spool_close(&spool);
	OK(recorder_read(&spool, directory) < 0);
	remove_all();
}

/* Opens whatever lies at the path and prints it; true if it was taken for a spool. */
static bool digest(const char *name)
{
	static int null = -1;
	struct spool spool;

	if (null < 0)
		null = open("/dev/null", O_WRONLY);
	if (recorder_read(&spool, name))
		return false;
	document_write(&spool, &(struct document_to){ .fd = null }, SYMBOLS_DEMANGLED,
		       TRACE_UNFINISHED, NULL);
	spool_close(&spool);
	return true;
}

TEST(every_truncation_is_digested)
{
	enum { STEP = 3 * 4096 };
	struct stat status;
	unsigned opened = 0;

	in_directory("t.spool");
	make_spool(15, 2);
	EQ(stat(path, &status), 0);
	for (off_t size = status.st_size; size >= 0; size -= STEP) {
		EQ(truncate(path, size), 0);
		opened += digest(path);
	}
	EQ(opened, (status.st_size - SPOOL_FIRST_BLOCK * SPOOL_BLOCK) / STEP + 1);
	remove_all();
}

struct image {
	char *bytes;
	size_t size;
	size_t places[64]; /* where something is */
	unsigned places_n;
};

static void read_image(struct image *image)
{
	struct spool spool;
	struct stat status;
	int fd = open(path, O_RDONLY);

	OK(fd >= 0 && !fstat(fd, &status));
	image->size = (size_t)status.st_size;
	image->bytes = malloc(image->size);
	OK(image->bytes && read(fd, image->bytes, image->size) == (ssize_t)image->size);
	close(fd);
	EQ(recorder_read(&spool, path), 0);
	image->places_n = 0;
	for (unsigned kind = SPOOL_CHUNK; kind < SPOOL_KINDS; kind++) {
		for (uint32_t i = 0; i < spool.used[kind] && image->places_n < 64; i++)
			image->places[image->places_n++] = (size_t)spool.blocks[kind][i]
							   << SPOOL_BLOCK_SHIFT;
	}
	spool_close(&spool);
}

static size_t interesting_place(const struct image *image, uint64_t *chance)
{
	switch (chance_below(chance, 6)) {
	case 0: /* the header up to the undo list, and a bit of that */
		return chance_below(chance, offsetof(struct spool_header, undo) + 256);
	case 1: /* counts */
		return offsetof(struct spool_header, count) +
		       chance_below(chance, sizeof(uint64_t) * SPOOL_KINDS);
	case 2: /* owners of the blocks in use */
		return SPOOL_OWNERS_AT + chance_below(chance, image->size >> SPOOL_BLOCK_SHIFT) * 4;
	default: /* the beginning of a table */
		return image->places[chance_below(chance, image->places_n)] +
		       (chance_next(chance) >> (44 + chance_below(chance, 16)));
	}
}

static uint64_t interesting_value(uint64_t *chance)
{
	switch (chance_below(chance, 5)) {
	case 0:
		return chance_next(chance);
	case 1:
		return UINT64_MAX - chance_below(chance, 32);
	case 2:
		return 1ull << chance_below(chance, 64);
	default:
		return chance_below(chance, 300);
	}
}

/* Garbage in the header, owners, counts, chains, texts: read or refused, never crashed on. */
TEST(mutations_are_digested)
{
	static const unsigned widths[] = { 1, 2, 4, 8 };
	struct image image;
	uint64_t chance = 3;
	unsigned opened = 0;
	int fd;

	in_directory("t.spool");
	make_spool(40, 3);
	read_image(&image);
	fd = open(path, O_RDWR);
	OK(fd >= 0);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		size_t places[8];
		uint64_t count = 1 + chance_below(&chance, 8);

		for (uint64_t k = 0; k < count; k++) {
			uint64_t value = interesting_value(&chance);

			places[k] = interesting_place(&image, &chance) % (image.size - 8);
			if (chance_one_in(&chance, 2))
				places[k] &= ~(size_t)7;
			OK(pwrite(fd, &value, widths[chance_below(&chance, 4)], (off_t)places[k]) >
			   0);
		}
		opened += digest(path);
		for (uint64_t k = 0; k < count; k++)
			OK(pwrite(fd, image.bytes + places[k], 8, (off_t)places[k]) == 8);
	}
	OK(opened > MUTATIONS / 2);
	OK(digest(path));
	close(fd);
	free(image.bytes);
	remove_all();
}

/* An undo list that points outside must not be followed. */
TEST(a_hostile_undo_list_writes_nowhere)
{
	static const uint64_t places[] = {
		UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 7, UINT64_MAX - 8, 1ull << 63, 1 << 24, 13,
		2
	};

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct spool_undo_word word = { places[i], 0x4242424242424242 };
		uint64_t one = 1;
		int fd;

		in_directory("t.spool");
		make_spool(50, 4);
		fd = open(path, O_RDWR);
		OK(pwrite(fd, &one, 8, offsetof(struct spool_header, generation)) == 8);
		OK(pwrite(fd, &one, 8, offsetof(struct spool_header, undo_count)) == 8);
		OK(pwrite(fd, &word, sizeof(word), offsetof(struct spool_header, undo)) ==
		   sizeof(word));
		close(fd);
		digest(path);
		unlink(path);
	}
	remove_all();
}

/* --- a writer that dies --- */

static void expect_whole(const char *when)
{
	struct spool spool;
	const char *complaint;

	EQ(recorder_read(&spool, path), 0);
	timeline_settle(&spool);
	complaint = recorder_complaint(&spool);
	if (complaint)
		printf("# %s: %s\n", when, complaint);
	STR(complaint, NULL);
	spool_close(&spool);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *record_for_ever(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&mutex);
		recorder_step(&recorder);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void write_until_killed(int ready, uint64_t seed)
{
	pthread_t thread;

	if (recorder_open(&recorder, path, PLENTY, seed))
		_exit(1);
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&thread, NULL, record_for_ever, NULL);
	if (write(ready, "y", 1) != 1)
		_exit(1);
	record_for_ever(NULL);
}

TEST(killed_at_any_moment)
{
	uint64_t chance = 5;
	unsigned rolled_back = 0;

	in_directory("t.spool");
	for (unsigned i = 0; i < KILLS; i++) {
		struct timespec wait = { 0, (long)chance_below(&chance, 3000000) };
		struct spool_header header;
		int ready[2];
		char byte;
		pid_t child;
		int fd;

		EQ(pipe(ready), 0);
		child = fork();
		if (!child)
			write_until_killed(ready[1], i);
		close(ready[1]);
		EQ(read(ready[0], &byte, 1), 1);
		nanosleep(&wait, NULL);
		kill(child, SIGKILL);
		EQ(waitpid(child, NULL, 0), child);
		close(ready[0]);
		fd = open(path, O_RDONLY);
		OK(pread(fd, &header, sizeof(header), 0) == sizeof(header));
		close(fd);
		rolled_back += header.generation & 1;
		expect_whole("killed");
		unlink(path);
	}
	printf("# %u of %d were killed inside a transaction\n", rolled_back, KILLS);
	OK(rolled_back > 0);
	remove_all();
}

/* A transaction of so many words of which `done` are written when the process ends. */
static void die_inside(unsigned done, unsigned words)
{
	struct spool_scope *scope;

	if (recorder_open(&recorder, path, PLENTY, 6))
		_exit(1);
	for (unsigned i = 0; i < 100; i++)
		recorder_step(&recorder);
	scope = totals_scope(&recorder.spool, 0);
	txn_begin(&recorder.spool);
	for (unsigned i = 0; i < done; i++) {
		switch (i % 3) {
		case 0:
			txn_set64(&recorder.spool, &scope->sums[0].now, i * 1000);
			break;
		case 1:
			txn_set32(&recorder.spool, &scope->name, i);
			break;
		default:
			txn_add64(&recorder.spool, &recorder.spool.header->seq, 7);
		}
	}
	if (done == words) {
		txn_commit(&recorder.spool);
		OK(txn_begin_over(&recorder.spool));
		txn_commit(&recorder.spool);
	}
	_exit(0);
}

TEST(a_transaction_cut_short_is_rolled_back)
{
	enum { WORDS = 60 };

	in_directory("t.spool");
	for (unsigned done = 0; done <= WORDS; done++) {
		pid_t child = fork();
		int status;

		if (!child)
			die_inside(done, WORDS);
		EQ(waitpid(child, &status, 0), child);
		EQ(status, 0);
		expect_whole("cut short");
		unlink(path);
	}
	remove_all();
}

/* Runs between two SIGSTOPs, one instruction at a time. */
static void step_slowly(unsigned before, unsigned steps)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || recorder_open(&recorder, path, PLENTY, 7))
		_exit(1);
	for (unsigned i = 0; i < before; i++)
		recorder_step(&recorder);
	raise(SIGSTOP);
	for (unsigned i = 0; i < steps; i++)
		recorder_step(&recorder);
	raise(SIGSTOP);
	_exit(0);
}

/*
 * What SIGKILL would leave, looked at between the instructions of real steps: whichever it is, the
 * file rolls back to a whole state.
 */
TEST(whole_between_any_two_instructions)
{
	enum { EVERY = 101, MOST = 20000 };
	pid_t child;
	int status;
	unsigned looks = 0;

	in_directory("t.spool");
	stepping_begin();
	child = fork();
	if (!child)
		step_slowly(300, 12);
	EQ(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status))
		SKIP("no ptrace here");
	for (unsigned i = 0; i < MOST; i++) {
		if (!stepping_next(child, &status))
			SKIP("no single steps here");
		if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGSTOP)
			break;
		if (i % EVERY == 0) {
			expect_whole("between instructions");
			looks++;
		}
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("# looked %u times\n", looks);
	OK(looks > 100);
	remove_all();
}

/* Read while it is written: a private copy that is whole, or that a retry made whole. */
TEST(a_copy_of_a_living_spool_is_whole)
{
	int ready[2];
	char byte;
	pid_t child;

	in_directory("t.spool");
	EQ(pipe(ready), 0);
	child = fork();
	if (!child) {
		if (recorder_open(&recorder, path, PLENTY, 8))
			_exit(1);
		if (write(ready[1], "y", 1) != 1)
			_exit(1);
		for (unsigned i = 0; i < 2000; i++) {
			struct timespec wait = { 0, 20000000 };

			for (unsigned k = 0; k < 20; k++)
				recorder_step(&recorder);
			nanosleep(&wait, NULL);
		}
		_exit(0);
	}
	EQ(read(ready[0], &byte, 1), 1);
	for (unsigned i = 0; i < 20; i++)
		expect_whole("while written");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	remove_all();
}
