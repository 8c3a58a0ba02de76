/*
 * How large arrays are, in bytes: what their format and extent need.
 *
 * What the driver really takes (tiles, padding, granules) no call tells for an array that has its
 * own memory: cuArrayGetMemoryRequirements is for CUDA_ARRAY3D_DEFERRED_MAPPING alone (cuda.h,
 * CUDA 13.0). Sparse and deferred arrays have no memory of their own: 0. NULL gives 0.
 */
#pragma once

#include "capture/loader/cuda_abi.h"

uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned int levels);
uint64_t array_flat_bytes(const CUDA_ARRAY_DESCRIPTOR *shape);

/* The runtime's way to say it. */
uint64_t array_runtime_bytes(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			     unsigned int flags, unsigned int levels);
