/*
 * cuGetProcAddress: which function a name means to a program of some CUDA version.
 *
 * The pointer is the one that dlsym gives, which needs the library linked with -Bsymbolic: without
 * it a preloaded library that defines the same names would fill this table with its own.
 */
#include "fake.h"

#include <string.h>

typedef void any_fn(void);

/* Some are declared nowhere here: only their addresses count. */
#define DECLARE_RT(name)
#define DECLARE_DRV(name) extern any_fn address_of_##name __asm__(#name);
#define CALL(api, name, ...) DECLARE_##api(name)
#define CALLS(twin, api, name, ...) DECLARE_##api(name) DECLARE_##api(name##twin)
#include "../../src/capture/loader/counted_calls.def"

struct entry {
	const char *name;
	int since; /* 1000 * major + 10 * minor */
	any_fn *function;
	any_fn *per_thread; /* its twin for a default stream per thread, or NULL */
};

/* clang-format off */
#define ENTRY(name, since, symbol) { #name, since, (any_fn *)symbol, NULL },
#define TWINS(name, since, symbol) { #name, since, (any_fn *)symbol, (any_fn *)symbol##_ptsz },

/* Rows of one name stand together, older before newer. */
static const struct entry entries[] = {
	ENTRY(cuInit,                         2000,  cuInit)
	ENTRY(cuDriverGetVersion,             2020,  cuDriverGetVersion)
	ENTRY(cuGetErrorName,                 6000,  cuGetErrorName)
	ENTRY(cuGetErrorString,               6000,  cuGetErrorString)
	ENTRY(cuGetProcAddress,              11030,  cuGetProcAddress)
	ENTRY(cuGetProcAddress,              12000,  cuGetProcAddress_v2)
	ENTRY(cuDeviceGet,                    2000,  cuDeviceGet)
	ENTRY(cuDeviceGetCount,               2000,  cuDeviceGetCount)
	ENTRY(cuDeviceGetName,                2000,  cuDeviceGetName)
	ENTRY(cuDeviceGetUuid,                9020,  cuDeviceGetUuid)
	ENTRY(cuDeviceGetUuid,               11040,  cuDeviceGetUuid_v2)
	ENTRY(cuDeviceTotalMem,               3020,  cuDeviceTotalMem_v2)
	ENTRY(cuDeviceGetAttribute,           2000,  cuDeviceGetAttribute)
	ENTRY(cuDeviceGetDefaultMemPool,     11020,  cuDeviceGetDefaultMemPool)
	ENTRY(cuDeviceGetMemPool,            11020,  cuDeviceGetMemPool)
	ENTRY(cuDeviceSetMemPool,            11020,  cuDeviceSetMemPool)
	ENTRY(cuDevicePrimaryCtxRetain,       7000,  cuDevicePrimaryCtxRetain)
	ENTRY(cuDevicePrimaryCtxRelease,      7000,  cuDevicePrimaryCtxRelease)
	ENTRY(cuDevicePrimaryCtxRelease,     11000,  cuDevicePrimaryCtxRelease_v2)
	ENTRY(cuDevicePrimaryCtxReset,        7000,  cuDevicePrimaryCtxReset)
	ENTRY(cuDevicePrimaryCtxReset,       11000,  cuDevicePrimaryCtxReset_v2)
	ENTRY(cuDevicePrimaryCtxGetState,     7000,  cuDevicePrimaryCtxGetState)
	ENTRY(cuCtxCreate,                    3020,  cuCtxCreate_v2)
	ENTRY(cuCtxCreate,                   11040,  cuCtxCreate_v3)
	ENTRY(cuCtxCreate,                   12050,  cuCtxCreate_v4)
	ENTRY(cuCtxDestroy,                   2000,  cuCtxDestroy)
	ENTRY(cuCtxDestroy,                   4000,  cuCtxDestroy_v2)
	ENTRY(cuCtxPushCurrent,               4000,  cuCtxPushCurrent_v2)
	ENTRY(cuCtxPopCurrent,                4000,  cuCtxPopCurrent_v2)
	ENTRY(cuCtxSetCurrent,                4000,  cuCtxSetCurrent)
	ENTRY(cuCtxGetCurrent,                4000,  cuCtxGetCurrent)
	ENTRY(cuCtxGetDevice,                 2000,  cuCtxGetDevice)
	ENTRY(cuStreamCreate,                 2000,  cuStreamCreate)
	ENTRY(cuStreamDestroy,                2000,  cuStreamDestroy)
	ENTRY(cuStreamDestroy,                4000,  cuStreamDestroy_v2)
	ENTRY(cuStreamBeginCapture,          10010,  cuStreamBeginCapture_v2)
	ENTRY(cuStreamEndCapture,            10000,  cuStreamEndCapture)
	ENTRY(cuStreamIsCapturing,           10000,  cuStreamIsCapturing)
	ENTRY(cuMemGetInfo,                   3020,  cuMemGetInfo_v2)
	ENTRY(cuMemAlloc,                     2000,  cuMemAlloc)
	ENTRY(cuMemAlloc,                     3020,  cuMemAlloc_v2)
	ENTRY(cuMemAllocPitch,                3020,  cuMemAllocPitch_v2)
	ENTRY(cuMemFree,                      2000,  cuMemFree)
	ENTRY(cuMemFree,                      3020,  cuMemFree_v2)
	ENTRY(cuMemAllocManaged,              6000,  cuMemAllocManaged)
	ENTRY(cuMemAllocHost,                 2000,  cuMemAllocHost)
	ENTRY(cuMemAllocHost,                 3020,  cuMemAllocHost_v2)
	ENTRY(cuMemHostAlloc,                 2020,  cuMemHostAlloc)
	ENTRY(cuMemFreeHost,                  2000,  cuMemFreeHost)
	ENTRY(cuMemHostRegister,              4000,  cuMemHostRegister)
	ENTRY(cuMemHostRegister,              6050,  cuMemHostRegister_v2)
	ENTRY(cuMemHostUnregister,            4000,  cuMemHostUnregister)
	ENTRY(cuMemGetAddressRange,           3020,  cuMemGetAddressRange_v2)
	ENTRY(cuPointerGetAttribute,          4000,  cuPointerGetAttribute)
	ENTRY(cuArrayCreate,                  3020,  cuArrayCreate_v2)
	ENTRY(cuArray3DCreate,                3020,  cuArray3DCreate_v2)
	ENTRY(cuArrayDestroy,                 2000,  cuArrayDestroy)
	TWINS(cuMemAllocAsync,               11020,  cuMemAllocAsync)
	TWINS(cuMemAllocFromPoolAsync,       11020,  cuMemAllocFromPoolAsync)
	TWINS(cuMemFreeAsync,                11020,  cuMemFreeAsync)
	ENTRY(cuMemPoolCreate,               11020,  cuMemPoolCreate)
	ENTRY(cuMemPoolDestroy,              11020,  cuMemPoolDestroy)
	ENTRY(cuMemPoolTrimTo,               11020,  cuMemPoolTrimTo)
	ENTRY(cuMemPoolSetAttribute,         11020,  cuMemPoolSetAttribute)
	ENTRY(cuMemPoolGetAttribute,         11020,  cuMemPoolGetAttribute)
	ENTRY(cuMemCreate,                   10020,  cuMemCreate)
	ENTRY(cuMemRelease,                  10020,  cuMemRelease)
	ENTRY(cuMemRetainAllocationHandle,   11000,  cuMemRetainAllocationHandle)
	ENTRY(cuMemGetAllocationGranularity, 10020,  cuMemGetAllocationGranularity)
	ENTRY(cuMemAddressReserve,           10020,  cuMemAddressReserve)
	ENTRY(cuMemAddressFree,              10020,  cuMemAddressFree)
	ENTRY(cuMemMap,                      10020,  cuMemMap)
	ENTRY(cuMemUnmap,                    10020,  cuMemUnmap)
	ENTRY(cuMemSetAccess,                10020,  cuMemSetAccess)
	ENTRY(cuPointerGetAttributes,         7000,  cuPointerGetAttributes)
	ENTRY(cuMipmappedArrayCreate,         5000,  cuMipmappedArrayCreate)
	ENTRY(cuMipmappedArrayDestroy,        5000,  cuMipmappedArrayDestroy)
	TWINS(cuMemMapArrayAsync,            11010,  cuMemMapArrayAsync)
	ENTRY(cuIpcGetMemHandle,              4010,  cuIpcGetMemHandle)
	ENTRY(cuIpcOpenMemHandle,             4010,  cuIpcOpenMemHandle)
	ENTRY(cuIpcOpenMemHandle,            11000,  cuIpcOpenMemHandle_v2)
	ENTRY(cuIpcCloseMemHandle,            4010,  cuIpcCloseMemHandle)
	ENTRY(cuImportExternalMemory,        10000,  cuImportExternalMemory)
	ENTRY(cuExternalMemoryGetMappedBuffer, 10000, cuExternalMemoryGetMappedBuffer)
	ENTRY(cuExternalMemoryGetMappedMipmappedArray, 10000, cuExternalMemoryGetMappedMipmappedArray)
	ENTRY(cuDestroyExternalMemory,       10000,  cuDestroyExternalMemory)
	ENTRY(cuMemPoolSetAccess,            11020,  cuMemPoolSetAccess)
	ENTRY(cuMemPoolExportToShareableHandle, 11020, cuMemPoolExportToShareableHandle)
	ENTRY(cuMemPoolImportFromShareableHandle, 11020, cuMemPoolImportFromShareableHandle)
	ENTRY(cuMemPoolExportPointer,        11020,  cuMemPoolExportPointer)
	ENTRY(cuMemPoolImportPointer,        11020,  cuMemPoolImportPointer)
	ENTRY(cuMemExportToShareableHandle,  10020,  cuMemExportToShareableHandle)
	ENTRY(cuMemImportFromShareableHandle, 10020, cuMemImportFromShareableHandle)
	ENTRY(cuMulticastCreate,             12010,  cuMulticastCreate)
	ENTRY(cuMulticastAddDevice,          12010,  cuMulticastAddDevice)
	ENTRY(cuMulticastBindMem,            12010,  cuMulticastBindMem)
	ENTRY(cuMulticastBindAddr,           12010,  cuMulticastBindAddr)
	ENTRY(cuMulticastUnbind,             12010,  cuMulticastUnbind)
	ENTRY(cuGraphCreate,                 10000,  cuGraphCreate)
	ENTRY(cuGraphDestroy,                10000,  cuGraphDestroy)
	ENTRY(cuGraphAddMemAllocNode,        11040,  cuGraphAddMemAllocNode)
	ENTRY(cuGraphAddMemFreeNode,         11040,  cuGraphAddMemFreeNode)
	ENTRY(cuGraphAddNode,                12020,  cuGraphAddNode)
	ENTRY(cuGraphAddNode,                12030,  cuGraphAddNode_v2)
	ENTRY(cuGraphInstantiate,            11040,  cuGraphInstantiateWithFlags)
	ENTRY(cuGraphInstantiateWithFlags,   11040,  cuGraphInstantiateWithFlags)
	TWINS(cuGraphUpload,                 11010,  cuGraphUpload)
	TWINS(cuGraphLaunch,                 10000,  cuGraphLaunch)
	ENTRY(cuGraphExecDestroy,            10000,  cuGraphExecDestroy)
	ENTRY(cuDeviceGraphMemTrim,          11040,  cuDeviceGraphMemTrim)
	ENTRY(cuDeviceGetGraphMemAttribute,  11040,  cuDeviceGetGraphMemAttribute)
	ENTRY(cuCtxSetLimit,                  3010,  cuCtxSetLimit)
	ENTRY(cuCtxGetLimit,                  3010,  cuCtxGetLimit)
	ENTRY(cuCtxEnablePeerAccess,          4000,  cuCtxEnablePeerAccess)
	ENTRY(cuCtxDisablePeerAccess,         4000,  cuCtxDisablePeerAccess)
	ENTRY(cuModuleLoad,                   2000,  cuModuleLoad)
	ENTRY(cuModuleLoadData,               2000,  cuModuleLoadData)
	ENTRY(cuModuleLoadDataEx,             2010,  cuModuleLoadDataEx)
	ENTRY(cuModuleLoadFatBinary,          2000,  cuModuleLoadFatBinary)
	ENTRY(cuModuleUnload,                 2000,  cuModuleUnload)
	ENTRY(cuModuleGetFunction,            2000,  cuModuleGetFunction)
	ENTRY(cuModuleGetGlobal,              3020,  cuModuleGetGlobal_v2)
	ENTRY(cuLibraryLoadData,             12000,  cuLibraryLoadData)
	ENTRY(cuLibraryLoadFromFile,         12000,  cuLibraryLoadFromFile)
	ENTRY(cuLibraryUnload,               12000,  cuLibraryUnload)
	ENTRY(cuLibraryGetKernel,            12000,  cuLibraryGetKernel)
	ENTRY(cuLibraryGetModule,            12000,  cuLibraryGetModule)
	ENTRY(cuLibraryGetGlobal,            12000,  cuLibraryGetGlobal)
	ENTRY(cuKernelGetFunction,           12000,  cuKernelGetFunction)
	ENTRY(cuKernelGetAttribute,          12000,  cuKernelGetAttribute)
	ENTRY(cuKernelSetAttribute,          12000,  cuKernelSetAttribute)
	ENTRY(cuFuncLoad,                    12040,  cuFuncLoad)
	ENTRY(cuFuncGetAttribute,             2020,  cuFuncGetAttribute)
	ENTRY(cuFuncSetAttribute,             9000,  cuFuncSetAttribute)
	ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, cuOccupancyMaxActiveBlocksPerMultiprocessor)
	ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
	TWINS(cuLaunchKernel,                 4000,  cuLaunchKernel)
	TWINS(cuLaunchKernelEx,              11060,  cuLaunchKernelEx)
	TWINS(cuLaunchCooperativeKernel,      9000,  cuLaunchCooperativeKernel)
	ENTRY(cuStreamCreateWithPriority,     5050,  cuStreamCreateWithPriority)
	TWINS(cuGraphInstantiateWithParams,  12000,  cuGraphInstantiateWithParams)
