/*
 * A made-up training run with one change planted in it, for diff.sh: changes [CHANGE] [SEED].
 *
 *   larger     forward() takes 8 MiB more
 *   leak       log_loss() forgets one block of 64 KiB a step
 *   longer     scratch() is freed behind backward(), not in front of it
 *   optimizer  make_optimizer() keeps two states a weight, not one
 *
 * SEED changes in which order four threads get at the allocator, and what lies where; the heights
 * that they reach together do not depend on it.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

enum { STEPS = 10, WEIGHTS = 4, WORKERS = 4, BLOCKS = 16 };

static const char *change = "none";
static unsigned seed = 1;
static void *weights[WEIGHTS], *states[2 * WEIGHTS];
static pthread_barrier_t together;

static int is(const char *name)
{
	return !strcmp(change, name);
}

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "changes: %s\n", cudaGetErrorString(error));
	exit(1);
}

NOINLINE void load_weights(void);
NOINLINE void make_optimizer(void);
NOINLINE void *scratch(void);
NOINLINE void *forward(void);
NOINLINE void *backward(void);
NOINLINE void log_loss(void);
NOINLINE void *worker(void *unused);

void load_weights(void)
{
	for (int i = 0; i < WEIGHTS; i++)
		must(cudaMalloc(&weights[i], 4 * MIB));
}

void make_optimizer(void)
{
	int count = is("optimizer") ? 2 * WEIGHTS : WEIGHTS;

	for (int i = 0; i < count; i++)
		must(cudaMalloc(&states[i], 4 * MIB));
}

void *scratch(void)
{
	void *ptr;

	must(cudaMalloc(&ptr, 10 * MIB));
	return ptr;
}

void *forward(void)
{
	void *ptr;

	must(cudaMalloc(&ptr, is("larger") ? 24 * MIB : 16 * MIB));
	return ptr;
}

void *backward(void)
{
	void *ptr;

	must(cudaMalloc(&ptr, 12 * MIB));
	return ptr;
}

void log_loss(void)
{
	void *ptr;

	must(cudaMalloc(&ptr, MIB / 16));
	if (!is("leak"))
		must(cudaFree(ptr));
}

/* Blocks of every size come and go in any order; between the barriers all threads hold all. */
void *worker(void *unused)
{
	unsigned random = seed * 7919 + (unsigned)(size_t)unused;
	void *blocks[BLOCKS] = { NULL };

	for (int round = 0; round < BLOCKS; round++) {
		for (unsigned spin = rand_r(&random) % 5000; spin; spin--)
			__asm__ volatile("");
		must(cudaMalloc(&blocks[round], (size_t)(round + 1) * 4096));
	}
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	for (int round = 0; round < BLOCKS; round++)
		must(cudaFree(blocks[round]));
	return NULL;
}

static void load_data(void)
{
	pthread_t threads[WORKERS];

	pthread_barrier_init(&together, NULL, WORKERS);
	for (size_t i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
	for (size_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&together);
}

static void step(void)
{
	void *activations = forward();
	void *temporary = scratch();
	void *gradients;

	if (!is("longer"))
		must(cudaFree(temporary));
	gradients = backward();
	must(cudaFree(activations));
	must(cudaFree(gradients));
	if (is("longer"))
		must(cudaFree(temporary));
	log_loss();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		change = argv[1];
	if (argc > 2)
		seed = (unsigned)atoi(argv[2]);
	load_weights();
	make_optimizer();
	load_data();
	for (int i = 0; i < STEPS; i++)
		step();
	for (int i = 0; i < WEIGHTS; i++)
		must(cudaFree(weights[i]));
	for (int i = 0; i < 2 * WEIGHTS && states[i]; i++)
		must(cudaFree(states[i]));
	return 0;
}
