/* How large arrays are: formats, extents, levels and layers, in the driver's and the runtime's
 * words. */
#include "capture/cuda/cuda_call.h"

#include "check.h"

static uint64_t driver(unsigned format, unsigned channels, struct cudaExtent extent, unsigned flags,
		       unsigned levels)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = { extent.width, extent.height, extent.depth,
					  format,       channels,      flags };

	return array_bytes(&shape, levels);
}

TEST(plain_formats)
{
	static const struct cudaExtent line = { 100, 0, 0 };

	EQ(driver(0x01, 1, line, 0, 1), 100);
	EQ(driver(0x09, 2, line, 0, 1), 400);
	EQ(driver(0x10, 4, line, 0, 1), 800);
	EQ(driver(0x20, 4, (struct cudaExtent){ 10, 20, 30 }, 0, 1), 96000);
	EQ(driver(0xc5, 4, line, 0, 1), 800); /* the format tells the channels */
	EQ(driver(0x50, 4, line, 0, 1), 400);
	EQ(driver(0x77, 4, line, 0, 1), 0); /* not known */
}

TEST(blocks_and_planes)
{
	EQ(driver(0x91, 4, (struct cudaExtent){ 5, 4, 0 }, 0, 1), 16);  /* BC1: two blocks */
	EQ(driver(0x9d, 4, (struct cudaExtent){ 8, 8, 0 }, 0, 1), 64);  /* BC7: four */
	EQ(driver(0x9d, 4, (struct cudaExtent){ 8, 8, 0 }, 0, 4), 112); /* and 1, 1, 1 */
	EQ(driver(0xb0, 3, (struct cudaExtent){ 64, 32, 0 }, 0, 1), 64 * 32 * 3 / 2);
	EQ(driver(0xb0, 3, (struct cudaExtent){ 1, 1, 0 }, 0, 1), 2); /* rounded up */
}

TEST(levels_and_layers)
{
	EQ(driver(0x01, 1, (struct cudaExtent){ 8, 4, 2 }, 0, 4), 64 + 8 + 2 + 1);
	EQ(driver(0x01, 1, (struct cudaExtent){ 8, 4, 2 }, CUDA_ARRAY3D_LAYERED, 4),
	   64 + 16 + 4 + 2);
	EQ(driver(0x01, 1, (struct cudaExtent){ 4, 4, 6 }, CUDA_ARRAY3D_CUBEMAP, 3),
	   (16 + 4 + 1) * 6);
	EQ(driver(0x01, 1, (struct cudaExtent){ 1, 1, 1 }, 0, 4000000000u), 64); /* bounded */
}

TEST(what_has_no_memory_of_its_own)
{
	EQ(driver(0x01, 1, (struct cudaExtent){ 8, 8, 0 }, CUDA_ARRAY3D_SPARSE, 1), 0);
	EQ(driver(0x01, 1, (struct cudaExtent){ 8, 8, 0 }, CUDA_ARRAY3D_DEFERRED_MAPPING, 1), 0);
	EQ(array_bytes(NULL, 1), 0);
	EQ(array_flat_bytes(NULL), 0);
	EQ(array_runtime_bytes(NULL, (struct cudaExtent){ 8, 8, 0 }, 0, 1), 0);
}

TEST(the_runtime_says_the_same)
{
	static const struct cudaExtent extent = { 16, 16, 0 };
	struct cudaChannelFormatDesc desc = { 32, 32, 0, 0, 2 };
	CUDA_ARRAY_DESCRIPTOR flat = { 16, 16, 0x20, 2 };

	EQ(array_runtime_bytes(&desc, extent, 0, 1), 16 * 16 * 8);
	EQ(array_flat_bytes(&flat), 16 * 16 * 8);
	desc = (struct cudaChannelFormatDesc){ 8, 8, 8, 8, 17 }; /* BC1 */
	EQ(array_runtime_bytes(&desc, extent, 0, 1), driver(0x91, 4, extent, 0, 1));
	desc.f = 19; /* BC2 */
	EQ(array_runtime_bytes(&desc, extent, 0, 1), driver(0x93, 4, extent, 0, 1));
	desc.f = 24; /* BC4, signed */
	EQ(array_runtime_bytes(&desc, extent, 0, 1), driver(0x98, 1, extent, 0, 1));
	desc.f = 30; /* BC7, sRGB */
	EQ(array_runtime_bytes(&desc, extent, 0, 1), driver(0x9e, 4, extent, 0, 1));
	desc.f = 4; /* NV12 */
	EQ(array_runtime_bytes(&desc, extent, 0, 1), driver(0xb0, 3, extent, 0, 1));
	desc = (struct cudaChannelFormatDesc){ 10, 10, 10, 2, 31 };
	EQ(array_runtime_bytes(&desc, extent, 0, 1), driver(0x50, 4, extent, 0, 1));
}
