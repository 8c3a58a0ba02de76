/*
 * The two functions of the C++ runtime's unwinder that our cleanups need, found when they are
 * needed.
 *
 * A wrapper must put its span away when an exception, pthread_exit or a cancellation passes through
 * (`cleanup` attribute, -fexceptions). The compiler then refers to libgcc_s. Linked to it, we would
 * load the system's copy into every process, before the newer one that a conda environment brings
 * for its own libstdc++. So there is no link: a process that unwinds has an unwinder, and that one
 * goes on. The names are hidden: nobody else is bound to them.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "capture/loader/loader.h"
#include "capture/loader/resolve.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

struct _Unwind_Exception;
struct _Unwind_Context;

HIDDEN void _Unwind_Resume(struct _Unwind_Exception *exception);
HIDDEN int __gcc_personality_v0(int version, int actions, uint64_t class,
				struct _Unwind_Exception *exception,
				struct _Unwind_Context *context);

enum { URC_CONTINUE_UNWIND = 8 };

static void *find_unwinder(const char *name)
{
	struct signals_deferred deferred;
	void *handle;
	void *found;

	loader_begin(&deferred);
	handle = dlopen("libgcc_s.so.1", RTLD_NOLOAD | RTLD_LAZY);
	found = resolve_dlsym(handle ? handle : RTLD_DEFAULT, name);
	if (handle)
		resolve_dlclose(handle);
	loader_end(&deferred);
	return found;
}

void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	void (*real)(struct _Unwind_Exception *) =
		(void (*)(struct _Unwind_Exception *))find_unwinder("_Unwind_Resume");

	real(exception); /* it exists: it was in use a moment ago; and it does not return */
	__builtin_unreachable();
}

int __gcc_personality_v0(int version, int actions, uint64_t class,
			 struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	int (*real)(int, int, uint64_t, struct _Unwind_Exception *, struct _Unwind_Context *) =
		(int (*)(int, int, uint64_t, struct _Unwind_Exception *,
			 struct _Unwind_Context *))find_unwinder("__gcc_personality_v0");

	return real ? real(version, actions, class, exception, context) : URC_CONTINUE_UNWIND;
}
