/*
 * System calls that bypass libc.
 *
 * The constructor uses them, because touching a page of libc for the first time takes longer than
 * the system call. Work with files uses them, because another preloaded library may replace
 * functions of libc, and may have run its destructors when this one still works (as libfaketime
 * does with fstat()). The thread of base/guest/own_stack_and_thread.h uses them, because it shares
 * thread-local storage, and so errno, with another thread.
 */
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

/* Makes a system call. Returns its result, or -errno. */
static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
#error "raw_call6() is not written for this processor"
#endif
}

static inline long raw_call(long number, long a, long b, long c)
{
	return raw_call6(number, a, b, c, 0, 0, 0);
}

static inline long raw_address(const void *pointer)
{
	return (long)(uintptr_t)pointer;
}

/* Calls futex(2). `patience` is the longest wait, a struct timespec; NULL for no limit. */
static inline long raw_futex(const void *word, int operation, int value, const void *patience)
{
	return raw_call6(SYS_futex, raw_address(word), operation, value, raw_address(patience), 0,
			 0);
}
