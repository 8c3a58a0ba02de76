/*
 * Intercepts the two look-ups by which programs get CUDA's functions: dlsym (its first instructions
 * are in dlsym.S) and cuGetProcAddress.
 *
 * The real look-up runs first, so no function is returned that the machine lacks. RTLD_NEXT is left
 * to the real dlsym, because glibc finds the caller by the return address.
 *
 * A sanitizer calls dlsym before it is initialised itself, so this file is never instrumented.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem/each.h"
#include "capture/cupti/cupti.h"
#include "capture/life/life.h"
#include "capture/loader/loader.h"

typedef void *dlsym_fn(void *handle, const char *name);
typedef int dlclose_fn(void *handle);

/* Members are set in this order. Without this library, programs would call the `next_` ones. */
static struct {
	_Atomic(dlsym_fn *) glibc_dlsym, next_dlsym;
	_Atomic(dlclose_fn *) next_dlclose;
} host;

/* Versions of dlsym: libc's since glibc 2.34, libdl's before that on x86-64, and on arm64. */
static const char dlsym_versions[][12] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };

static void find_real(void)
{
	dlsym_fn *found = NULL;

	life_begin();
	for (size_t i = 0; !found && i < COUNT_OF(dlsym_versions); i++)
		found = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", dlsym_versions[i]);
	if (!found)
		return;
	host.glibc_dlsym = found;
	host.next_dlsym = (dlsym_fn *)found(RTLD_NEXT, "dlsym");
	host.next_dlclose = (dlclose_fn *)found(RTLD_NEXT, "dlclose");
}

/* Finds the real functions at the first call, not in the constructor: shells and compilers need
 * none, and another preloaded library may call dlsym earlier. Racing threads find the same. */
bool resolve_can(void)
{
	if (!host.next_dlclose)
		find_real();
	return host.next_dlclose;
}

void *resolve_dlsym(void *handle, const char *name)
{
	resolve_can();
	return host.glibc_dlsym(handle, name);
}

void *resolve_next_dlsym(void *handle, const char *name)
{
	resolve_can();
	return host.next_dlsym(handle, name);
}

int resolve_dlclose(void *handle)
{
	resolve_can();
	return host.next_dlclose(handle);
}

typedef CUresult get_proc_fn(const char *, void **, int, cuuint64_t);
typedef CUresult get_proc2_fn(const char *, void **, int, cuuint64_t, int *);

EXPORT get_proc_fn cuGetProcAddress;
EXPORT get_proc2_fn cuGetProcAddress_v2;

#define HIDDEN __attribute__((visibility("hidden"), used))

/* These C functions are called by dlsym.S. */
HIDDEN void *interpose_dlsym(void *handle, const char *name, void *caller);
HIDDEN void *interpose_real_dlsym(void);
enum { ANSWER_NULL = -1 };

_Atomic uint64_t door_uses[DOORS];

void *hook_ours(enum hook_id id)
{
	static _Atomic(void *) known[HOOKS];
	void *ours;

	if (id >= HOOKS)
		return id == HOOK_cuGetProcAddress ? (void *)cuGetProcAddress
						   : (void *)cuGetProcAddress_v2;
	ours = atomic_load_explicit(&known[id], memory_order_relaxed);
	if (!ours) {
		LOADER_CALLED();
		ours = resolve_dlsym(RTLD_DEFAULT, hooks[id].name);
		atomic_store_explicit(&known[id], ours, memory_order_relaxed);
	}
	return ours;
}

int hook_named(const char *name)
{
	/* Two letters reject most names quickly: relocations.c looks up all imports here. */
	if (name[0] != 'c' || name[1] != 'u')
		return -1;
	for (int i = 0; i < HOOK_NAMES; i++) {
		if (!strcmp(hooks[i].name, name))
			return i;
	}
	return -1;
}

static void *lookup_real(enum hook_id id)
{
	void *real = atomic_load_explicit(&hook_real[id], memory_order_relaxed);

	if (!real) {
		real = resolve_cuda(hooks[id].name);
		atomic_store_explicit(&hook_real[id], real, memory_order_relaxed);
	}
	return real;
}

/* Returns our wrapper for a name that the real look-up found at `real`. Returns NULL if our wrapper
 * calls another function than `real`, as with a second runtime or another library's wrapper: then
 * the program gets `real`, and the driver call that `real` makes is still seen. */
static void *swap_named(enum hook_id id, void *real)
{
	void *none = NULL;

	if (real == hook_ours(id))
		return real;
	atomic_compare_exchange_strong(&hook_real[id], &none, real);
	return !none || none == real ? hook_ours(id) : NULL;
}

/* True if the look-up found our own function and the machine lacks the real one. */
static bool only_ours(enum hook_id id, void *found)
{
	if (found != hook_ours(id) || atomic_load(&hook_real[id]))
		return false;
	if (id >= HOOKS)
		return !lookup_real(id);
	return !resolve_dlsym(RTLD_NEXT, hooks[id].name) &&
	       !(hooks[id].api == DRV && resolve_cuda(hooks[id].name));
}

