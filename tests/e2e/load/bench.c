/*
 * What an event costs: added CPU time, on and off in turns within one process.
 *
 * bench driver|block DEPTH PAIRS ROUNDS: cudaMalloc/cudaFree pairs, or PyTorch's own report of a
 * block as libc10_cuda makes it, from DEPTH frames down. Prints medians over the rounds in ns per
 * event, and a line "ON OFF" of each round; without the library both are the plain cost.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memtrace/memtrace.h"

enum { ROUNDS_MOST = 101, BLOCK = 4096 };

typedef void report_fn(void *, int64_t, size_t, size_t, uint16_t);

static report_fn *report;
static char *segment;

static double tsc_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void driver_pairs(long pairs)
{
	for (long i = 0; i < pairs; i++) {
		void *p = NULL;

		if (cudaMalloc(&p, BLOCK) || cudaFree(p))
			exit(1);
	}
}

/* Eight blocks live at any time, as totals say. */
static void block_pairs(long pairs)
{
	enum { LIVE = 8, CUDA = 1 };

	if (!report)
		return;
	for (long i = 0; i < LIVE; i++)
		report(segment + i * BLOCK, BLOCK, (size_t)(i + 1) * BLOCK, 2 << 20, CUDA);
	for (long i = 0; i < pairs; i++) {
		char *p = segment + i % LIVE * BLOCK;

		report(p, -BLOCK, (LIVE - 1) * BLOCK, 2 << 20, CUDA);
		report(p, BLOCK, LIVE * BLOCK, 2 << 20, CUDA);
	}
	for (long i = LIVE; i--;)
		report(segment + i * BLOCK, -BLOCK, (size_t)i * BLOCK, 2 << 20, CUDA);
}

static __attribute__((noinline)) double deep(int depth, void (*pairs_of)(long), long pairs)
{
	volatile double took;

	if (depth > 0) {
		took = deep(depth - 1, pairs_of, pairs);
	} else {
		double start = tsc_ns();

		pairs_of(pairs);
		took = tsc_ns() - start;
	}
	return took;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	void (*pairs_of)(long) = argc > 1 && !strcmp(argv[1], "block") ? block_pairs : driver_pairs;
	int depth = argc > 2 ? atoi(argv[2]) : 30;
	long pairs = argc > 3 ? atol(argv[3]) : 20000;
	int rounds = argc > 4 ? atoi(argv[4]) : 15;
	double on[ROUNDS_MOST];
	double off[ROUNDS_MOST];

	*(void **)&report =
		dlsym(RTLD_DEFAULT, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
	if (rounds < 1 || rounds > ROUNDS_MOST || cudaMalloc((void **)&segment, 2 << 20))
		return 2;
	deep(depth, pairs_of, pairs / 10 + 1);
	for (int i = 0; i < rounds; i++) {
		memtrace_enable(0);
		off[i] = deep(depth, pairs_of, pairs) / (double)(2 * pairs);
		memtrace_enable(1);
		on[i] = deep(depth, pairs_of, pairs) / (double)(2 * pairs);
	}
	for (int i = 0; i < rounds; i++)
		printf("%.2f %.2f\n", on[i], off[i]);
	qsort(on, (size_t)rounds, sizeof(*on), ascending);
	qsort(off, (size_t)rounds, sizeof(*off), ascending);
	printf("on=%.1f off=%.1f added=%.1f\n", on[rounds / 2], off[rounds / 2],
	       on[rounds / 2] - off[rounds / 2]);
	return 0;
}
