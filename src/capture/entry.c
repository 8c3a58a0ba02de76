/*
 * The doors that are not rows: dlsym (its first instructions are in dlsym.S) and cuGetProcAddress.
 *
 * Rulings: exact names only; ask the real lookup first and swap second; never answer for a function
 * that the machine lacks; RTLD_NEXT belongs to its caller (glibc tells callers apart by the return
 * address, which is why dlsym.S jumps instead of calling).
 *
 * A sanitizer asks dlsym before it can be called itself, so this file is never instrumented.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/start.h"
#include "capture/cupti.h"
#include "capture/doors.h"
#include "capture/resolve.h"

#define EXPORT __attribute__((visibility("default")))

START_DATA void *(*resolve_dlsym)(void *handle, const char *name);
START_DATA void *(*resolve_next_dlsym)(void *handle, const char *name);
START_DATA int (*resolve_dlclose)(void *handle);

/* dlsym moved into libc with 2.34; x86-64 began with 2.2.5, arm64 with 2.17. */
static const char *const dlsym_versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };

START_CODE void resolve_init(void)
{
	for (size_t i = 0; !resolve_dlsym && i < sizeof(dlsym_versions) / sizeof(dlsym_versions[0]);
	     i++)
		*(void **)&resolve_dlsym = dlvsym(RTLD_NEXT, "dlsym", dlsym_versions[i]);
	if (!resolve_dlsym || resolve_dlclose)
		return;
	*(void **)&resolve_next_dlsym = resolve_dlsym(RTLD_NEXT, "dlsym");
	*(void **)&resolve_dlclose = resolve_dlsym(RTLD_NEXT, "dlclose");
}

typedef CUresult get_proc_fn(const char *, void **, int, cuuint64_t);
typedef CUresult get_proc2_fn(const char *, void **, int, cuuint64_t, int *);

EXPORT get_proc_fn cuGetProcAddress;
EXPORT get_proc2_fn cuGetProcAddress_v2;

/* Called by dlsym.S. */
__attribute__((visibility("hidden"))) void *entry_dlsym(void *handle, const char *name,
							void *caller);
__attribute__((visibility("hidden"))) void *entry_real_dlsym(void);
enum { ANSWER_NULL = -1 };

static _Atomic uint64_t counted[DOORS];

void doors_count(enum door door)
{
	atomic_fetch_add_explicit(&counted[door], 1, memory_order_relaxed);
}

uint64_t doors_counted(enum door door)
{
	return atomic_load_explicit(&counted[door], memory_order_relaxed);
}

/* The two lookups of the driver, found by name or by pointer like rows. */
static struct lookup {
	const char *name;
	void *ours;
	_Atomic(void *) real;
} lookups[] = {
	{ "cuGetProcAddress", (void *)cuGetProcAddress, NULL },
	{ "cuGetProcAddress_v2", (void *)cuGetProcAddress_v2, NULL },
};

enum { LOOKUPS = sizeof(lookups) / sizeof(lookups[0]) };

static void *lookup_real(unsigned i)
{
	void *real = atomic_load_explicit(&lookups[i].real, memory_order_relaxed);

	if (!real) {
		real = resolve_cuda(lookups[i].name);
		atomic_store_explicit(&lookups[i].real, real, memory_order_relaxed);
	}
	return real;
}

/*
 * Ours for a name that the real lookup found at `real`; NULL if the pointer is another function
 * than the one we stand in front of (a second runtime, another library's wrapper): then it passes,
 * and the driver beneath it is still seen.
 */
static void *swap_named(const char *name, void *real)
{
	int id = hook_named(name);

	for (unsigned i = 0; i < LOOKUPS; i++) {
		void *none = NULL;

		if (strcmp(lookups[i].name, name))
			continue;
		if (real == lookups[i].ours)
			return real;
		atomic_compare_exchange_strong(&lookups[i].real, &none, real);
		return !none || none == real ? lookups[i].ours : NULL;
	}
	if (id >= 0) {
		void *none = NULL;

		if (real == hook_ours(id))
			return real;
		atomic_compare_exchange_strong(&hook_real[id], &none, real);
		return !none || none == real ? hook_ours(id) : NULL;
	}
	return NULL;
}

