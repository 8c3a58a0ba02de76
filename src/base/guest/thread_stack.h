/*
 * The stack that the system gave this thread: it lives as long as the thread does. Others that a
 * program gives it (makecontext(), sigaltstack()) may be unmapped while we remember something
 * there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
extern _Thread_local struct thread_stack {
	uintptr_t low, high; /* what is known of it */
} thread_stack;
#pragma GCC visibility pop

/* Looks further than what is known: a system call a page. */
bool thread_stack_reaches(uintptr_t address);

/* False also where nobody can tell. */
static inline bool thread_stack_has(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	return (at >= thread_stack.low && at < thread_stack.high) || thread_stack_reaches(at);
}
