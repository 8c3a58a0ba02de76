/*
 * The stack that the system gave this thread, which lives as long as the thread. Stacks that a
 * program makes itself (makecontext(), sigaltstack()) may be unmapped while the library remembers
 * an address on them.
 */
#pragma once

#include <stdbool.h>

/* True if the address lies there. Beyond the part that is known, the search takes a system call for
 * each page. False also where these are forbidden. */
bool thread_stack_has(const void *address);
