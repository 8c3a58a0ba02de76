/* Finds the address range of a thread's own stack, page by page from its highest address down. */
#include "base/guest/thread_stack.h"

#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/guest/hot.h"
#include "base/guest/raw_call.h"
#include "base/guest/safe_read.h"

enum { PAGE = 4096, MOST = 1 << 20 }; /* MOST: bytes below `low` that a call searches */

/* The part of this thread's stack that was found so far, from address `low` to `high`. */
static HOT_THREAD _Thread_local struct {
	uintptr_t low, high;
} thread_stack;

/*
 * Finds the outer end (highest address) of the stack. On the first thread the kernel's random bytes
 * (AT_RANDOM) lie there, on other threads glibc's thread-local storage. If a sandbox forbids
 * testing memory, the eight pages below that end are assumed to be stack.
 */
static void find_stack(void)
{
	bool first = raw_call(SYS_gettid, 0, 0, 0) == getpid();
	uintptr_t high = first ? getauxval(AT_RANDOM) : (uintptr_t)(void *)&thread_stack;
	char byte;

	thread_stack.low = high - (peek(&byte, &byte, 1) ? 0 : 8 * (uintptr_t)PAGE);
	/* `high` is written last, because a signal handler that runs in between must still see it
	 * as 0. */
	*(volatile uintptr_t *)&thread_stack.high = high;
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
