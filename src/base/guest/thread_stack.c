/* Where a thread's own stack lies, found page by page from its outer end. */
#include "base/guest/thread_stack.h"

#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/guest/hot.h"
#include "base/guest/safe_read.h"

enum { PAGE = 4096, MOST = 1 << 20 }; /* bytes beyond what is known that are looked at */

/* What is known of it. */
static HOT_THREAD _Thread_local struct {
	uintptr_t low, high;
} thread_stack;

/*
 * The kernel's random bytes lie at the outer end of the first thread's stack; at that of others
 * glibc puts their thread-local storage. Where reading is forbidden, some of it is taken for
 * granted.
 */
static void find_stack(void)
{
	bool first = gettid() == getpid();
	uintptr_t high = first ? getauxval(AT_RANDOM) : (uintptr_t)(void *)&thread_stack;
	char byte;

	thread_stack.low = high - (peek(&byte, &byte, 1) ? 0 : 8 * (uintptr_t)PAGE);
	*(volatile uintptr_t *)&thread_stack.high = high; /* last: a handler may ask in between */
}

HOT_CODE bool thread_stack_has(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	uintptr_t low;
	char byte;

	if (!thread_stack.high)
		find_stack();
	low = thread_stack.low;
	if (address >= thread_stack.high || low - address > MOST)
		return address >= low && address < thread_stack.high;
	while (address < low && peek(&byte, (void *)((low - 1) & -(uintptr_t)PAGE), 1))
		low = (low - 1) & -(uintptr_t)PAGE;
	thread_stack.low = low;
	return address >= low;
}
