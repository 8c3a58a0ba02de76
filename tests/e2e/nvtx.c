/*
 * Ranges and marks of NVTX 3, of every kind, around allocations. Ends with 77 where it was built
 * without NVTX's headers.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#if __has_include("/usr/local/cuda/include/nvtx3/nvToolsExt.h")
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#include "/usr/local/cuda/include/nvtx3/nvToolsExt.h"

#define MIB ((size_t)1 << 20)

static void *take(size_t size)
{
	void *ptr = NULL;

	if (cudaMalloc(&ptr, size))
		exit(1);
	return ptr;
}

static nvtxEventAttributes_t message(nvtxMessageType_t type, nvtxMessageValue_t value)
{
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = type,
					     .message = value };

	return attributes;
}

static void *cross(void *range)
{
	take(MIB);
	nvtxRangeEnd(*(nvtxRangeId_t *)range);
	return NULL;
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxStringHandle_t kept = nvtxDomainRegisterStringA(domain, "registered");
	nvtxEventAttributes_t ascii =
		message(NVTX_MESSAGE_TYPE_ASCII, (nvtxMessageValue_t){ .ascii = "in domain" });
	nvtxEventAttributes_t registered =
		message(NVTX_MESSAGE_TYPE_REGISTERED, (nvtxMessageValue_t){ .registered = kept });
	nvtxEventAttributes_t wide = message(NVTX_MESSAGE_TYPE_UNICODE,
					     (nvtxMessageValue_t){ .unicode = L"gr\u00f6\u00dfe" });
	nvtxEventAttributes_t full =
		message(NVTX_MESSAGE_TYPE_ASCII, (nvtxMessageValue_t){ .ascii = "full" });
	nvtxRangeId_t first, second;
	pthread_t thread;

	nvtxMarkA("before CUDA");
	nvtxRangePushA("step");
	take(MIB);
	nvtxRangePushEx(&wide);
	cudaFree(take(2 * MIB));
	nvtxRangePop();
	/* Started and ended, not nested: they overlap. */
	first = nvtxRangeStartA("first");
	take(MIB);
	second = nvtxDomainRangeStartEx(domain, &registered);
	take(MIB);
	nvtxRangeEnd(first);
	take(MIB);
	nvtxDomainRangeEnd(domain, second);
	nvtxRangePop();
	nvtxDomainRangePushEx(domain, &ascii);
	take(4 * MIB);
	nvtxDomainRangePop(domain);
	nvtxDomainMarkEx(domain, &registered);
	nvtxMarkA("end");
	nvtxRangePop(); /* one too many */
	nvtxDomainNameCategoryA(domain, 7, "kernels");
	full.category = 7;
	full.colorType = NVTX_COLOR_ARGB;
	full.color = 0x0076b900;
	full.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	full.payload.iValue = -5;
	nvtxDomainRangePushEx(domain, &full);
	nvtxDomainRangePop(domain);
	full.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	full.payload.fValue = 0.25F;
	nvtxMarkEx(&full);
	/* Begun here, ended on another thread. */
	first = nvtxRangeStartA("crossing");
	if (pthread_create(&thread, NULL, cross, &first) || pthread_join(thread, NULL))
		return 1;
	nvtxRangePushA("left open");
	take(MIB);
	nvtxDomainDestroy(domain);
	puts("done");
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
