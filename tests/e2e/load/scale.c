/*
 * What an event costs as everything becomes much: events, distinct stacks, live blocks, threads.
 *
 * scale events|stacks|live MOST [wait]: PyTorch's own reports of blocks. A line at each power of
 * ten, "COUNT NEW KNOWN KIB": CPU ns of an event that made the count what it is since the line
 * before, then of one that adds nothing, and the resident size. With "wait" it stays until its
 * input ends.
 *
 * scale forever N: N million events without end, a line with the CPU ns of one each time.
 *
 * scale threads MOST: 1, 2, 4... threads of cudaMalloc and cudaFree, in turns recorded and not. A
 * line each, "THREADS ON OFF SWITCHES_ON SWITCHES_OFF": CPU ns of an event, context switches of a
 * thousand.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "memtrace/memtrace.h"

enum {
	BLOCK = 512,
	CUDA = 1,
	FEW = 1000,     /* live blocks where they are not what grows */
	KNOWN = 200000, /* events that add nothing, timed at each line */
	LEVELS = 24,    /* of calls: as many bits tell a stack */
	LEAST = 1000,   /* the first line */
	THREADS_MOST = 256,
	ROUNDS = 5,
};

typedef void report_fn(void *, int64_t, size_t, size_t, uint16_t);

static report_fn *report;
static char *segment;
static size_t reserved, held;

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		exit(2);
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void born(uint64_t i)
{
	held += BLOCK;
	report(segment + i * BLOCK, BLOCK, held, reserved, CUDA);
}

static void gone(uint64_t i)
{
	held -= BLOCK;
	report(segment + i * BLOCK, -BLOCK, held, reserved, CUDA);
}

static void both(uint64_t i)
{
	born(i);
	gone(i);
}

/* Two calls at each level: the bits of `which` choose, so each number is a stack of its own. */
__attribute__((noinline)) void down(uint64_t which, int level, void (*act)(uint64_t), uint64_t i);

void down(uint64_t which, int level, void (*act)(uint64_t), uint64_t i)
{
	if (!level) {
		act(i);
	} else if (which & 1) {
		down(which >> 1, level - 1, act, i);
		__asm__ volatile("nop"); /* or the compiler makes one of the two, or a jump */
	} else {
		down(which >> 1, level - 1, act, i);
		__asm__ volatile("nop; nop");
	}
}

struct growth {
	const char *name;
	uint64_t events;           /* that one more of it makes */
	void (*more)(uint64_t i);  /* makes the i-th */
	void (*again)(uint64_t i); /* the same with one that is there, so that there are no more */
};

static void turn(uint64_t i)
{
	gone(i % FEW);
	born(i % FEW);
}

static void stack(uint64_t i)
{
	down(i, LEVELS, both, FEW);
}

static void live(uint64_t i)
{
	born(FEW + i);
}

static void live_again(uint64_t i)
{
	gone(FEW + i);
	born(FEW + i);
}

static const struct growth growths[] = {
	{ "events", 2, turn, turn },
	{ "stacks", 2, stack, stack },
	{ "live", 1, live, live_again },
};

/*
 * The CPU ns of it, from..to, or of KNOWN / 2 before `to`, all over them. One place calls, with
 * nothing to decide in the loop: from a second one stacks would not be the same again.
 */
__attribute__((noinline)) static double timed(const struct growth *growth, uint64_t from,
					      uint64_t to, bool again)
{
	void (*act)(uint64_t) = again ? growth->again : growth->more;
	uint64_t times = again ? 0x9e3779b97f4a7c15u : 1;
	uint64_t below = again ? to : UINT64_MAX;
	uint64_t begin = again ? 0 : from;
	uint64_t end = again ? KNOWN / 2 : to;
	double start = cpu_ns();

	for (uint64_t i = begin; i < end; i++)
		act(i * times % below);
	return cpu_ns() - start;
}

static void grow(const struct growth *growth, uint64_t most)
{
	volatile int both_ways = 2; /* not unrolled: that were two places that call */
	uint64_t count = 0;

	for (uint64_t next = LEAST; next <= most; next *= 10) {
		uint64_t from = count;
		double took[2];

		count = next / growth->events;
		for (int again = 0; again < both_ways; again++)
			took[again] = timed(growth, from, count, again);
		printf("%llu %.1f %.1f %ld\n", (unsigned long long)(count * growth->events),
		       took[0] / (double)((count - from) * growth->events), took[1] / KNOWN,
		       resident_kib());
		fflush(stdout);
	}
}

static void *pairs(void *count)
{
	for (long i = *(long *)count; i > 0; i--) {
		void *p = NULL;

		if (cudaMalloc(&p, BLOCK) || cudaFree(p))
			exit(1);
	}
	return NULL;
}

static long switches(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_nvcsw + use.ru_nivcsw;
}

/* One round: what it added to the sums of CPU ns and of context switches. */
static void round_of(unsigned threads, long each, double sums[2])
{
	pthread_t ids[THREADS_MOST];
	double begin = cpu_ns();
	long before = switches();

	for (unsigned i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, pairs, &each))
			exit(2);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	sums[0] += cpu_ns() - begin;
	sums[1] += (double)(switches() - before);
}

static void threads(unsigned most)
{
	enum { PAIRS = 200000 };

	for (unsigned n = 1; n <= most && n <= THREADS_MOST; n *= 2) {
		double sums[2][2] = { { 0 } };
		double events = 2.0 * ROUNDS * (double)(PAIRS / n * n);

		for (int i = 0; i < 2 * ROUNDS; i++) {
			memtrace_enable(i % 2);
			round_of(n, PAIRS / n, sums[i % 2]);
		}
		memtrace_enable(1);
		printf("%u %.1f %.1f %.3f %.3f\n", n, sums[1][0] / events, sums[0][0] / events,
		       sums[1][1] / events * 1e3, sums[0][1] / events * 1e3);
		fflush(stdout);
	}
}

static void forever(uint64_t millions)
{
	uint64_t pairs_each = millions * 500000;

	for (;;) {
		double start = cpu_ns();

		for (uint64_t i = 0; i < pairs_each; i++)
			turn(i);
		printf("%.2f\n", (cpu_ns() - start) / (2.0 * (double)pairs_each));
		if (fflush(stdout))
			exit(0);
	}
}

/* How the segment comes to be: large enough for all that will live in it. */
static int start(uint64_t most)
{
	*(void **)&report =
		dlsym(RTLD_DEFAULT, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
	reserved = (size_t)(most + 2ull * FEW) * BLOCK;
	if (!report || cudaMalloc((void **)&segment, reserved))
		return 2;
	for (uint64_t i = 0; i < FEW; i++)
		born(i);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (!most)
		return 2;
	if (!strcmp(argv[1], "threads")) {
		threads((unsigned)most);
		return 0;
	}
	if (!strcmp(argv[1], "forever") && !start(0))
		forever(most);
	for (size_t i = 0; i < sizeof(growths) / sizeof(growths[0]); i++) {
		if (strcmp(argv[1], growths[i].name))
			continue;
		if (start(i == 2 ? most : 0))
			return 2;
		grow(&growths[i], most);
		while (argc > 3 && getchar() != EOF)
			;
		return 0;
	}
	return 2;
}