void *interpose_real_dlsym(void)
{
	resolve_can();
	return (void *)host.next_dlsym;
}

static void *answer_cupti(void *handle, const char *name, void *caller)
{
	void *answer = NULL;
	void *real;

	if (resolve_is_ours(caller))
		return NULL;
	real = resolve_dlsym(handle, name);
	if (!real || !cupti_door(name, real, &answer))
		return NULL;
	return answer ? answer : (void *)(intptr_t)ANSWER_NULL;
}

static void *answer_cuda(void *handle, enum hook_id id, void *caller)
{
	void *real;
	void *ours;

	/* libcuda, which looks itself up on WSL2, and this library get the real functions. */
	if (!strncmp(resolve_module(caller), "libcuda.so", 10) || resolve_is_ours(caller))
		return NULL;
	real = resolve_next_dlsym(handle, hooks[id].name);
	if (!real)
		return NULL;
	if (only_ours(id, real))
		return (void *)(intptr_t)ANSWER_NULL;
	ours = swap_named(id, real);
	if (ours)
		door_uses[DOOR_DLSYM]++;
	return ours;
}

/* Returns dlsym()'s answer, ANSWER_NULL for the answer NULL, or NULL to call the real dlsym. */
void *interpose_dlsym(void *handle, const char *name, void *caller)
{
	bool cupti;
	int id;

	if (!name || name[0] != 'c' || name[1] != 'u' || handle == RTLD_NEXT)
		return NULL;
	cupti = !strncmp(name, "cupti", 5);
	id = hook_named(name);
	if (!cupti && id < 0)
		return NULL;
	LOADER_CALLED();
	return cupti ? answer_cupti(handle, name, caller) : answer_cuda(handle, id, caller);
}

/* Replaces the driver's function at *pointer by our wrapper of it. The function's address alone
 * decides, not the requested version or flags. */
static CUresult swapped(CUresult status, void **pointer)
{
	if (status || !pointer || !*pointer)
		return status;
	resolve_driver_rows();
	for (int i = 0; i < HOOK_NAMES; i++) {
		if (hooks[i].api == DRV && *pointer == atomic_load(&hook_real[i])) {
			*pointer = hook_ours(i);
			door_uses[DOOR_PROCADDRESS]++;
			break;
		}
	}
	return status;
}

CUresult cuGetProcAddress(const char *symbol, void **pointer, int version, cuuint64_t flags)
{
	get_proc_fn *real = (get_proc_fn *)lookup_real(HOOK_cuGetProcAddress);

	return real ? swapped(real(symbol, pointer, version, flags), pointer)
		    : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pointer, int version, cuuint64_t flags,
			     int *found)
{
	get_proc2_fn *real = (get_proc2_fn *)lookup_real(HOOK_cuGetProcAddress_v2);

	return real ? swapped(real(symbol, pointer, version, flags, found), pointer)
		    : CUDA_ERROR_NOT_INITIALIZED;
}

/*
 * --- Two functions of libgcc_s, for the cleanup of spans ---
 *
 * A wrapper must end its span when an exception, pthread_exit or a cancellation passes through it
 * (`cleanup` attribute, -fexceptions), and for that the compiler emits calls of libgcc_s. If this
 * library were linked to libgcc_s, it would load the system's copy into every process, before the
 * newer one of a conda environment's libstdc++. Instead, these functions call the unwinder that a
 * process has loaded when it unwinds. Their names are hidden: no other library is bound to them.
 */
struct _Unwind_Exception;
struct _Unwind_Context;

HIDDEN void _Unwind_Resume(struct _Unwind_Exception *exception);
HIDDEN int __gcc_personality_v0(int version, int actions, uint64_t class,
				struct _Unwind_Exception *exception,
				struct _Unwind_Context *context);

enum { URC_CONTINUE_UNWIND = 8 };

static void *find_unwinder(const char *name)
{
	LOADER_CALLED();
	void *handle = dlopen("libgcc_s.so.1", RTLD_NOLOAD | RTLD_LAZY);
	void *found = resolve_dlsym(handle ? handle : RTLD_DEFAULT, name);

	if (handle)
		resolve_dlclose(handle);
	return found;
}

void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	__typeof__(_Unwind_Resume) *real = (__typeof__(real))find_unwinder("_Unwind_Resume");

	real(exception); /* not NULL, for the unwinder is running; does not return */
	__builtin_unreachable();
}

int __gcc_personality_v0(int version, int actions, uint64_t class,
			 struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	__typeof__(__gcc_personality_v0) *real =
		(__typeof__(real))find_unwinder("__gcc_personality_v0");

	return real ? real(version, actions, class, exception, context) : URC_CONTINUE_UNWIND;
}