#define CALL_RT(name)
#define CALL_DRV(name) { #name, 2000, address_of_##name, NULL },
#define CALLS_RT(name, twin)
#define CALLS_DRV(name, twin) { #name, 2000, address_of_##name, address_of_##name##twin },
#define CALL(api, name, ...) CALL_##api(name)
#define CALLS(twin, api, name, ...) CALLS_##api(name, twin)
#include "../../src/capture/loader/counted_calls.def"
};
/* clang-format on */

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* The lookup's names are without versions, those of counted_calls.def with. */
static bool is_called(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(symbol, name, length) &&
	       (!symbol[length] || !strcmp(symbol + length, "_v2"));
}

/* The newest row that the version may have; NULL, and why in *reason. */
static const struct entry *entry_find(const char *name, int version,
				      CUdriverProcAddressQueryResult *reason)
{
	const struct entry *found = NULL;

	*reason = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	for (size_t i = 0; i < ENTRIES; i++) {
		if (!is_called(entries[i].name, name))
			continue;
		if (entries[i].since <= version)
			found = &entries[i];
		else if (!found)
			*reason = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
	}
	if (found)
		*reason = CU_GET_PROC_ADDRESS_SUCCESS;
	return found;
}

static bool query_is_valid(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	return symbol && pfn && version <= CUDA_VERSION && flags <= 2;
}

static any_fn *function_of(const struct entry *entry, cuuint64_t flags)
{
	bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

	return per_thread && entry->per_thread ? entry->per_thread : entry->function;
}

/* Of CUDA 12: what is not there is no error, but a status and NULL. */
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbol_status)
{
	CUdriverProcAddressQueryResult reason;
	const struct entry *entry;

	if (!query_is_valid(symbol, pfn, version, flags))
		return CUDA_ERROR_INVALID_VALUE;
	entry = entry_find(symbol, version, &reason);
	*pfn = entry ? (void *)function_of(entry, flags) : NULL;
	if (symbol_status)
		*symbol_status = reason;
	return CUDA_SUCCESS;
}

/* Of CUDA 11.3: what is not there is an error, and *pfn stays as it was. */
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult reason;
	const struct entry *entry;

	if (!query_is_valid(symbol, pfn, version, flags))
		return CUDA_ERROR_INVALID_VALUE;
	entry = entry_find(symbol, version, &reason);
	if (!entry)
		return CUDA_ERROR_NOT_FOUND;
	*pfn = (void *)function_of(entry, flags);
	return CUDA_SUCCESS;
}
