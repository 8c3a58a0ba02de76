/*
 * Asserts in debug builds (`make DEBUG=1`) that this library holds no lock when it calls the
 * dynamic loader, and that a hook allocates nothing on the heap (base/guest/debug_checks.h).
 *
 * The linker redirects this library's calls of these loader functions to here (--wrap). dlsym and
 * the real dlclose are called through pointers: find_cuda() and find_runtime() (resolve.c) make the
 * check before dlsym. The heap's functions are exported, because libunwind, the loader and libc
 * allocate on our behalf; not with ThreadSanitizer, whose own heap they would replace.
 */
#include "base/guest/debug_checks.h"

#ifdef MEMTRACE_DEBUG

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

typedef int each_fn(struct dl_phdr_info *, size_t, void *);

#define WRAP(result, name, params, args)                                   \
	result __real_##name params;                                       \
	__attribute__((visibility("hidden"))) result __wrap_##name params; \
	result __wrap_##name params                                        \
	{                                                                  \
		watch_host(#name);                                         \
		return __real_##name args;                                 \
	}

WRAP(void *, dlopen, (const char *path, int flags), (path, flags))
WRAP(int, dlclose, (void *handle), (handle))
WRAP(int, dladdr, (const void *address, Dl_info *info), (address, info))
WRAP(int, dladdr1, (const void *address, Dl_info *info, void **extra, int flags),
     (address, info, extra, flags))

int __real_dl_iterate_phdr(each_fn *each, void *data);
__attribute__((visibility("hidden"))) int __wrap_dl_iterate_phdr(each_fn *each, void *data);
int __wrap_dl_iterate_phdr(each_fn *each, void *data)
{
	int result;

	watch_host("dl_iterate_phdr");
	watch_listing(true);
	result = __real_dl_iterate_phdr(each, data);
	watch_listing(false);
	return result;
}

#ifndef __SANITIZE_THREAD__

/* Defines an exported heap function that checks that no hook is running, then calls glibc's own,
 * which has a second name: __libc_malloc etc. (version GLIBC_2.2.5 on x86-64, 2.17 on arm64). */
#define HEAP(result, name, params, args)                           \
	result __libc_##name params;                               \
	__attribute__((visibility("default"))) result name params; \
	result name params                                         \
	{                                                          \
		watch_malloc(#name);                               \
		return __libc_##name args;                         \
	}

HEAP(void *, malloc, (size_t size), (size))
HEAP(void *, calloc, (size_t count, size_t size), (count, size))
HEAP(void *, realloc, (void *block, size_t size), (block, size))
HEAP(void, free, (void *block), (block))

#endif
#endif
