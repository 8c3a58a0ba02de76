/*
 * Copies memory of this process that may be unmapped (a freed stack, unloaded code), by a system
 * call. peek() returns false if a byte cannot be read, or if a sandbox (seccomp) forbids the call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/guest/raw_call.h"

static inline bool peek(void *to, const void *from, size_t size)
{
	struct iovec here = { to, size };
	struct iovec there = { (void *)from, size };

	return raw_call6(SYS_process_vm_readv, getpid(), raw_address(&here), 1, raw_address(&there),
			 1, 0) == (long)size;
}
