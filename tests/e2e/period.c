/*
 * A loop of 20 steps that nothing names: five layers each, whose blocks live until its end, a
 * workspace, and a block that every step leaves behind. With an argument each step is of another
 * kind, so there is no period.
 */
#include <cuda_runtime.h>
#include <stdlib.h>

enum { STEPS = 20, LAYERS = 5, KIB = 1024 };

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

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < STEPS; i++) {
		if (argc == 1)
			step();
		else
			cudaFree(take(KIB));
	}
	return 0;
}
