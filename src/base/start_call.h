/*
 * System calls for the constructor, past libc: a page of libc that nobody has touched yet costs a
 * short process more than the call.
 */
#ifndef BASE_START_CALL_H
#define BASE_START_CALL_H

#include <sys/syscall.h>
#include <unistd.h>

/* Negative for an error. errno, which only some machines touch here, is for the constructor to
 * keep.
 */
static inline long start_call(long number, long a, const void *b)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b)
			 : "rcx", "r11", "memory");
	return result;
#else
	return syscall(number, a, b);
#endif
}

#endif
