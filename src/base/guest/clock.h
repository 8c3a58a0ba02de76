/* Time in nanoseconds: CLOCK_MONOTONIC through the vDSO, no system call. */
#ifndef BASE_GUEST_CLOCK_H
#define BASE_GUEST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_realtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
