/*
 * The CUDA types and constants that the hooks need, so that no toolkit is needed to build.
 *
 * From cuda.h and driver_types.h of CUDA 13.0; enums are 32-bit there as here. tests/abi compares
 * each row of hooks.def with the toolkit's own headers where there are any.
 */
#ifndef CAPTURE_LOADER_CUDA_ABI_H
#define CAPTURE_LOADER_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

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

enum cudaMemcpyKind { cudaMemcpyHostToHost = 0 };

typedef struct dim3 {
	unsigned int x, y, z;
} dim3;

typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUevent_st *CUevent;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlaunchConfig_st CUlaunchConfig;
typedef struct cudaLaunchConfig_st cudaLaunchConfig_t;
typedef struct CUstream_st *CUstream;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct cudaArray *cudaArray_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef struct CUextMemory_st *CUexternalMemory;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef unsigned long long cuuint64_t;

enum {
	CU_MEM_LOCATION_TYPE_DEVICE = 1, /* every other type of location is on the host */
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

/* --- parameters that pass through unread ---------------------------------------------------- */

typedef struct CUmemAccessDesc_st CUmemAccessDesc;
typedef struct CUmemPoolPtrExportData_st CUmemPoolPtrExportData;
typedef struct CUarrayMapInfo_st CUarrayMapInfo;
typedef struct CUmulticastObjectProp_st CUmulticastObjectProp;
typedef struct CUgraphEdgeData_st CUgraphEdgeData;
typedef struct CUctxCreateParams_st CUctxCreateParams;
typedef struct CUexecAffinityParam_st CUexecAffinityParam;
struct cudaMemPoolPtrExportData;

typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st CUDA_GRAPH_INSTANTIATE_PARAMS;

/* Enums in the toolkit. */
typedef unsigned int CUjit_option;
typedef unsigned int CUlibraryOption;
typedef unsigned int CUfunction_attribute;
typedef unsigned int CUlimit;
typedef unsigned int CUmemAllocationHandleType;
typedef unsigned int CUmemPool_attribute;
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };

typedef struct CUipcMemHandle_st {
	char reserved[64];
} CUipcMemHandle, cudaIpcMemHandle_t;

/* --- pools and graphs' nodes ---------------------------------------------------------------- */

typedef struct CUmemPoolProps_st {
	int allocType;
	int handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;

struct cudaMemPoolProps;

/* The runtime's is laid out as the driver's, as others below are. */
typedef struct cudaMemAllocNodeParams {
	CUmemPoolProps poolProps;
	const void *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct CUgraphNodeParams_st {
	int type;
	int reserved0[3];
	union {
		long long reserved1[29];
		CUDA_MEM_ALLOC_NODE_PARAMS alloc;
	};
	long long reserved2;
} CUgraphNodeParams;

/* --- arrays and external memory ------------------------------------------------------------- */

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
	size_t Width, Height;
	unsigned int Format; /* enum CUarray_format of cuda.h */
	unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
	size_t Width, Height, Depth;
	unsigned int Format;
	unsigned int NumChannels;
	unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

struct cudaExtent {
	size_t width, height, depth;
};

struct cudaPitchedPtr {
	void *ptr;
	size_t pitch, xsize, ysize;
};

struct cudaChannelFormatDesc {
	int x, y, z, w; /* bits of each channel */
	int f;          /* enum cudaChannelFormatKind */
};

/* Of the newest runtime: what older ones lack is at the end, and not read. */
typedef struct cudaExternalMemoryHandleDesc {
	int type;
	union {
		int fd;
		struct {
			void *handle;
			const void *name;
		} win32;
	} handle;
	unsigned long long size;
	unsigned int flags;
} CUDA_EXTERNAL_MEMORY_HANDLE_DESC;

typedef struct cudaExternalMemoryBufferDesc {
	unsigned long long offset, size;
	unsigned int flags;
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC;

struct cudaExternalMemoryMipmappedArrayDesc {
	unsigned long long offset;
	struct cudaChannelFormatDesc formatDesc;
	struct cudaExtent extent;
	unsigned int flags;
	unsigned int numLevels;
};

typedef struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_st {
	unsigned long long offset;
	CUDA_ARRAY3D_DESCRIPTOR arrayDesc;
	unsigned int numLevels;
} CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC;

typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;

#endif
