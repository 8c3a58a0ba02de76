/*
 * The CUDA types and constants that the hooks need, so that no toolkit is needed to build.
 *
 * From cuda.h and driver_types.h of CUDA 13.0; enums are 32 bits wide in both. `make check-abi`
 * compares the rows of hooks.def and counted_calls.def with the toolkit's own headers.
 */
#pragma once

#include <stddef.h>

typedef enum CUresult_enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
} CUresult;

typedef enum cudaError_enum {
	cudaSuccess = 0,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
} cudaError_t;

typedef struct dim3 {
	unsigned int x, y, z;
} dim3;

typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle, cuuint64_t;
typedef int CUdevice;

/* Handles: stored and compared, never dereferenced. */
typedef struct cuda_handle *CUcontext, *CUevent, *CUfunction, *CUstream, *CUmemoryPool, *CUarray,
	*CUmipmappedArray, *CUexternalMemory, *CUgraph, *CUgraphNode, *CUgraphExec, *CUmodule,
	*CUlibrary, *CUkernel;
typedef struct cuda_handle *cudaEvent_t, *cudaStream_t, *cudaMemPool_t, *cudaArray_t,
	*cudaMipmappedArray_t, *cudaExternalMemory_t, *cudaGraph_t, *cudaGraphNode_t,
	*cudaGraphExec_t;

/* Types of objects that are never read: only pointers to them are passed on. */
typedef struct cuda_unread CUlaunchConfig, cudaLaunchConfig_t, CUmemAccessDesc,
	CUmemPoolPtrExportData, CUarrayMapInfo, CUmulticastObjectProp, CUgraphEdgeData,
	CUctxCreateParams, CUexecAffinityParam, CUDA_GRAPH_INSTANTIATE_PARAMS;
struct cudaMemPoolPtrExportData;
struct cudaMemPoolProps;

/* Types that are enums in the toolkit. */
typedef unsigned int CUjit_option, CUlibraryOption, CUfunction_attribute, CUlimit,
	CUmemAllocationHandleType, CUmemPool_attribute;
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
enum cudaMemcpyKind { cudaMemcpyHostToHost = 0 };

enum {
	CU_MEM_LOCATION_TYPE_DEVICE = 1, /* all other types of location are in host memory */
	CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
	CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
	CU_STREAM_CAPTURE_STATUS_NONE = 0,
	CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	CU_MEMORYTYPE_HOST = 1,
	CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0,
	CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2,
	CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
	CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
	CU_LIMIT_STACK_SIZE = 0,
	CUDA_ARRAY3D_LAYERED = 0x01,
	CUDA_ARRAY3D_CUBEMAP = 0x04,
	CUDA_ARRAY3D_SPARSE = 0x40,
	CUDA_ARRAY3D_DEFERRED_MAPPING = 0x80,
};

typedef struct CUmemLocation_st {
	int type, id;
} CUmemLocation;

/* Structs that are read through a pointer are declared here up to the last member that is read. */
typedef struct CUmemAllocationProp_st {
	int type, requestedHandleTypes;
	CUmemLocation location;
} CUmemAllocationProp;

typedef struct CUipcMemHandle_st {
	char reserved[64];
} CUipcMemHandle, cudaIpcMemHandle_t;

/* --- pools and nodes of graphs --- */

typedef struct CUmemPoolProps_st {
	int allocType, handleTypes;
	CUmemLocation location;
	char unread[72];
} CUmemPoolProps;

/* The driver's struct and the runtime's have the same layout, as in later pairs in this file. */
typedef struct cudaMemAllocNodeParams {
	CUmemPoolProps poolProps;
	const void *accessDescs;
	size_t accessDescCount, bytesize;
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct CUgraphNodeParams_st {
	int type;
	int reserved0[3];
	CUDA_MEM_ALLOC_NODE_PARAMS alloc; /* set if the node allocates memory */
} CUgraphNodeParams;

/* --- arrays and external memory --- */

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
	size_t Width, Height;
	unsigned int Format; /* enum CUarray_format of cuda.h */
	unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
	size_t Width, Height, Depth;
	unsigned int Format, NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

struct cudaExtent {
	size_t width, height, depth;
};

struct cudaPitchedPtr {
	void *ptr;
	size_t pitch;
};

struct cudaChannelFormatDesc {
	int x, y, z, w; /* bits of each channel, 0 for none */
	int f;          /* enum cudaChannelFormatKind */
};

typedef struct cudaExternalMemoryHandleDesc {
	int type;
	void *handle[2];
	unsigned long long size;
} CUDA_EXTERNAL_MEMORY_HANDLE_DESC;

typedef struct cudaExternalMemoryBufferDesc {
	unsigned long long offset, size;
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC;

struct cudaExternalMemoryMipmappedArrayDesc {
	unsigned long long offset;
	struct cudaChannelFormatDesc formatDesc;
	struct cudaExtent extent;
	unsigned int flags, numLevels;
};

typedef struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_st {
	unsigned long long offset;
	CUDA_ARRAY3D_DESCRIPTOR arrayDesc;
	unsigned int numLevels;
} CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC;

typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;
