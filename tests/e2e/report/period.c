/*
 * A loop of 20 steps that nothing names: five layers each, whose blocks live until its end, a
 * workspace, and a block that every step leaves behind. With an argument it is another program:
 *	none	each step is of another kind, so there is no period
 *	build	the layers of a model, 24 of them, and nothing else
 *	deep	20 parameters from one line, then the steps
 *	train	the same as build, then the steps, validated after every fifth
 *	load	a range around the making of the model, then the steps
 *	named	a range around each step
 *	parameters	the steps, with an optimizer in each that goes over 24 parameters
 *	chance	calls of three kinds in no order, whose blocks are given back in time
 */
#include <cuda_runtime.h>
#include <memtrace/memtrace.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20, LAYERS = 5, MODEL = 24, KIB = 1024 };

static void *take(size_t size)
{
	void *ptr = NULL;

	if (cudaMalloc(&ptr, size))
		exit(1);
	return ptr;
}

static void step(void)
{
	void *input = take(64 * KIB);
	void *layers[LAYERS];
	void *workspace;

	for (int i = 0; i < LAYERS; i++)
		layers[i] = take(16 * KIB);
	workspace = take(256 * KIB);
	cudaFree(workspace);
	for (int i = 0; i < LAYERS; i++)
		cudaFree(layers[i]);
	cudaFree(input);
	take(KIB);
}

static void build(void)
{
	for (int i = 0; i < MODEL; i++) {
		take(64 * KIB);
		take(4 * KIB);
		take(32 * KIB);
		take(2 * KIB);
	}
}

static void validate(void)
{
	void *input = take(32 * KIB);
	void *logits = take(8 * KIB);

	cudaFree(take(128 * KIB));
	cudaFree(logits);
	cudaFree(input);
}

static void optimize(void)
{
	for (int i = 0; i < MODEL; i++) {
		cudaFree(take(3 * KIB));
		cudaFree(take(5 * KIB));
		cudaFree(take(7 * KIB));
	}
}

static void chance(void)
{
	void *live[12] = { NULL };
	unsigned state = 7;

	for (unsigned i = 0; i < 300; i++) {
		void **at = &live[i % 4 * 3];

		for (int k = 0; k < 3; k++)
			cudaFree(at[k]);
		state = state * 1103515245u + 12345u;
		if ((state >> 16) % 3 == 0) {
			at[0] = take(KIB);
			at[1] = take(2 * KIB);
			at[2] = take(3 * KIB);
		} else if ((state >> 16) % 3 == 1) {
			at[0] = take(4 * KIB);
			at[1] = take(5 * KIB);
			at[2] = take(6 * KIB);
		} else {
			at[0] = take(7 * KIB);
			at[1] = take(8 * KIB);
			at[2] = take(9 * KIB);
		}
	}
}

static void train(const char *how)
{
	bool named = !strcmp(how, "named");
	bool optimizes = !strcmp(how, "parameters");

	for (int i = 0; i < STEPS; i++) {
		if (named)
			memtrace_push("my step");
		step();
		if (optimizes)
			optimize();
		if (named)
			memtrace_pop();
		if (!strcmp(how, "train") && i % 5 == 4)
			validate();
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "load"))
		memtrace_push("loading");
	if (!strcmp(how, "build") || !strcmp(how, "train") || !strcmp(how, "load"))
		build();
	if (!strcmp(how, "load"))
		memtrace_pop();
	for (int i = 0; i < STEPS && !strcmp(how, "deep"); i++)
		take(32 * KIB);
	for (int i = 0; i < STEPS && !strcmp(how, "none"); i++)
		cudaFree(take(KIB));
	if (!strcmp(how, "chance"))
		chance();
	else if (strcmp(how, "none") != 0 && strcmp(how, "build") != 0)
		train(how);
	return 0;
}