/* Did the lookup find nothing but our own definition? Then the machine lacks the function. */
static bool only_ours(const char *name, void *found)
{
	int id = hook_named(name);

	if (id < 0) {
		for (unsigned i = 0; i < LOOKUPS; i++) {
			if (found == lookups[i].ours)
				return !lookup_real(i);
		}
		return false;
	}
	if (found != hook_ours(id) || atomic_load(&hook_real[id]))
		return false;
	return !resolve_dlsym(RTLD_NEXT, name) && !(hooks[id].api == DRV && resolve_cuda(name));
}

static bool is_lookup(const char *name)
{
	for (unsigned i = 0; i < LOOKUPS; i++) {
		if (!strcmp(lookups[i].name, name))
			return true;
	}
	return false;
}

void *entry_real_dlsym(void)
{
	resolve_init();
	return (void *)resolve_next_dlsym;
}

static void *answer_cupti(void *handle, const char *name, void *caller)
{
	void *answer = NULL;
	void *real;

	if (resolve_is_ours(caller))
		return NULL;
	resolve_init();
	real = resolve_dlsym(handle, name);
	if (!real || !cupti_door(name, real, &answer))
		return NULL;
	return answer ? answer : (void *)(intptr_t)ANSWER_NULL;
}

/* NULL: let the real dlsym answer. ANSWER_NULL: answer NULL. Anything else is the answer. */
void *entry_dlsym(void *handle, const char *name, void *caller)
{
	void *real;
	void *ours;

	if (!name || name[0] != 'c' || name[1] != 'u' || handle == RTLD_NEXT)
		return NULL;
	if (!strncmp(name, "cupti", 5))
		return answer_cupti(handle, name, caller);
	if (hook_named(name) < 0 && !is_lookup(name))
		return NULL;
	/* libcuda looks itself up on WSL2, and the injection points are ours to call unseen. */
	if (!strncmp(resolve_module(caller), "libcuda.so", 10) || resolve_is_ours(caller))
		return NULL;
	resolve_init();
	real = resolve_next_dlsym(handle, name);
	if (!real)
		return NULL;
	if (only_ours(name, real))
		return (void *)(intptr_t)ANSWER_NULL;
	ours = swap_named(name, real);
	if (ours)
		doors_count(DOOR_DLSYM);
	return ours;
}

/* Ours for a pointer that the driver gave, by the pointer alone: versions and flags are its
 * business. */
static void swap_pointer(void **pointer)
{
	resolve_driver_rows();
	for (unsigned i = 0; i < LOOKUPS; i++) {
		if (*pointer == lookup_real(i)) {
			*pointer = lookups[i].ours;
			doors_count(DOOR_PROCADDRESS);
			return;
		}
	}
	for (int i = 0; i < HOOKS; i++) {
		if (hooks[i].api == DRV && *pointer == atomic_load(&hook_real[i])) {
			*pointer = hook_ours(i);
			doors_count(DOOR_PROCADDRESS);
			return;
		}
	}
}

CUresult cuGetProcAddress(const char *symbol, void **pointer, int version, cuuint64_t flags)
{
	get_proc_fn *real = (get_proc_fn *)lookup_real(0);
	CUresult status = real ? real(symbol, pointer, version, flags) : CUDA_ERROR_NOT_INITIALIZED;

	if (!status && pointer && *pointer)
		swap_pointer(pointer);
	return status;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pointer, int version, cuuint64_t flags,
			     int *found)
{
	get_proc2_fn *real = (get_proc2_fn *)lookup_real(1);
	CUresult status =
		real ? real(symbol, pointer, version, flags, found) : CUDA_ERROR_NOT_INITIALIZED;

	if (!status && pointer && *pointer)
		swap_pointer(pointer);
	return status;
}
