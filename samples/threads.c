/*
 * Holds one block a thread when it ends: threads [threads [pairs]], default 8 and 2000.
 *
 * Threads free and are given the same addresses all the time, so who records a free after it
 * happened, or an allocation before, sees blocks that overlap. Each thread frees half of its
 * blocks itself and leaves the others to its neighbour.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK ((size_t)4096)
#define KEPT ((size_t)1 << 20)
#define THREADS_MAX 256

static struct {
	pthread_mutex_t lock;
	void *left; /* a block for the neighbour to free */
} mailbox[THREADS_MAX];

static int threads = 8;
static long pairs = 2000;

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "threads: %s\n", cudaGetErrorString(error));
	exit(1);
}

__attribute__((noinline)) void *take_block(void);
__attribute__((noinline)) void free_block(void *ptr);

void *take_block(void)
{
	void *ptr = NULL;

	must(cudaMalloc(&ptr, BLOCK));
	return ptr;
}

void free_block(void *ptr)
{
	must(cudaFree(ptr));
}

/* Puts a block there and takes out what was in it. */
static void *exchange(int at, void *ptr)
{
	void *before;

	pthread_mutex_lock(&mailbox[at].lock);
	before = mailbox[at].left;
	mailbox[at].left = ptr;
	pthread_mutex_unlock(&mailbox[at].lock);
	return before;
}

static void *run(void *argument)
{
	int self = (int)(size_t)argument;
	void *kept = NULL;

	for (long i = 0; i < pairs; i++) {
		void *ptr = take_block();

		if (i % 2)
			ptr = exchange((self + 1) % threads, ptr);
		if (ptr)
			free_block(ptr);
	}
	must(cudaMalloc(&kept, KEPT));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];

	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		pairs = atol(argv[2]);
	if (threads < 1 || threads > THREADS_MAX || pairs < 0) {
		fprintf(stderr, "usage: threads [threads [pairs]]\n");
		return 2;
	}
	for (int i = 0; i < threads; i++)
		pthread_mutex_init(&mailbox[i].lock, NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, (void *)(size_t)i);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++)
		if (mailbox[i].left)
			free_block(mailbox[i].left);
	printf("threads=%d\n", threads);
	printf("allocations=%ld\nfrees=%ld\n", (pairs + 1) * threads, pairs * threads);
	printf("bytes=%zu\n", (BLOCK * (size_t)pairs + KEPT) * (size_t)threads);
	printf("live=%zu\n", KEPT * (size_t)threads);
	return 0;
}
