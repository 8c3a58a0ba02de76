/* Queries the CUDA driver about contexts, memory, pools and devices, without changing anything. */
#include "capture/cuda/driver.h"

#include <stdatomic.h>
#include <string.h>

#include "base/guest/debug_checks.h"
#include "base/guest/hot.h"
#include "capture/loader/loader.h"

/* The driver's functions, declared for their types only: they are looked up by name, not linked. */
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr);
CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr ptr);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value);
CUresult cuStreamIsCapturing(CUstream stream, int *status);
CUresult cuMemGetInfo_v2(size_t *left, size_t *total);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function);
CUresult cuKernelGetAttribute(int *value, int attribute, CUkernel kernel, CUdevice device);
CUresult cuDriverGetVersion(int *version);

static void *function(_Atomic(void *) *known, const char *name)
{
	void *f = atomic_load_explicit(known, memory_order_relaxed);

	watch_host(name); /* the driver takes locks, so this library must hold none */
	if (!f && resolve_may_ask()) {
		f = resolve_cuda(name);
		atomic_store_explicit(known, f, memory_order_relaxed);
	}
	return f;
}

/* Calls a function of the driver. True if it exists and succeeded. */
#define ASK(name, ...)                                                                      \
	({                                                                                  \
		static _Atomic(void *) known_##name;                                        \
		__typeof__(name) *ask = (__typeof__(name) *)function(&known_##name, #name); \
		const char *path = watch_path(NULL);                                        \
		bool answered = ask && ask(__VA_ARGS__) == CUDA_SUCCESS;                    \
		watch_path(path);                                                           \
		answered;                                                                   \
	})

/* The device of each thread's current context, cached until any context is made or destroyed. */
static _Atomic uint32_t contexts_changed = 1;
static _Thread_local struct {
	CUcontext context;
	int32_t device;
	uint32_t changed; /* contexts_changed at the time of the query, 0 before the first */
} current;

void driver_contexts_changed(void)
{
	atomic_fetch_add(&contexts_changed, 1);
}

HOT_CODE int driver_context(uint64_t *known)
{
	uint32_t changed = atomic_load_explicit(&contexts_changed, memory_order_relaxed);
	CUcontext context = NULL;
	CUdevice device;

	*known = 0;
	if (!ASK(cuCtxGetCurrent, &context) || !context)
		return -1;
	*known = (uint64_t)context;
	if (context == current.context && changed == current.changed)
		return current.device;
	if (!ASK(cuCtxGetDevice, &device))
		return -1;
	current.context = context;
	current.device = device;
	current.changed = changed;
	return device;
}

int driver_device(void)
{
	uint64_t context;

	return driver_context(&context);
}

bool driver_primary_active(int device)
{
	unsigned flags;
	int active;

	return !ASK(cuDevicePrimaryCtxGetState, device, &flags, &active) || active;
}

uint64_t driver_graph_memory(int device, uint64_t *used)
{
	uint64_t reserved;

	if (ASK(cuDeviceGetGraphMemAttribute, device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, used) &&
	    ASK(cuDeviceGetGraphMemAttribute, device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
		&reserved))
		return reserved;
	*used = 0;
	return 0;
}

uint64_t driver_range(uint64_t ptr)
{
	CUdeviceptr base = 0;
	size_t size = 0;

	return ASK(cuMemGetAddressRange_v2, &base, &size, ptr) && base == ptr ? size : 0;
}

void driver_block(uint64_t ptr, struct driver_block *block)
{
	int attributes[] = { CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
			     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
			     CU_POINTER_ATTRIBUTE_IS_MANAGED };
	CUmemoryPool pool = NULL;
	int device = -1;
	unsigned type = 0;
	unsigned managed = 0; /* zeroed: the driver may set only the lowest byte */
	void *data[] = { &pool, &device, &type, &managed };

	if (!ASK(cuPointerGetAttributes, 4, attributes, data, ptr)) {
		pool = NULL;
		device = -1;
		type = managed = 0;
	}
	block->pool = (uint64_t)pool;
	block->device = device >= 0 ? device : driver_device();
	block->managed = managed & 0xff;
	block->host = type == CU_MEMORYTYPE_HOST && !block->managed;
}

uint64_t driver_pool_reserved(uint64_t pool)
{
	const int what = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
	uint64_t bytes;

	return ASK(cuMemPoolGetAttribute, (CUmemoryPool)pool, what, &bytes) ? bytes : 0;
}

bool driver_capturing(uint64_t stream)
{
	int status = CU_STREAM_CAPTURE_STATUS_NONE;

	return ASK(cuStreamIsCapturing, (CUstream)stream, &status) &&
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool driver_memory(uint64_t *left, uint64_t *total)
{
	size_t free_bytes;
	size_t all_bytes;

	if (!ASK(cuMemGetInfo_v2, &free_bytes, &all_bytes) || free_bytes > all_bytes)
		return false;
	*left = free_bytes;
	*total = all_bytes;
	return true;
}

static void print_uuid(const char *kind, const CUuuid *uuid, char *text)
{
	static const char digits[] = "0123456789abcdef";

	memcpy(text, kind, 4);
	text += 4;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*text++ = '-';
		*text++ = digits[(unsigned char)uuid->bytes[i] >> 4];
		*text++ = digits[uuid->bytes[i] & 15];
	}
	*text = '\0';
}

bool driver_facts(int device, struct driver_facts *facts)
{
	CUuuid uuid;
	CUuuid card;
	bool known;
	bool part;
	size_t total;

	memset(facts, 0, sizeof(*facts));
	if (!ASK(cuDeviceGetName, facts->name, sizeof(facts->name) - 1, device))
		return false;
	if (ASK(cuDeviceTotalMem_v2, &total, device))
		facts->total_bytes = total;
	/* For a MIG device, cuDeviceGetUuid_v2 gives its own UUID, cuDeviceGetUuid the card's. */
	known = ASK(cuDeviceGetUuid, &card, device);
	part = ASK(cuDeviceGetUuid_v2, &uuid, device);
	if (part && known && memcmp(&uuid, &card, sizeof(uuid)) != 0)
		print_uuid("MIG-", &uuid, facts->uuid);
	else if (part || known)
		print_uuid("GPU-", part ? &uuid : &card, facts->uuid);
	return true;
}

int driver_version(void)
{
	int version;

	return ASK(cuDriverGetVersion, &version) ? version : 0;
}

uint64_t driver_stack_limit(void)
{
	size_t bytes;

	return ASK(cuCtxGetLimit, &bytes, CU_LIMIT_STACK_SIZE) ? bytes : UINT64_MAX;
}

uint64_t driver_local_bytes(uint64_t asked, bool kernel, int device)
{
	const int what = CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
	int bytes = 0;
	bool told = kernel ? ASK(cuKernelGetAttribute, &bytes, what, (CUkernel)asked, device)
			   : ASK(cuFuncGetAttribute, &bytes, what, (CUfunction)asked);

	return told && bytes > 0 ? (uint64_t)bytes : 0;
}
