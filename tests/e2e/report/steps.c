/*
 * Programs that repeat steps: `steps CHARACTER STEPS LEAK`. Each is healthy; LEAK is what
 * leak_here() keeps at each step besides, in bytes. A CHARACTER with a + behind it has no phases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <memtrace/memtrace.h>

enum { LAYERS = 20, MOST = 4000, MIB = 1 << 20 };

static void *kept[MOST];
static size_t kept_n;
static unsigned long state = 1;

static unsigned long below(unsigned long n)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (state >> 33) % n;
}

/* Part of its callers at any level of optimisation: they are the sites. */
__attribute__((always_inline)) static inline void *take(size_t size)
{
	void *p = NULL;

	if (cudaMalloc(&p, size) != cudaSuccess)
		abort();
	return p;
}

__attribute__((noinline)) static void leak_here(size_t size)
{
	take(size);
}

__attribute__((noinline)) static void keep(size_t size)
{
	kept[kept_n++] = take(size);
}

static void drop(size_t i)
{
	cudaFree(kept[i]);
	memmove(&kept[i], &kept[i + 1], (--kept_n - i) * sizeof(kept[0]));
}

static void drop_all(void)
{
	while (kept_n)
		drop(kept_n - 1);
}

static void plain(int step)
{
	(void)step;
}

static void lazy(int step)
{
	if (step == 15 || step == 27)
		keep(64 * MIB);
}

static void optimizer(int step)
{
	for (int i = 0; step == 1 && i < LAYERS; i++)
		keep(8 * MIB);
}

static void saturating(int step)
{
	if (step < 25)
		keep(MIB);
}

static void cyclic(int step)
{
	if (step % 10 == 0)
		drop_all();
	keep(MIB);
}

static void evaluating(int step)
{
	for (int i = 0; step % 8 == 7 && i < 10; i++)
		keep(2 * MIB);
	if (step % 8 == 1)
		drop_all();
}

static void varying(int step)
{
	(void)step;
	drop_all();
	keep(MIB + below(64 * MIB));
}

static void queueing(int step)
{
	(void)step;
	for (unsigned long n = below(4); n--;)
		keep(MIB);
	for (unsigned long n = below(4); n-- && kept_n;)
		drop(0);
}

static void replacing(int step)
{
	keep(MIB);
	if (step > 8)
		drop(below(kept_n));
}

static void shuffled(int step)
{
	(void)step;
	for (int i = 0; i < 4; i++)
		keep(512 + below(4 * MIB));
	while (kept_n > 10)
		drop(below(kept_n));
}

static const struct {
	const char *name;
	void (*step)(int step);
} characters[] = {
#define CHARACTER(name)     \
	{                   \
#name, name \
	}
	CHARACTER(plain),     CHARACTER(lazy),       CHARACTER(optimizer), CHARACTER(saturating),
	CHARACTER(cyclic),    CHARACTER(evaluating), CHARACTER(varying),   CHARACTER(queueing),
	CHARACTER(replacing), CHARACTER(shuffled),
#undef CHARACTER
};

static void train(int step, void (*also)(int), size_t leak)
{
	void *layers[LAYERS];

	for (int i = 0; i < LAYERS; i++)
		layers[i] = take(4 * MIB + 512 * below(100));
	if (leak)
		leak_here(leak);
	also(step);
	for (int i = LAYERS; i--;)
		cudaFree(layers[i]);
}

int main(int argc, char **argv)
{
	size_t length = argc == 4 ? strcspn(argv[1], "+") : 0;
	void *model[LAYERS];

	for (size_t i = 0; length && i < sizeof(characters) / sizeof(characters[0]); i++) {
		if (strlen(characters[i].name) != length ||
		    strncmp(characters[i].name, argv[1], length))
			continue;
		for (int k = 0; k < LAYERS; k++)
			model[k] = take(8 * MIB);
		for (int step = 0; step < atoi(argv[2]); step++) {
			char name[32];

			snprintf(name, sizeof(name), "step %d", step);
			if (!argv[1][length])
				memtrace_push(name);
			train(step, characters[i].step, (size_t)atol(argv[3]));
			if (!argv[1][length])
				memtrace_pop();
		}
		drop_all();
		for (int k = 0; k < LAYERS; k++)
			cudaFree(model[k]);
		return 0;
	}
	fprintf(stderr, "usage: steps CHARACTER STEPS LEAK\n");
	return 2;
}
