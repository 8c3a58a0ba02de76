/*
 * Every row of hooks.def and calls.def against the toolkit's own headers: `make check-abi` compiles
 * this file, and a row whose parameters or result differ from NVIDIA's stops it by name.
 *
 * The twins for per-thread default streams are not declared in any header; they have the row's
 * type. Old versions are declared as types of pointers to them.
 */
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

#define HOOK(api, name, result, params, ...) \
	typedef result row_##name params;    \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), row_##name *), #name);
#define BOTH(...) HOOK(__VA_ARGS__)
#define OLD(since, api, name, result, params, ...) \
	typedef result old_##name params;          \
	_Static_assert(__builtin_types_compatible_p(TYPED_##name, old_##name *), #name);
/*
 * cudaTypedefs.h names by version what the library names by a suffix. Of some it tells the first
 * version only under NVIDIA's own macro, with the parameters of the second, which stands here.
 */
#define TYPED_cuMemHostRegister PFN_cuMemHostRegister_v6050
#define TYPED_cuIpcOpenMemHandle PFN_cuIpcOpenMemHandle_v11000
#define TYPED_cuGraphAddNode PFN_cuGraphAddNode_v12020
#define TYPED_cuCtxCreate_v2 PFN_cuCtxCreate_v3020
#define TYPED_cuCtxCreate_v3 PFN_cuCtxCreate_v11040
#define TYPED_cuCtxDestroy PFN_cuCtxDestroy_v4000
#define TYPED_cuDevicePrimaryCtxRelease PFN_cuDevicePrimaryCtxRelease_v11000
#define TYPED_cuDevicePrimaryCtxReset PFN_cuDevicePrimaryCtxReset_v11000
#define CALL(...) HOOK(__VA_ARGS__)
#define CALLS(twin, ...) HOOK(__VA_ARGS__)
#include "capture/calls.def"
#include "capture/hooks.def"
#undef HOOK
#undef BOTH
#undef OLD
#undef CALL
#undef CALLS

/* What cuda_abi.h says by itself. */
_Static_assert(CUDA_ERROR_OUT_OF_MEMORY == 2 && CUDA_ERROR_NOT_INITIALIZED == 3, "CUresult");
_Static_assert(cudaErrorMemoryAllocation == 2 && cudaErrorInitializationError == 3, "cudaError_t");
_Static_assert(CU_MEM_LOCATION_TYPE_DEVICE == 1, "CUmemLocationType");
_Static_assert(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL == 9, "CUpointer_attribute");
_Static_assert(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE == 17, "CUpointer_attribute");
_Static_assert(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT == 5, "CUmemPool_attribute");
_Static_assert(sizeof(CUmemLocation) == 8 && sizeof(CUmemAllocationProp) == 32,
	       "CUmemAllocationProp");
_Static_assert(__builtin_offsetof(CUmemAllocationProp, location) == 8, "CUmemAllocationProp");
_Static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2 && CU_POINTER_ATTRIBUTE_IS_MANAGED == 8 &&
		       CU_MEMORYTYPE_HOST == 1,
	       "CUpointer_attribute");
_Static_assert(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT == 0 &&
		       CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT == 2 &&
		       CU_GRAPH_NODE_TYPE_MEM_ALLOC == 10,
	       "graphs");
_Static_assert(CUDA_ARRAY3D_LAYERED == 1 && CUDA_ARRAY3D_CUBEMAP == 4 &&
		       CUDA_ARRAY3D_SPARSE == 0x40 && CUDA_ARRAY3D_DEFERRED_MAPPING == 0x80,
	       "arrays");

/* The members that the rows read, where cuda_abi.h has them. */
#define AT(type, member, at) _Static_assert(offsetof(type, member) == (at), #type "." #member)
AT(CUDA_ARRAY_DESCRIPTOR, Format, 16);
AT(CUDA_ARRAY3D_DESCRIPTOR, Format, 24);
AT(CUDA_ARRAY3D_DESCRIPTOR, NumChannels, 28);
AT(CUDA_ARRAY3D_DESCRIPTOR, Flags, 32);
AT(CUDA_MEM_ALLOC_NODE_PARAMS, poolProps.location, 8);
AT(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize, 104);
AT(struct cudaMemAllocNodeParams, poolProps.location, 8);
AT(struct cudaMemAllocNodeParams, bytesize, 104);
AT(CUgraphNodeParams, alloc, 16);
AT(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size, 24);
AT(struct cudaExternalMemoryHandleDesc, size, 24);
AT(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size, 8);
AT(struct cudaExternalMemoryBufferDesc, size, 8);
AT(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, arrayDesc, 8);
AT(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, numLevels, 48);
AT(struct cudaExternalMemoryMipmappedArrayDesc, formatDesc, 8);
AT(struct cudaExternalMemoryMipmappedArrayDesc, extent, 32);
AT(struct cudaExternalMemoryMipmappedArrayDesc, flags, 56);
AT(struct cudaExternalMemoryMipmappedArrayDesc, numLevels, 60);
AT(struct cudaPitchedPtr, pitch, 8);
AT(struct cudaChannelFormatDesc, f, 16);
_Static_assert(sizeof(CUipcMemHandle) == 64 && sizeof(cudaIpcMemHandle_t) == 64, "IPC handles");
_Static_assert(sizeof(struct cudaExtent) == 24, "cudaExtent");
