/*
 * Finds out whether an address is on the stack that this thread began with, which is mapped as long
 * as the thread runs. Stacks that a program makes itself (makecontext(), sigaltstack()) may be
 * unmapped while the library remembers an address on them.
 */
#pragma once

#include <stdbool.h>

/* True if the address is on this thread's stack, at most 1 MiB below the lowest address that
 * earlier calls found. Each page that was not tested before takes a system call; if a sandbox
 * forbids these calls, only the 32 KiB at the highest addresses count as stack. */
bool thread_stack_has(const void *address);
