/* Computes the bytes of a CUDA array from its format, its extent and its mipmap levels. */
#include "base/mem/each.h"
#include "capture/cuda/cuda_call.h"

#include <stdbool.h>

/* The unit whose size struct array_format gives in bits: one channel, one texel with all its
 * channels, or a compressed block of 4x4 texels. */
enum unit { CHANNEL, TEXEL, BLOCK };

static const struct array_format {
	uint8_t first, last; /* a range of values of CUarray_format that have one size */
	uint8_t unit;
	uint8_t bits;
} formats[] = {
	{ 0x01, 0x01, CHANNEL, 8 },  { 0x02, 0x02, CHANNEL, 16 }, { 0x03, 0x03, CHANNEL, 32 },
	{ 0x08, 0x08, CHANNEL, 8 },  { 0x09, 0x09, CHANNEL, 16 }, { 0x0a, 0x0a, CHANNEL, 32 },
	{ 0x10, 0x10, CHANNEL, 16 }, /* CU_AD_FORMAT_HALF */
	{ 0x20, 0x20, CHANNEL, 32 }, /* CU_AD_FORMAT_FLOAT */
	{ 0x50, 0x50, TEXEL, 32 },   /* CU_AD_FORMAT_UNORM_INT_101010_2 */
	{ 0x91, 0x92, BLOCK, 64 },   /* CU_AD_FORMAT_BC1_* */
	{ 0x93, 0x96, BLOCK, 128 },  /* CU_AD_FORMAT_BC2_*, BC3_* */
	{ 0x97, 0x98, BLOCK, 64 },   /* CU_AD_FORMAT_BC4_* */
	{ 0x99, 0x9e, BLOCK, 128 },  /* CU_AD_FORMAT_BC5_*, BC6H_*, BC7_* */
	{ 0x9f, 0xa1, TEXEL, 24 },   /* CU_AD_FORMAT_P010, P016: 4:2:0, samples of 16 bits */
	{ 0xa2, 0xa2, TEXEL, 16 },   /* CU_AD_FORMAT_NV16: 4:2:2, samples of 8 bits */
	{ 0xa3, 0xa4, TEXEL, 32 },   /* CU_AD_FORMAT_P210, P216: 4:2:2, samples of 16 bits */
	{ 0xa5, 0xa5, TEXEL, 16 },   /* CU_AD_FORMAT_YUY2: packed 4:2:2, samples of 8 bits */
	{ 0xa6, 0xa7, TEXEL, 32 },   /* CU_AD_FORMAT_Y210, Y216: packed 4:2:2, samples of 16 bits */
	{ 0xa8, 0xa9, TEXEL, 32 },   /* CU_AD_FORMAT_AYUV, Y410 */
	{ 0xb0, 0xb0, TEXEL, 12 },   /* CU_AD_FORMAT_NV12: 4:2:0, samples of 8 bits */
	{ 0xb1, 0xb1, TEXEL, 64 },   /* CU_AD_FORMAT_Y416 */
	{ 0xb2, 0xb2, TEXEL, 24 },   /* CU_AD_FORMAT_Y444_PLANAR8 */
	{ 0xb3, 0xb3, TEXEL, 48 },   /* CU_AD_FORMAT_Y444_PLANAR10 */
	{ 0xb4, 0xb4, TEXEL, 24 },   /* CU_AD_FORMAT_YUV444_8bit_SemiPlanar */
	{ 0xb5, 0xb5, TEXEL, 48 },   /* CU_AD_FORMAT_YUV444_16bit_SemiPlanar */
	{ 0xc0, 0xc0, TEXEL, 8 },    { 0xc1, 0xc1, TEXEL, 16 },   { 0xc2, 0xc2, TEXEL, 32 },
	{ 0xc3, 0xc3, TEXEL, 16 },   { 0xc4, 0xc4, TEXEL, 32 },   { 0xc5, 0xc5, TEXEL, 64 },
	{ 0xc6, 0xc6, TEXEL, 8 },    { 0xc7, 0xc7, TEXEL, 16 },   { 0xc8, 0xc8, TEXEL, 32 },
	{ 0xc9, 0xc9, TEXEL, 16 },   { 0xca, 0xca, TEXEL, 32 },   { 0xcb, 0xcb, TEXEL, 64 },
};

struct texel {
	uint64_t bits; /* bits of one texel, or of one compressed block */
	uint64_t side; /* texels along the side of a compressed block, else 1 */
};

static struct texel texel_of(unsigned int format, unsigned int channels)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		const struct array_format *row = &formats[i];

		if (format >= row->first && format <= row->last)
			return (struct texel){ row->unit == CHANNEL ? row->bits * channels
								    : row->bits,
					       row->unit == BLOCK ? 4 : 1 };
	}
	return (struct texel){ 0, 1 };
}

static uint64_t halved(uint64_t texels, unsigned int level)
{
	return level < 64 && texels >> level ? texels >> level : 1;
}

/* The bytes of all mipmap levels. Each has half the extents of the last, but the same layers. */
static uint64_t bytes_of(struct texel texel, struct cudaExtent extent, unsigned int flags,
			 unsigned int levels)
{
	bool layered = flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	uint64_t bytes = 0;

	if (flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
		return 0;
	for (unsigned int level = 0; level < levels && level < 64; level++) {
		uint64_t width = (halved(extent.width, level) + texel.side - 1) / texel.side;
		uint64_t height = (halved(extent.height, level) + texel.side - 1) / texel.side;
		uint64_t depth = layered ? extent.depth : halved(extent.depth, level);

		bytes += (texel.bits * width * height + 7) / 8 * (depth ? depth : 1);
	}
	return bytes;
}

uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned int levels)
{
	if (!shape)
		return 0;
	return bytes_of(texel_of(shape->Format, shape->NumChannels),
			(struct cudaExtent){ shape->Width, shape->Height, shape->Depth },
			shape->Flags, levels);
}

uint64_t array_flat_bytes(const CUDA_ARRAY_DESCRIPTOR *shape)
{
	if (!shape)
		return 0;
	return bytes_of(texel_of(shape->Format, shape->NumChannels),
			(struct cudaExtent){ shape->Width, shape->Height, 0 }, 0, 1);
}

/* A texel's bits are the sum of its channels' bits, except for these kinds (desc->f). */
static struct texel runtime_texel(const struct cudaChannelFormatDesc *desc)
{
	enum { NV12 = 4, BC1 = 17, BC2 = 19, BC4 = 23, BC5 = 25, UNORM_101010_2 = 31 };
	uint64_t channels =
		(uint64_t)desc->x + (uint64_t)desc->y + (uint64_t)desc->z + (uint64_t)desc->w;
	bool small = (desc->f >= BC1 && desc->f < BC2) || (desc->f >= BC4 && desc->f < BC5);

	if (desc->f == NV12)
		return (struct texel){ 12, 1 };
	if (desc->f == UNORM_101010_2)
		return (struct texel){ 32, 1 };
	if (desc->f >= BC1 && desc->f < UNORM_101010_2)
		return (struct texel){ small ? 64 : 128, 4 };
	return (struct texel){ channels, 1 };
}

uint64_t array_runtime_bytes(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			     unsigned int flags, unsigned int levels)
{
	return desc ? bytes_of(runtime_texel(desc), extent, flags, levels) : 0;
}
