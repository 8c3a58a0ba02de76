/* Finds the real functions that hooks call: in the caller's own libraries, as the linker would. */
#include "capture/loader/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/guest/debug_checks.h"
#include "base/guest/start.h"
#include "base/text/text.h"

struct resolve_caller resolve_callers[RESOLVE_CALLERS];
/* pid of the last process in which a lookup returned: there, no lock of the loader is stuck */
static START_DATA _Atomic int answered;

const char *resolve_module(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? text_base(info.dli_fname) : "";
}

/* This library's code lies between these two symbols. (`etext` may be of another library.) */
bool resolve_is_ours(const void *address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	return (uintptr_t)address >= (uintptr_t)__ehdr_start &&
	       (uintptr_t)address < (uintptr_t)_DYNAMIC;
}

static void *cuda_handle(void)
{
	static _Atomic(void *) handle;
	void *known = atomic_load_explicit(&handle, memory_order_relaxed);

	if (!known) {
		known = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
		/* Never closed: no program unloads libcuda and continues. */
		atomic_store_explicit(&handle, known, memory_order_relaxed);
	}
	return known;
}

static void *find_cuda(const char *name)
{
	void *handle = cuda_handle();
	void *real;

	if (!handle)
		return NULL;
	watch_host("dlsym");
	real = resolve_next_dlsym(handle, name);
	if (!real || !resolve_is_ours(real))
		return real;
	/* Another preloaded library's dlsym returned what it took for the address of its own
	 * function, but the loader had bound that name to this library's wrapper. */
	real = resolve_dlsym(RTLD_NEXT, name);
	return real ? real : resolve_dlsym(handle, name);
}

struct finding {
	const char *name;
	enum hook_id id; /* id of the row; HOOK_NAMES for a function without a row */
	void *caller, *real;
};

static void find_driver(void *argument)
{
	struct finding *finding = argument;

	finding->real = find_cuda(finding->name);
	if (!finding->real && finding->id != HOOK_NAMES) {
		finding->real = resolve_dlsym(RTLD_NEXT, finding->name);
		if (finding->real == hook_ours(finding->id))
			finding->real = NULL;
	}
}

void *resolve_cuda(const char *name)
{
	struct finding finding = { .name = name, .id = HOOK_NAMES };

	loader_call(find_driver, &finding);
	return finding.real;
}

void *resolve_driver(enum hook_id id)
{
	struct finding finding = { .name = hooks[id].name, .id = id };
	void *real;

	loader_call(find_driver, &finding);
	real = finding.real;
	atomic_store(&answered, getpid());
	if (real) {
		void *none = NULL;

		if (!atomic_compare_exchange_strong(&hook_real[id], &none, real))
			real = none;
		door_uses[DOOR_LINKED]++;
	}
	return real;
}

void resolve_driver_rows(void)
{
	static atomic_bool done;

	if (atomic_load_explicit(&done, memory_order_acquire))
		return;
	LOADER_CALLED();
	for (int i = 0; i < HOOK_NAMES && cuda_handle(); i++) {
		void *none = NULL;
		void *real = hooks[i].api == DRV ? find_cuda(hooks[i].name) : NULL;

		if (real)
			atomic_compare_exchange_strong(&hook_real[i], &none, real);
	}
	atomic_store_explicit(&done, cuda_handle() != NULL, memory_order_release);
}

/* The function that the caller's own linking would have found, in the libraries that the caller's
 * library needs. NULL if the caller is in the program's file, or if the caller's library has the
 * function itself: that library was preloaded, too, and needs the next function of this name. */
static void *through_caller(const char *name, const void *caller)
{
	struct link_map *map;
	Dl_info info, found;
	void *handle;
	void *real;

	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0])
		return NULL;
	handle = dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY);
	if (!handle)
		return NULL;
	real = resolve_dlsym(handle, name);
	resolve_dlclose(handle);
	if (!real || resolve_is_ours(real) ||
	    (dladdr(real, &found) && found.dli_fbase == info.dli_fbase))
		return NULL;
	return real;
}

void resolve_forget(void)
{
	for (unsigned i = 0; i < RESOLVE_CALLERS; i++) {
		uintptr_t key = atomic_load(&resolve_callers[i].key);

		if (key != RESOLVE_WRITTEN)
			atomic_compare_exchange_strong(&resolve_callers[i].key, &key, 0);
	}
	for (int i = 0; i < HOOKS; i++) {
		void *real = atomic_load(&hook_real[i]);
		Dl_info info;

		if (hooks[i].api == RT && real && !dladdr(real, &info))
			atomic_compare_exchange_strong(&hook_real[i], &real, NULL);
	}
}

void *resolve_from(const char *name, const void *caller)
{
	LOADER_CALLED();
	void *real = through_caller(name, caller);

	if (!real)
		real = resolve_dlsym(RTLD_NEXT, name);
	return real && resolve_is_ours(real) ? NULL : real;
}

static void find_runtime(void *argument)
{
	struct finding *finding = argument;
	void *real;
	void *next;

	watch_host("dlsym");
	next = resolve_dlsym(RTLD_NEXT, finding->name);
	if (next == hook_ours(finding->id))
		next = NULL;
	/* `next` is of a library preloaded after ours: without us, the call would go there. */
	if (next && strncmp(resolve_module(next), "libcudart", 9))
		real = next;
	else
		real = through_caller(finding->name, finding->caller);
	if (!real)
		real = next ? next : atomic_load(&hook_real[finding->id]);
	finding->real = real;
}

/* One thread writes at a time, or a slot could get one caller's key with another's function. If a
 * write is cut off (by a fork, or a handler that jumps out), the slot is never used again. */
static void keep_caller(uintptr_t key, void *real)
{
	struct resolve_caller *cached = resolve_place(key);

	if (atomic_exchange(&cached->key, RESOLVE_WRITTEN) == RESOLVE_WRITTEN)
		return;
	atomic_store(&cached->real, real);
	atomic_store(&cached->key, key);
}

void *resolve_runtime(enum hook_id id, void *caller)
{
	struct finding finding = { .name = hooks[id].name, .id = id, .caller = caller };

	loader_call(find_runtime, &finding);
	atomic_store(&answered, getpid());
	if (finding.real) {
		keep_caller(resolve_key(id, caller), finding.real);
		door_uses[DOOR_LINKED]++;
	}
	return finding.real;
}

bool resolve_may_ask(void)
{
	return !atomic_load(&loader_silent) || atomic_load(&answered) == getpid();
}
