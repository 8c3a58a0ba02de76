/*
 * The wrappers: one body, unfolded for each row of hooks.def.
 *
 * The words of the rows' `before` and `after` columns are macros here; `status` is the real call's
 * answer, and what it returned through pointers is read only if that says success.
 */
#include "capture/hooks.h"

#include <string.h>

#include "capture/resolve.h"
#include "capture/span.h"

#define EXPORT __attribute__((visibility("default")))

#define NOTHING (void)0
#define ALLOC(space, ptr, size) \
	span_alloc(&span, status, SPACE_##space, status ? 0 : (uint64_t) * (ptr), (size))
#define CAPTURING(stream) span_stream(&span, (uint64_t)(stream))
#define ALLOC_ON(stream, ptr, size) \
	span_alloc_async(&span, status, status ? 0 : (uint64_t) * (ptr), (size))
#define FREE(ptr) span_free(&span, (uint64_t)(ptr))
#define FREE_ON(stream, ptr) span_free_async(&span, (uint64_t)(stream), (uint64_t)(ptr))
#define FREED span_freed(&span, status)
#define CREATE(handle, size, prop)                                                             \
	span_create(&span, status, status ? 0 : *(handle), (size),                             \
		    (prop)->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? (prop)->location.id \
									 : -1)
#define RETAIN(handle) span_retain(&span, status, status ? 0 : *(handle))
#define RELEASE(handle) span_release(&span, (handle))
#define RELEASED span_released(&span, status)
#define MAP(ptr, size, handle) span_map(&span, status, (ptr), (size), (handle))
#define UNMAP(ptr, size) span_unmap(&span, status, (ptr), (size))

/* What a wrapper answers when the machine has no such function: "not initialized", both APIs' 3. */
enum { STATUS_MISSING = 3 };

#define WRAPPER(name, result, params, args, before, after)                                  \
	typedef result hook_fn_##name params;                                               \
	EXPORT result name params;                                                          \
	result name params                                                                  \
	{                                                                                   \
		void *caller = __builtin_extract_return_addr(__builtin_return_address(0));  \
		hook_fn_##name *real = (hook_fn_##name *)resolve_hook(HOOK_##name, caller); \
                                                                                            \
		if (__builtin_expect(!real, 0))                                             \
			return (result)STATUS_MISSING;                                      \
		if (!span_wanted())                                                         \
			return real args;                                                   \
		{                                                                           \
			SPAN(span, HOOK_##name, caller);                                    \
			result status;                                                      \
                                                                                            \
			before;                                                             \
			status = real args;                                                 \
			after;                                                              \
			return status;                                                      \
		}                                                                           \
	}

#define HOOK(api, name, result, params, args, before, after) \
	WRAPPER(name, result, params, args, before, after)
#define BOTH(api, name, result, params, args, before, after) \
	WRAPPER(name, result, params, args, before, after)   \
	WRAPPER(name##_ptsz, result, params, args, before, after)
#include "capture/hooks.def"
#undef HOOK
#undef BOTH

struct hook hooks[HOOKS] = {
#define HOOK(api, name, ...) { #name, api, (void *)name, NULL },
#define BOTH(api, name, ...) \
	HOOK(api, name)      \
	HOOK(api, name##_ptsz)
#include "capture/hooks.def"
#undef HOOK
#undef BOTH
};

int hook_named(const char *name)
{
	for (int i = 0; i < HOOKS; i++) {
		if (!strcmp(hooks[i].name, name))
			return i;
	}
	return -1;
}
