/*
 * Every row of hooks.def against the toolkit's own headers: `make check-abi` compiles this file,
 * and a row whose parameters or result differ from NVIDIA's stops it by name.
 *
 * The twins for per-thread default streams are not declared in any header; they have the row's
 * type.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>

#define HOOK(api, name, result, params, ...) \
	typedef result row_##name params;    \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), row_##name *), #name);
#define BOTH(...) HOOK(__VA_ARGS__)
#include "capture/hooks.def"
#undef HOOK
#undef BOTH

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
