/* A caching allocator of one segment, which tells of its blocks as PyTorch's does; for backward.py.
 */
#include <stdint.h>

#include "cuda_runtime.h"

#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

enum { SEGMENT = 64 << 20, CUDA = 1 };

/* Of libc10.c, through the PLT. */
void REPORT(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device);
void block(int64_t size);

static char *segment;
static uint64_t allocated;

void block(int64_t size)
{
	char *at;

	if (!segment)
		cudaMalloc((void **)&segment, SEGMENT);
	at = segment + allocated;
	allocated += (uint64_t)size;
	REPORT(at, size, allocated, SEGMENT, CUDA);
}
