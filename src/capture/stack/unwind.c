/* Lists this thread's native return addresses, by libunwind (loaded at run time) or backtrace(). */
#include "capture/stack/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guest/debug_checks.h"
#include "base/guest/hot.h"
#include "base/guest/own_stack_and_thread.h"
#include "base/guest/raw_call.h"
#include "base/guest/safe_read.h"
#include "base/text/text.h"
#include "capture/loader/loader.h"

#if defined(__x86_64__)
#define ARCH "_ULx86_64_"
#elif defined(__aarch64__)
#define ARCH "_ULaarch64_"
#endif

enum {
	UNW_CACHE_PER_THREAD = 2,
	NO_DESCRIPTOR = -7,
	SIGNAL_MOST = 64, /* number of frames that are searched for a signal handler's frame */
};

HOT_THREAD _Thread_local bool unwind_met;
HOT_DATA _Atomic int unwind_cares;

static struct {
	_Atomic(const char *) name;
	int (*walk)(void **, int); /* libunwind's unw_backtrace(), NULL without libunwind */
} unwinder;

/* Loads libunwind, and the liblzma that it needs, from this library's directory. */
static void *open_beside(void)
{
	static char path[4096]; /* static: may be too large for the stack; used once */
	Dl_info info;

	if (!dladdr((void *)unwind_prepare, &info) || !info.dli_fname)
		return NULL;
	text_beside(path, sizeof(path), info.dli_fname, "liblzma.so.5");
	dlopen(path, RTLD_NOW | RTLD_LOCAL);
	text_beside(path, sizeof(path), info.dli_fname, "libunwind.so.8");
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* True under valgrind's memcheck, which reports libunwind's tests for mapped memory as errors. */
static bool under_memcheck(void)
{
	const char *preloads = getenv("LD_PRELOAD");

	return preloads && strstr(preloads, "/vgpreload_memcheck");
}

/*
 * Replacements for libc functions that libunwind calls. To test whether memory is mapped, libunwind
 * writes a byte of it into a pipe, which it leaves open. A daemon closes all descriptors that it
 * finds, so the pipe's number may later be that of another file. libunwind also opens the files of
 * libraries without tables in memory. With these functions libunwind gets no descriptors.
 */
static int no_pipe(int *descriptors, int flags)
{
	(void)flags;
	descriptors[0] = descriptors[1] = NO_DESCRIPTOR;
	return 0;
}

/* Replaces read() and open(), and always fails. */
static long refuse(void)
{
	errno = EAGAIN;
	return -1;
}

static ssize_t is_there(int fd, const void *bytes, size_t size)
{
	uintptr_t page = (uintptr_t)bytes & ~(uintptr_t)(getpagesize() - 1);
	unsigned char kept = 0;
	char byte;

	(void)fd;
	/* If a sandbox forbids peek(), checks at least that the page is mapped. */
	if (peek(&byte, bytes, 1) || (!peek(&byte, &kept, 1) && !mincore((void *)page, 1, &kept)))
		return (ssize_t)size;
	errno = EFAULT;
	return -1;
}

/* Replaces syscall(), by which libunwind 1.6 calls write(). Other calls are passed on. */
static long call_or_answer(long number, ...)
{
	long words[6];
	va_list list;
	long result;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_write)
		return is_there((int)words[0], (void *)words[1], (size_t)words[2]);
	result = raw_call6(number, words[0], words[1], words[2], words[3], words[4], words[5]);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

static void take_descriptors(void *libunwind)
{
	libc_binding_replace(libunwind, "pipe2", (void *)no_pipe);
	libc_binding_replace(libunwind, "read", (void *)refuse);
	libc_binding_replace(libunwind, "write", (void *)is_there);
	libc_binding_replace(libunwind, "syscall", (void *)call_or_answer);
	libc_binding_replace(libunwind, "open", (void *)refuse);
}

static int (*find_libunwind(void))(void **, int)
{
	void (*set_caching)(void *, int);
	void **space;
	int (*backtrace_fn)(void **, int);
	void *handle;

	/* libunwind takes a lock when a thread ends. ThreadSanitizer, which intercepts
	 * pthread_mutex_lock(), has forgotten the thread by then and would end the program. */
	if (under_memcheck() || resolve_dlsym(RTLD_DEFAULT, "__tsan_init"))
		return NULL;
	handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		handle = open_beside();
	if (!handle)
		return NULL;
	take_descriptors(handle);
	*(void **)&backtrace_fn = resolve_dlsym(handle, "unw_backtrace");
	*(void **)&set_caching = resolve_dlsym(handle, ARCH "set_caching_policy");
	space = resolve_dlsym(handle, ARCH "local_addr_space");
	/* One cache for each thread, because a shared cache has a lock. */
	if (set_caching && space)
		set_caching(*space, UNW_CACHE_PER_THREAD);
	return backtrace_fn;
}

void unwind_prepare(void)
{
	void *prime[4];

	if (atomic_load(&unwinder.name))
		return;
	unwinder.walk = find_libunwind();
	if (unwinder.walk) {
		/* libunwind's first walk calls pthread_once(). If a signal handler interrupted that
		 * walk and walked as well, the handler would wait for its own thread for ever. */
		unwinder.walk(prime, 4);
		atomic_store(&unwinder.name, "libunwind");
		return;
	}
	backtrace(prime, 4); /* the first call loads libgcc_s */
	/* Turns off the walks of cfi_walk.c and predict.c: they may read uninitialized memory. */
	if (under_memcheck())
		unwind_careful(true);
	atomic_store(&unwinder.name, "glibc");
}

struct walking {
	void **addresses;
	size_t capacity;
	int count;
};

static void walk(void *argument)
{
	struct walking *walking = argument;
	char *caller = __builtin_return_address(0);
	void **addresses = walking->addresses;

	loader_enter();
	if (!unwinder.walk || atomic_load_explicit(&unwind_cares, memory_order_relaxed))
		walking->count = backtrace(addresses, (int)walking->capacity);
	else
		walking->count = unwinder.walk(addresses, (int)walking->capacity);
	/* Most walks of libunwind 1.3 return addresses of a call's last byte: add that byte. */
	for (int i = walking->count - 1; i > 0 && addresses[1] == caller - 1; i--)
		addresses[i] = (char *)addresses[i] + 1;
	loader_leave();
}

size_t unwind(void **addresses, size_t capacity)
{
	struct walking walking = { addresses, capacity, 0 };
	const char *path;

	if (!atomic_load_explicit(&unwinder.name, memory_order_acquire) ||
	    atomic_load_explicit(&loader_silent, memory_order_relaxed))
		return 0;
	path = watch_walk();
	own_stack_call(walk, &walking);
	unwind_met = true;
	watch_path(path);
	return walking.count > 0 ? (size_t)walking.count : 0;
}

/* True if signal handlers return to this address; unwinders find a handler's frame by it. */
static bool is_sigreturn(const void *address)
{
#if defined(__x86_64__) /* mov $__NR_rt_sigreturn,%rax; syscall */
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
#elif defined(__aarch64__) /* mov x8, #__NR_rt_sigreturn; svc #0 */
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
#endif
	uint8_t found[sizeof(code)];

	return peek(found, address, sizeof(found)) && !memcmp(found, code, sizeof(code));
}

enum unwind_found unwind_until(const void *until)
{
	void *addresses[SIGNAL_MOST];
	size_t count = unwind(addresses, SIGNAL_MOST);

	for (size_t i = 0; i < count; i++) {
		if (addresses[i] == until)
			return UNWIND_CAME;
		if (is_sigreturn(addresses[i]))
			return UNWIND_SIGNAL;
	}
	return UNWIND_LOST;
}

bool unwind_signal_in_us(void)
{
	void *addresses[SIGNAL_MOST];
	size_t count = unwind(addresses, SIGNAL_MOST);
	bool signal = false;

	for (size_t i = 0; i < count; i++) {
		if (signal && resolve_is_ours(addresses[i]))
			return true;
		signal |= is_sigreturn(addresses[i]);
	}
	return false;
}

void unwind_careful(bool careful)
{
	void *prime[4];

	if (careful && atomic_load(&unwinder.name))
		backtrace(prime, 4);
	atomic_fetch_add(&unwind_cares, careful ? 1 : -1);
}

const char *unwind_name(void)
{
	return atomic_load(&unwinder.name);
}
