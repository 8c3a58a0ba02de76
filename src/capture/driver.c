/* What we ask the CUDA driver. */
#include "capture/driver.h"

#include <string.h>

#include "base/text.h"
#include "capture/resolve.h"

/* The functions asked, by their ABI names. */
#define QUESTIONS(X)                                                              \
	X(cuCtxGetDevice, (CUdevice * device))                                    \
	X(cuPointerGetAttribute, (void *data, int attribute, CUdeviceptr ptr))    \
	X(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value)) \
	X(cuStreamIsCapturing, (CUstream stream, int *status))                    \
	X(cuMemGetInfo_v2, (size_t * left, size_t * total))                       \
	X(cuDeviceGetName, (char *name, int length, CUdevice device))             \
	X(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                      \
	X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                   \
	X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                 \
	X(cuDriverGetVersion, (int *version))

enum question {
#define X(name, params) ASK_##name,
	QUESTIONS(X)
#undef X
		QUESTION_COUNT
};

#define X(name, params) typedef CUresult ask_fn_##name params;
QUESTIONS(X)
#undef X

static const char *const names[QUESTION_COUNT] = {
#define X(name, params) #name,
	QUESTIONS(X)
#undef X
};

static void *function(enum question question)
{
	static _Atomic(void *) known[QUESTION_COUNT];
	void *f = atomic_load_explicit(&known[question], memory_order_relaxed);

	if (!f) {
		f = resolve_cuda(names[question]);
		atomic_store_explicit(&known[question], f, memory_order_relaxed);
	}
	return f;
}

/* True when the function is there and succeeded. */
#define ASK(name, ...)           \
	(function(ASK_##name) && \
	 ((ask_fn_##name *)function(ASK_##name))(__VA_ARGS__) == CUDA_SUCCESS)

int driver_device(void)
{
	CUdevice device;

	return ASK(cuCtxGetDevice, &device) ? device : -1;
}

int driver_device_of(uint64_t ptr)
{
	int device;

	if (ASK(cuPointerGetAttribute, &device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr))
		return device;
	return driver_device();
}

uint64_t driver_pool_of(uint64_t ptr)
{
	CUmemoryPool pool = NULL;

	if (!ASK(cuPointerGetAttribute, &pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, ptr))
		return 0;
	return (uint64_t)pool;
}

uint64_t driver_pool_reserved(uint64_t pool)
{
	cuuint64_t bytes = 0;

	if (!ASK(cuMemPoolGetAttribute, (CUmemoryPool)pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
		 &bytes))
		return 0;
	return bytes;
}

bool driver_capturing(uint64_t stream)
{
	int status = CU_STREAM_CAPTURE_STATUS_NONE;

	return ASK(cuStreamIsCapturing, (CUstream)stream, &status) &&
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

uint64_t driver_used(void)
{
	size_t left;
	size_t total;

	return ASK(cuMemGetInfo_v2, &left, &total) && left <= total ? total - left : 0;
}

static void print_uuid(const CUuuid *uuid, char *text)
{
	static const char digits[] = "0123456789abcdef";

	memcpy(text, "GPU-", 4);
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
	size_t total;

	memset(facts, 0, sizeof(*facts));
	if (!ASK(cuDeviceGetName, facts->name, sizeof(facts->name) - 1, device))
		return false;
	if (ASK(cuDeviceTotalMem_v2, &total, device))
		facts->total_bytes = total;
	if (ASK(cuDeviceGetUuid_v2, &uuid, device) || ASK(cuDeviceGetUuid, &uuid, device))
		print_uuid(&uuid, facts->uuid);
	return true;
}

int driver_version(void)
{
	int version;

	return ASK(cuDriverGetVersion, &version) ? version : 0;
}
