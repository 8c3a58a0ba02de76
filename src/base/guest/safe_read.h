/*
 * Reading memory of this process that may be unmapped: a stack that was given back, code that was
 * unloaded. It takes a system call. False if not all of it can be read, or if a sandbox forbids
 * that (seccomp).
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
