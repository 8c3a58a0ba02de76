/*
 * Holds a texture and its mip levels when it ends; a volume and layers come and go before.
 *
 * Arrays have handles, not addresses. What they take of the card no call tells: counted here is
 * what format and extent need.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES 6
#define NOINLINE __attribute__((noinline))

NOINLINE cudaMipmappedArray_t load_texture(void);
NOINLINE void filter_frame(void);

static const struct cudaChannelFormatDesc rgba8 = { 8, 8, 8, 8, cudaChannelFormatKindUnsigned };
static const struct cudaChannelFormatDesc one_float = { 32, 0, 0, 0, cudaChannelFormatKindFloat };
static size_t live, peak, allocations, frees;

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "arrays: %s\n", cudaGetErrorString(error));
	exit(1);
}

static void count(size_t bytes)
{
	live += bytes;
	peak = live > peak ? live : peak;
	allocations++;
}

static void count_free(size_t bytes)
{
	live -= bytes;
	frees++;
}

/* 512 x 256 texels and all levels down to one: each has half the width and height. */
cudaMipmappedArray_t load_texture(void)
{
	struct cudaExtent extent = { .width = 512, .height = 256 };
	cudaMipmappedArray_t texture = NULL;
	size_t bytes = 0;

	for (unsigned int level = 0; level < 10; level++)
		bytes += (size_t)(512 >> level) * (256 >> level ? 256 >> level : 1) * 4;
	must(cudaMallocMipmappedArray(&texture, &rgba8, extent, 10, cudaArrayDefault));
	count(bytes);
	return texture;
}

void filter_frame(void)
{
	struct cudaExtent volume_extent = { .width = 64, .height = 64, .depth = 64 };
	struct cudaExtent layers_extent = { .width = 128, .height = 128, .depth = 5 };
	cudaArray_t image = NULL, volume = NULL, layers = NULL;

	must(cudaMallocArray(&image, &rgba8, 1920, 1080, cudaArrayDefault));
	count((size_t)1920 * 1080 * 4);
	must(cudaMalloc3DArray(&volume, &one_float, volume_extent, cudaArrayDefault));
	count((size_t)64 * 64 * 64 * 4);
	must(cudaMalloc3DArray(&layers, &one_float, layers_extent, cudaArrayLayered));
	count((size_t)128 * 128 * 5 * 4);
	must(cudaFreeArray(image));
	count_free((size_t)1920 * 1080 * 4);
	must(cudaFreeArray(volume));
	count_free((size_t)64 * 64 * 64 * 4);
	must(cudaFreeArray(layers));
	count_free((size_t)128 * 128 * 5 * 4);
}

int main(void)
{
	cudaMipmappedArray_t dropped = load_texture();
	size_t texture_bytes = live;

	load_texture();
	must(cudaFreeMipmappedArray(dropped));
	count_free(texture_bytes);
	for (int frame = 0; frame < FRAMES; frame++)
		filter_frame();
	printf("allocations=%zu\nfrees=%zu\npeak=%zu\nlive=%zu\n", allocations, frees, peak, live);
	printf("array.peak=%zu\narray.live=%zu\n", peak, live);
	printf("load_texture.live=%zu\n", live);
	return 0;
}
