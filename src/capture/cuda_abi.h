/*
 * The CUDA types and constants that the hooks need, so that no toolkit is needed to build.
 *
 * From cuda.h and driver_types.h of CUDA 13.0; enums are 32-bit there as here. tests/abi compares
 * each row of hooks.def with the toolkit's own headers where there are any.
 */
#ifndef CAPTURE_CUDA_ABI_H
#define CAPTURE_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef enum CUresult_enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
} CUresult;

typedef enum cudaError_enum {
	cudaSuccess = 0,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
} cudaError_t;

typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef unsigned long long cuuint64_t;

enum {
	CU_MEM_LOCATION_TYPE_DEVICE = 1, /* every other type of location is on the host */
	CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
	CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
	CU_STREAM_CAPTURE_STATUS_NONE = 0,
};

typedef struct CUmemLocation_st {
	int type;
	int id;
} CUmemLocation;

typedef struct CUmemAllocationProp_st {
	int type;
	int requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType;
		unsigned char gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char reserved[4];
	} allocFlags;
} CUmemAllocationProp;

typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;

#endif
