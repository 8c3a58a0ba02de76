/*
 * The stack that the system gave this thread: it lives as long as the thread does. Others that a
 * program gives it (makecontext(), sigaltstack()) may be unmapped while we remember something
 * there.
 */
#pragma once

#include <stdbool.h>

/* Does the address lie there? Looks further than what is known by a system call a page. False also
 * where that is forbidden. */
bool thread_stack_has(const void *address);
