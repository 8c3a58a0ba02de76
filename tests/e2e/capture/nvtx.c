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
#if __has_include("/usr/local/cuda/include/nvtx3/nvToolsExtPayload.h")
#pragma GCC diagnostic ignored "-Wcast-function-type"
#pragma GCC diagnostic ignored "-Wpedantic"
#include "/usr/local/cuda/include/nvtx3/nvToolsExtPayload.h"
#define HAVE_PAYLOAD 1
#endif
#include <stddef.h>

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

/* Ranges that the payload extension closes, as NCCL has them, and those that it names. */
static void payloads(void)
{
#ifdef HAVE_PAYLOAD
	struct named {
		uint64_t number;
		const char *message;
	} named = { 5, "by payload" };
	nvtxDomainHandle_t domain = nvtxDomainCreateA("payload");
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "number" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
		  .type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
		  .name = "message",
		  .offset = offsetof(struct named, message) },
	};
	const nvtxPayloadSchemaAttr_t attributes = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.name = "schema",
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 2,
		.payloadStaticSize = sizeof(struct named),
	};
	nvtxEventAttributes_t ascii = message(NVTX_MESSAGE_TYPE_ASCII,
					      (nvtxMessageValue_t){ .ascii = "closed by payload" });
	nvtxPayloadData_t data = { nvtxPayloadSchemaRegister(domain, &attributes), sizeof(named),
				   &named };
	nvtxRangeId_t range;

	nvtxDomainRangePushEx(domain, &ascii);
	nvtxRangePopPayload(domain, &data, 1);
	nvtxRangePushPayload(domain, &data, 1);
	nvtxRangePopPayload(domain, NULL, 0);
	named.message = NULL;
	range = nvtxRangeStartPayload(domain, &data, 1);
	nvtxRangeEndPayload(domain, range, NULL, 0);
	named.message = "marked by payload";
	nvtxMarkPayload(domain, &data, 1);
#endif
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
	if (nvtxRangePop() >= 0) /* one too many */
		return 2;
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
	payloads();
	nvtxRangePushA("left open");
	take(MIB);
	nvtxDomainDestroy(domain);
	/* As XLA's are, and emit_nvtx's with shapes. */
	nvtxMarkA("aten::convolution, seq = 17, op_id = 42, sizes = [[64, 3, 224, 224], [64, 3, 7, "
		  "7], "
		  "[], [], [], [], [], [], []], input_op_ids = [(41,0), (12,0)], module = "
		  "resnet.conv1");
	nvtxMarkW(NULL); /* nobody reads it where there is no tool */
	puts("done");
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
