/*
 * A long quiet job: soak SECONDS EVENTS THREADS spreads that many allocations and frees evenly over
 * the time, from several call sites, and says what is true of them at the end.
 *
 * Each thread keeps a window of blocks, so that frees are in another order than allocations. A
 * machine that is too slow for the pace takes longer; the figures are the same.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOW = 64, BURST = 1000, SITES = 8 };

#define LEAST ((size_t)1 << 10)

static struct {
	double seconds;
	long pairs; /* of each thread */
	pthread_barrier_t all_hold;
} job;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "soak: %s\n", cudaGetErrorString(error));
	exit(1);
}

/* Each depth is a call stack of its own. */
__attribute__((noinline)) static void *take(size_t size, unsigned depth)
{
	void *ptr = NULL;

	if (depth)
		ptr = take(size, depth - 1);
	else
		must(cudaMalloc(&ptr, size));
	__asm__ volatile("" ::: "memory");
	return ptr;
}

static void pause_until(double when)
{
	double left = when - now();
	struct timespec t = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };

	if (left > 0)
		nanosleep(&t, NULL);
}

static void *run(void *unused)
{
	void *window[WINDOW] = { NULL };
	double start = now();

	for (long i = 0; i < job.pairs; i++) {
		unsigned at = (unsigned)(i * 7 % WINDOW);

		if (window[at])
			must(cudaFree(window[at]));
		window[at] = take(LEAST << (i % 4), (unsigned)(i % SITES));
		if (i % BURST == 0)
			pause_until(start + job.seconds * (double)i / (double)job.pairs);
	}
	pause_until(start + job.seconds);
	for (unsigned at = 0; at < WINDOW; at++) {
		if (window[at])
			must(cudaFree(window[at]));
	}
	/* All at once: the peak, whatever the threads did before. */
	window[0] = take((size_t)1 << 20, 0);
	pthread_barrier_wait(&job.all_hold);
	must(cudaFree(window[0]));
	return unused;
}

int main(int argc, char **argv)
{
	enum { MOST = 64 };
	pthread_t threads[MOST];
	int count = argc > 3 ? atoi(argv[3]) : 2;

	if (argc < 3 || count < 1 || count > MOST) {
		fprintf(stderr, "usage: soak SECONDS EVENTS [THREADS]\n");
		return 2;
	}
	job.seconds = atof(argv[1]);
	job.pairs = atol(argv[2]) / 2 / count;
	pthread_barrier_init(&job.all_hold, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("allocations=%ld\npeak=%ld\n", (job.pairs + 1) * count, (long)count << 20);
	return 0;
}
