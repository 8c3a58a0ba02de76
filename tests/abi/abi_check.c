/*
 * Every row of hooks.def and counted_calls.def against the toolkit's own headers: `make check-abi`
 * compiles this file, and a row whose parameters or result differ from NVIDIA's stops it by name.
 *
 * The twins for per-thread default streams are not declared in any header; they have the row's
 * type. Old versions are declared as types of pointers to them.
 */
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

/* cuda.h calls the successor by the old name. */
#undef cuMemHostRegister
#undef cuIpcOpenMemHandle
#undef cuCtxDestroy
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuStreamDestroy

#define RESULT_RT cudaError_t
#define RESULT_DRV CUresult
#define HOOK(api, name, params, ...)            \
	typedef RESULT_##api row_##name params; \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), row_##name *), #name);
#define BOTH(...) HOOK(__VA_ARGS__)
#define OLD(since, api, name, params, ...)      \
	typedef RESULT_##api old_##name params; \
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
#define TYPED_cuStreamDestroy PFN_cuStreamDestroy_v4000
#define TYPED_cuCtxDestroy PFN_cuCtxDestroy_v4000
#define TYPED_cuDevicePrimaryCtxRelease PFN_cuDevicePrimaryCtxRelease_v11000
#define TYPED_cuDevicePrimaryCtxReset PFN_cuDevicePrimaryCtxReset_v11000
#define CALL(...) HOOK(__VA_ARGS__)
#define CALLS(twin, ...) HOOK(__VA_ARGS__)
#include "capture/loader/counted_calls.def"
#include "capture/loader/hooks.def"
#undef HOOK

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
_Static_assert(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES == 3 && CU_LIMIT_STACK_SIZE == 0 &&
		       CU_LIMIT_PRINTF_FIFO_SIZE == 1 && CU_LIMIT_MALLOC_HEAP_SIZE == 2 &&
		       CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH == 3 &&
		       CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT == 4,
	       "code and limits");
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

/* What cupti_abi.h says, where the toolkit has CUPTI. */
#if __has_include(<cupti.h>)
#include <cupti.h>

#include "capture/cupti/cupti_abi.h"

#define SAME(ours, member, theirs, field)                                                          \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, field) &&                 \
			       sizeof(((struct ours *)0)->member) == sizeof(((theirs *)0)->field), \
		       #theirs "." #field)

SAME(cupti_memory, operation, CUpti_ActivityMemory4, memoryOperationType);
SAME(cupti_memory, memory_kind, CUpti_ActivityMemory4, memoryKind);
SAME(cupti_memory, correlation, CUpti_ActivityMemory4, correlationId);
SAME(cupti_memory, address, CUpti_ActivityMemory4, address);
SAME(cupti_memory, bytes, CUpti_ActivityMemory4, bytes);
SAME(cupti_memory, timestamp, CUpti_ActivityMemory4, timestamp);
SAME(cupti_memory, device, CUpti_ActivityMemory4, deviceId);
SAME(cupti_memory, context, CUpti_ActivityMemory4, contextId);
SAME(cupti_memory, name, CUpti_ActivityMemory4, name);
SAME(cupti_memory, async, CUpti_ActivityMemory4, isAsync);
SAME(cupti_memory, pool, CUpti_ActivityMemory4, memoryPoolConfig.address);
SAME(cupti_memory, pool, CUpti_ActivityMemory2, memoryPoolConfig.address);
SAME(cupti_pool, operation, CUpti_ActivityMemoryPool3, memoryPoolOperationType);
SAME(cupti_pool, device, CUpti_ActivityMemoryPool3, deviceId);
SAME(cupti_pool, address, CUpti_ActivityMemoryPool3, address);
SAME(cupti_pool, size, CUpti_ActivityMemoryPool3, size);
SAME(cupti_pool, timestamp, CUpti_ActivityMemoryPool3, timestamp);
SAME(cupti_pool, timestamp, CUpti_ActivityMemoryPool2, timestamp);
SAME(cupti_api, call, CUpti_ActivityAPI, cbid);
SAME(cupti_api, start, CUpti_ActivityAPI, start);
SAME(cupti_api, end, CUpti_ActivityAPI, end);
SAME(cupti_api, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_kernel, start, CUpti_ActivityKernel9, start);
SAME(cupti_kernel, end, CUpti_ActivityKernel9, end);
SAME(cupti_kernel, device, CUpti_ActivityKernel9, deviceId);
SAME(cupti_kernel, stream, CUpti_ActivityKernel9, streamId);
SAME(cupti_kernel, correlation, CUpti_ActivityKernel9, correlationId);
SAME(cupti_kernel, name, CUpti_ActivityKernel9, name);
SAME(cupti_kernel, name, CUpti_ActivityKernel5, name);
SAME(cupti_transfer, copy, CUpti_ActivityMemcpy6, copyKind);
SAME(cupti_transfer, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(cupti_transfer, start, CUpti_ActivityMemcpy6, start);
SAME(cupti_transfer, end, CUpti_ActivityMemcpy6, end);
SAME(cupti_transfer, device, CUpti_ActivityMemcpy6, deviceId);
SAME(cupti_transfer, stream, CUpti_ActivityMemcpy6, streamId);
SAME(cupti_transfer, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_transfer, stream, CUpti_ActivityMemset4, streamId);
SAME(cupti_unified, counter, CUpti_ActivityUnifiedMemoryCounter3, counterKind);
SAME(cupti_unified, value, CUpti_ActivityUnifiedMemoryCounter3, value);
SAME(cupti_unified, start, CUpti_ActivityUnifiedMemoryCounter3, start);
SAME(cupti_unified, end, CUpti_ActivityUnifiedMemoryCounter3, end);
SAME(cupti_unified, from, CUpti_ActivityUnifiedMemoryCounter3, srcId);
SAME(cupti_unified, to, CUpti_ActivityUnifiedMemoryCounter3, dstId);
_Static_assert(sizeof(struct cupti_unified_config) ==
		       sizeof(CUpti_ActivityUnifiedMemoryCounterConfig),
	       "CUpti_ActivityUnifiedMemoryCounterConfig");
#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

EQUAL(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
EQUAL(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
EQUAL(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
EQUAL(CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
EQUAL(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
EQUAL(CUPTI_KIND_UNIFIED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
EQUAL(CUPTI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
EQUAL(CUPTI_KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
EQUAL(CUPTI_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
EQUAL(CUPTI_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
EQUAL(CUPTI_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
EQUAL(CUPTI_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
EQUAL(CUPTI_MEMORY_VARIABLE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
EQUAL(CUPTI_MEMORY_MANAGED_VARIABLE, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
EQUAL(CUPTI_ALLOCATED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
EQUAL(CUPTI_FREED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
EQUAL(CUPTI_POOL_CREATED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED);
EQUAL(CUPTI_POOL_TRIMMED, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
#endif
