/*
 * Holds almost nothing, often: churn [pairs [threads]] takes and frees blocks of 512 B to 32 KiB.
 *
 * At the end every thread holds 64 KiB at once, so that the peak is the same in every run.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZE_LEAST ((size_t)512)
#define SIZES 7
#define HELD ((size_t)64 << 10)

static long pairs = 10000;
static pthread_barrier_t all_hold;

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "churn: %s\n", cudaGetErrorString(error));
	exit(1);
}

__attribute__((noinline)) void churn_blocks(long count);

void churn_blocks(long count)
{
	for (long i = 0; i < count; i++) {
		void *ptr = NULL;

		must(cudaMalloc(&ptr, SIZE_LEAST << (i % SIZES)));
		must(cudaFree(ptr));
	}
}

static void *run(void *unused)
{
	void *ptr = NULL;

	churn_blocks(pairs);
	must(cudaMalloc(&ptr, HELD));
	pthread_barrier_wait(&all_hold);
	must(cudaFree(ptr));
	return unused;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t *thread;
	double begin;

	if (argc > 1)
		pairs = atol(argv[1]);
	if (threads < 1 || pairs < 0) {
		fprintf(stderr, "usage: churn [pairs [threads]]\n");
		return 2;
	}
	thread = calloc((size_t)threads, sizeof(*thread));
	pthread_barrier_init(&all_hold, NULL, (unsigned int)threads);
	must(cudaFree(NULL)); /* the context is not what is timed */
	begin = now_ns();
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, run, NULL)) {
			fprintf(stderr, "churn: no more threads here\n");
			return 1;
		}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("ns_per_pair=%.0f\n", (now_ns() - begin) / (double)(pairs + 1));
	printf("allocations=%ld\nfrees=%ld\n", (pairs + 1) * threads, (pairs + 1) * threads);
	printf("peak=%zu\nlive=0\n", HELD * (size_t)threads);
	free(thread);
	return 0;
}
