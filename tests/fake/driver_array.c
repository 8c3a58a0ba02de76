/*
 * Arrays and mipmapped arrays: memory without an address, shaped by a format and an extent.
 *
 * Sizes are what format and extent need; what a real device adds in layout no call tells.
 */
#include "fake.h"

#define ARRAY_TAG ((uint64_t)1 << 62) /* an array's handle must not look like an address */
#define MIPMAP_TAG ((uint64_t)1 << 61)
#define UNBACKED (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)

struct shape {
	uint64_t width, height, depth; /* in texels, at least 1 */
	uint64_t bits;                 /* of a texel, all channels */
	uint64_t block;                /* texels to a block's side */
	bool layered;                  /* depth counts layers */
};

static uint64_t channel_bits(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 8;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 16;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 32;
	default:
		return 0;
	}
}

static bool shape_read(struct shape *shape, const CUDA_ARRAY3D_DESCRIPTOR *from)
{
	unsigned int channels = from->NumChannels;

	shape->width = from->Width;
	shape->height = from->Height ? from->Height : 1;
	shape->depth = from->Depth ? from->Depth : 1;
	shape->layered = from->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	shape->block = 1;
	shape->bits = channel_bits(from->Format) * channels;
	if (from->Format == CU_AD_FORMAT_NV12)
		shape->bits = 12;
	if (from->Format == CU_AD_FORMAT_BC1_UNORM || from->Format == CU_AD_FORMAT_BC7_UNORM) {
		shape->block = 4;
		shape->bits = from->Format == CU_AD_FORMAT_BC1_UNORM ? 64 : 128;
	} else if (from->Format != CU_AD_FORMAT_NV12 && channels != 1 && channels != 2 &&
		   channels != 4) {
		return false;
	}
	return from->Width && shape->bits;
}

static uint64_t halved(uint64_t texels, unsigned int level)
{
	return texels >> level ? texels >> level : 1;
}

static uint64_t level_bytes(const struct shape *shape, unsigned int level)
{
	uint64_t width = (halved(shape->width, level) + shape->block - 1) / shape->block;
	uint64_t height = (halved(shape->height, level) + shape->block - 1) / shape->block;
	uint64_t depth = shape->layered ? shape->depth : halved(shape->depth, level);

	return (shape->bits * width * height + 7) / 8 * depth;
}

/* An array of no memory of its own is booked as one that came from elsewhere. */
static CUresult make(struct context *context, const CUDA_ARRAY3D_DESCRIPTOR *from,
		     unsigned int levels, uint64_t *base)
{
	struct block *unbacked;
	struct shape shape;
	uint64_t size = 0;
	CUresult status;

	if (!from || !levels || !shape_read(&shape, from))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int level = 0; level < levels; level++)
		size += level_bytes(&shape, level);
	if (!(from->Flags & UNBACKED))
		return memory_take(context, KIND_ARRAY, size, base);
	status = memory_import(context, 1, &unbacked);
	if (status == CUDA_SUCCESS)
		*base = unbacked->base;
	return status;
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && !array)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = make(context, shape, 1, &base);
	if (status == CUDA_SUCCESS)
		*array = (CUarray)(uintptr_t)(base | ARRAY_TAG);
	return call_end(status);
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *shape)
{
	CUDA_ARRAY3D_DESCRIPTOR flat = { .Width = 0 };
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && (!array || !shape))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		flat.Width = shape->Width;
		flat.Height = shape->Height;
		flat.Format = shape->Format;
		flat.NumChannels = shape->NumChannels;
		status = make(context, &flat, 1, &base);
	}
	if (status == CUDA_SUCCESS)
		*array = (CUarray)(uintptr_t)(base | ARRAY_TAG);
	return call_end(status);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape,
				unsigned int levels)
{
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && !array)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = make(context, shape, levels, &base);
	if (status == CUDA_SUCCESS)
		*array = (CUmipmappedArray)(uintptr_t)(base | MIPMAP_TAG);
	return call_end(status);
}

CUmipmappedArray array_of_import(uint64_t base)
{
	return (CUmipmappedArray)(uintptr_t)(base | MIPMAP_TAG);
}

uint64_t array_handle(const struct block *block)
{
	return block->base | ARRAY_TAG;
}

static CUresult destroy(uint64_t handle, uint64_t tag)
{
	struct block *block = block_at(memory_blocks(), handle & ~tag);

	if (!(handle & tag) || !block ||
	    (block->kind != KIND_ARRAY && block->kind != KIND_IMPORTED))
		return CUDA_ERROR_INVALID_HANDLE;
	return memory_free(block);
}

CUresult cuArrayDestroy(CUarray array)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS)
		status = destroy((uint64_t)(uintptr_t)array, ARRAY_TAG);
	return call_end(status);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS)
		status = destroy((uint64_t)(uintptr_t)array, MIPMAP_TAG);
	return call_end(status);
}

/* Tiles are accepted and not followed: the memory behind them is held by its own handle. */
CUresult cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)stream;
	if (status == CUDA_SUCCESS && (!list || !count))
		status = CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; status == CUDA_SUCCESS && i < count; i++) {
		if (list[i].memOperationType == CU_MEM_OPERATION_TYPE_MAP &&
		    !allocation_of(list[i].memHandle.memHandle))
			status = CUDA_ERROR_INVALID_VALUE;
	}
	return call_end(status);
}

CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned int count, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	call_end(status);
	return status == CUDA_SUCCESS ? cuMemMapArrayAsync(list, count, stream) : status;
}
