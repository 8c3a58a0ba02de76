/* The part of PyTorch's libc10 that reports blocks and failures; for backward.py and oom.py. */
#include <stdbool.h>
#include <stdint.h>

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *ptr, int64_t size,
							   uint64_t allocated, uint64_t reserved,
							   uint64_t device);
void _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(int64_t size, uint64_t allocated,
							 uint64_t reserved, uint64_t device);
bool _ZN3c1022memoryProfilingEnabledEv(void);
long reports(void);
long failures(void);

static long reported, failed;

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *ptr, int64_t size,
							   uint64_t allocated, uint64_t reserved,
							   uint64_t device)
{
	(void)ptr;
	(void)size;
	(void)allocated;
	(void)reserved;
	(void)device;
	__atomic_fetch_add(&reported, 1, __ATOMIC_RELAXED);
}

void _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(int64_t size, uint64_t allocated,
							 uint64_t reserved, uint64_t device)
{
	(void)size;
	(void)allocated;
	(void)reserved;
	(void)device;
	__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
}

bool _ZN3c1022memoryProfilingEnabledEv(void)
{
	return false;
}

/* How many reports came through. */
long reports(void)
{
	return __atomic_load_n(&reported, __ATOMIC_RELAXED);
}

long failures(void)
{
	return __atomic_load_n(&failed, __ATOMIC_RELAXED);
}
