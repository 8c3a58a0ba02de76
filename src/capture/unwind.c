/* This thread's native return addresses: libunwind by dlopen, glibc's backtrace() without it. */
#include "capture/unwind.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/watch.h"
#include "capture/loader.h"
#include "capture/resolve.h"

#if defined(__x86_64__)
#define ARCH "_ULx86_64_"
#elif defined(__aarch64__)
#define ARCH "_ULaarch64_"
#endif

enum { UNW_CACHE_PER_THREAD = 2 };

static struct {
	_Atomic(const char *) name;
	int (*backtrace)(void **, int);
	_Atomic int careful;
} unwinder;

/* Also beside this library, for machines where one cannot install: with the liblzma that it needs.
 */
static void *open_beside(void)
{
	char path[4096];
	char *end;
	Dl_info info;

	if (!dladdr((void *)unwind_prepare, &info) || !info.dli_fname)
		return NULL;
	text_copy(path, sizeof(path), info.dli_fname);
	end = strrchr(path, '/');
	if (!end)
		return NULL;
	end[1] = '\0';
	text_append(path, sizeof(path), "liblzma.so.5");
	dlopen(path, RTLD_NOW | RTLD_LOCAL);
	end[1] = '\0';
	text_append(path, sizeof(path), "libunwind.so.8");
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* libunwind asks the kernel whether memory is mapped by writing from it: an error to memcheck. */
static bool under_memcheck(void)
{
	const char *preloads = getenv("LD_PRELOAD");

	return preloads && strstr(preloads, "/vgpreload_memcheck");
}

static int (*find_libunwind(void))(void **, int)
{
	void (*set_caching)(void *, int);
	void **space;
	int (*backtrace_fn)(void **, int);
	void *handle;

	if (under_memcheck())
		return NULL;
	handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		handle = open_beside();
	if (!handle)
		return NULL;
	*(void **)&backtrace_fn = resolve_dlsym(handle, "unw_backtrace");
	*(void **)&set_caching = resolve_dlsym(handle, ARCH "set_caching_policy");
	space = resolve_dlsym(handle, ARCH "local_addr_space");
	/* One cache a thread: the shared one is behind a lock. */
	if (set_caching && space)
		set_caching(*space, UNW_CACHE_PER_THREAD);
	return backtrace_fn;
}

void unwind_prepare(void)
{
	void *prime[4];

	if (atomic_load(&unwinder.name))
		return;
	unwinder.backtrace = find_libunwind();
	if (unwinder.backtrace) {
		atomic_store(&unwinder.name, "libunwind");
		return;
	}
	unwinder.backtrace = backtrace;
	backtrace(prime, 4); /* the first call loads libgcc_s */
	atomic_store(&unwinder.name, "glibc");
}

size_t unwind(void **addresses, size_t capacity)
{
	const char *path;
	int count;

	if (!atomic_load_explicit(&unwinder.name, memory_order_acquire))
		return 0;
	path = watch_walk();
	loader_enter();
	if (__builtin_expect(atomic_load_explicit(&unwinder.careful, memory_order_relaxed), 0))
		count = backtrace(addresses, (int)capacity);
	else
		count = unwinder.backtrace(addresses, (int)capacity);
	loader_leave();
	watch_path(path);
	return count > 0 ? (size_t)count : 0;
}

void unwind_careful(bool careful)
{
	void *prime[4];

	if (careful && atomic_load(&unwinder.name))
		backtrace(prime, 4);
	atomic_fetch_add(&unwinder.careful, careful ? 1 : -1);
}

const char *unwind_name(void)
{
	return atomic_load(&unwinder.name);
}
