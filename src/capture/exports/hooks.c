/*
 * Defines the exported wrapper of each CUDA function in hooks.def and counted_calls.def.
 *
 * The entries in the `before` and `after` columns of these tables are macros defined here. `status`
 * is the real call's result; values that the call returns through pointers are read only if it
 * succeeded. The macros may change errno.
 */
#include "capture/loader/hooks.h"

#include <errno.h>

#include "base/guest/hot.h"
#include "capture/cuda/cuda_call.h"
#include "capture/cuda/device_usage.h"
#include "capture/cuda/driver.h"
#include "capture/loader/loader.h"

#define NOTHING (void)0

/* Memory of `size_` bytes; `key_` points to the address or handle of that memory. */
#define TAKE(kind_, space_, flags_, key_, size_)                                            \
	cuda_call_take(&span, status,                                                       \
		       &(struct cuda_call_memory){ .kind = NODE_##kind_,                    \
						   .space = SPACE_##space_,                 \
						   .flags = flags_,                         \
						   .key = status ? 0 : (uint64_t) * (key_), \
						   .size = (size_) })
#define ALLOC(space, ptr, size) TAKE(ADDRESS, space, 0, ptr, size)
#define FREE(ptr) cuda_call_end(&span, SPAN_FREE, NODE_ADDRESS, (uint64_t)(ptr))
#define FREED cuda_call_ended(&span, status)

/* Arrays, which have a handle and no address. */
#define ARRAY(array, size) TAKE(ARRAY, ARRAY, 0, array, size)
#define FREE_ARRAY(array) cuda_call_end(&span, SPAN_FREE, NODE_ARRAY, (uint64_t)(array))

/* Stream-ordered memory. Most hooked calls on a pool also record its reserved bytes. */
#define CAPTURING(on) (span.stream = (uint64_t)(on), span.capturing = driver_capturing(span.stream))
#define ALLOC_ON(stream, ptr, size) \
	cuda_call_alloc_async(&span, status, status ? 0 : (uint64_t) * (ptr), (size))
#define FREE_ON(on, ptr) (span.stream = (uint64_t)(on), FREE(ptr))
#define POOL_SAMPLED(pool) cuda_call_pool_sampled(&span, status, (uint64_t)(pool), false)
#define POOL_ENDING(pool) cuda_call_pool_ending((uint64_t)(pool))
#define POOL_DESTROYED(pool) cuda_call_pool_sampled(&span, status, (uint64_t)(pool), true)

/* Memory that CUDA graphs allocate: at calls on graphs, the driver is asked how much that is. */
#define GRAPH_NODE(params)                                                                   \
	cuda_call_graph_node(&span, status, (params) ? (params)->poolProps.location.id : -1, \
			     (params) ? (params)->bytesize : 0)
#define GRAPH_ANY_NODE(params)                                                  \
	do {                                                                    \
		if ((params) && (params)->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) \
			GRAPH_NODE(&(params)->alloc);                           \
	} while (0)
#define GRAPH_SAMPLED cuda_call_graph_sampled(&span, status)

/* Virtual memory management: handles of cuMemCreate, and their mappings. */
#define CREATE(handle, size, prop)                                                      \
	cuda_call_create(&span, status, status ? 0 : *(handle), (size),                 \
			 (prop) && (prop)->location.type == CU_MEM_LOCATION_TYPE_DEVICE \
				 ? (prop)->location.id                                  \
				 : -1)
#define RETAIN(handle, ptr) cuda_call_retain(&span, status, status ? 0 : *(handle), (uint64_t)(ptr))
#define RELEASE(handle) cuda_call_end(&span, SPAN_RELEASE, NODE_HANDLE, (handle))
#define MAP(ptr, size, handle) cuda_call_map(&span, status, (ptr), (size), (handle))
#define UNMAP(ptr, size) cuda_call_map(&span, status, (ptr), (size), 0)
#define MULTICAST(handle) cuda_call_multicast(&span, status, status ? 0 : *(handle))

/* Memory imported from other processes or APIs: the ledger has it, but no sum includes it. */
#define IMPORT(kind, space, key, size) TAKE(kind, space, EVENT_FOREIGN, key, status ? 0 : (size))
#define IMPORT_HANDLE(handle) cuda_call_import(&span, status, NODE_HANDLE, status ? 0 : *(handle))
#define IMPORT_BLOCK(ptr, pool) \
	cuda_call_import_block(&span, status, status ? 0 : (uint64_t) * (ptr), (uint64_t)(pool))
#define FREE_EXTERNAL(memory) cuda_call_end(&span, SPAN_FREE, NODE_EXTERNAL, (uint64_t)(memory))
#define OPENED(ptr) cuda_call_import(&span, status, NODE_ADDRESS, status ? 0 : (uint64_t) * (ptr))
#define CLOSE(ptr) cuda_call_end(&span, SPAN_CLOSE, NODE_ADDRESS, (uint64_t)(ptr))

/* Steps: calls that may occupy memory without an allocation, such as a function's first launch. */
#define STEP(kind) STEP_ON(kind, driver_device())
#define STEP_ON(kind, device) usage_begin(&span, USED_##kind, (device))
#define STEPPED usage_end(&span)
#define LIMITING(limit) usage_begin(&span, usage_kind_of_limit((int)(limit)), driver_device())
#define FIRST(kind, key) usage_begin_first(&span, USED_##kind, (uint64_t)(key), false)
/* Notes for later launches whether the returned handle is a function's or a kernel's. */
#define FOUND(what, handle)                                                   \
	do {                                                                  \
		usage_end(&span);                                             \
		if (!status && (handle))                                      \
			usage_see(USED_HANDLE_##what((uint64_t) * (handle))); \
	} while (0)
/* A function's first query and first launch may each load code, so each has a key in usage_seen. */
#define LOOKED_AT(function) USED_LOOKED_AT((uint64_t)(function))
#define UNLOADED (usage_end(&span), usage_forget_seen())
#define GRAPH_LAUNCHED (cuda_call_graph_sampled(&span, status), usage_end(&span))

/* Contexts, and the end of the memory in them. */
#define CONTEXT_MADE (cuda_call_context_made(&span, status), usage_end(&span))
#define CONTEXT_ENDED(context) \
	(cuda_call_context_ended(&span, status, (uint64_t)(context)), usage_end(&span))
#define PRIMARY_RETAINED(context, device)                                                          \
	(cuda_call_primary_retained(&span, status, status ? 0 : (uint64_t) * (context), (device)), \
	 usage_end(&span))
#define RESETTING(device) (RESETTING_OWN, usage_begin(&span, USED_CONTEXT, (device)))
#define RESETTING_OWN (span.device = (int16_t)driver_context(&span.context))
#define PRIMARY_RELEASED(device) \
	(cuda_call_primary_released(&span, status, (device)), usage_end(&span))
#define PRIMARY_RESET(device) (cuda_call_primary_ended(&span, status, (device)), usage_end(&span))
#define RESET_DONE cuda_call_reset_done(&span, status)

/* For a call that neither allocates nor frees: measures the device's used bytes if that is due. */
#define SAMPLED cuda_call_sampled(&span, status)

/* A wrapper's result if the real function is missing: "not initialized", 3 in both APIs. */
enum { STATUS_MISSING = 3 };

/* The wrapper of one CUDA function. `quick`: true if the call is only counted. Such a call has no
 * span that would have to end if the call never returns (after a longjmp out of a signal handler,
 * or at the thread's end). */
#define WRAPPER(name, result, params, args, quick, before, after)                           \
	typedef result hook_fn_##name params;                                               \
	EXPORT result name params;                                                          \
	result name params                                                                  \
	{                                                                                   \
		void *caller = CALLER;                                                      \
		hook_fn_##name *real = (hook_fn_##name *)resolve_hook(HOOK_##name, caller); \
                                                                                            \
		if (__builtin_expect(!real, 0))                                             \
			return (result)STATUS_MISSING;                                      \
		if (!cuda_call_wanted())                                                    \
			return real args;                                                   \
		if (quick) {                                                                \
			uint64_t begin = calls_begin();                                     \
			result status;                                                      \
                                                                                            \
			watch_host(#name);                                                  \
			status = real args;                                                 \
			if (begin)                                                          \
				calls_note(HOOK_##name, begin, status);                     \
			return status;                                                      \
		}                                                                           \
		{                                                                           \
			SPAN(span, HOOK_##name, caller);                                    \
			result status;                                                      \
			int saved = errno;                                                  \
                                                                                            \
			before;                                                             \
			errno = saved;                                                      \
			cuda_call_time(&span);                                              \
			status = real args;                                                 \
			cuda_call_timed(&span, status);                                     \
			saved = errno;                                                      \
			after;                                                              \
			errno = saved;                                                      \
			return status;                                                      \
		}                                                                           \
	}

#define RESULT_RT cudaError_t
#define RESULT_DRV CUresult
#define HOOK(api, name, params, args, before, after) \
	WRAPPER(name, RESULT_##api, params, args, false, before, after)
#define LAUNCH(api, name, params, args, function)            \
	LAUNCHER(name, RESULT_##api, params, args, function) \
	LAUNCHER(name##_ptsz, RESULT_##api, params, args, function)
/* A launch is `quick` if usage_seen has its function and the thread is in no other hooked call. */
#define LAUNCHER(name, result, params, args, function)                      \
	EXPORT HOT_CODE result name params;                                 \
	WRAPPER(name, result, params, args,                                 \
		!cuda_call_top.span && usage_is_seen((uint64_t)(function)), \
		usage_begin_first(&span, USED_MODULES, (uint64_t)(function), true), STEPPED)
/* NOLINTBEGIN(readability-function-size): the parameters are CUDA's */
#include "capture/loader/counted_calls.def"
#include "capture/loader/hooks.def"
/* NOLINTEND(readability-function-size) */
#undef HOOK
#undef LAUNCHER

_Atomic(void *) hook_real[HOOK_NAMES];

const struct hook hooks[HOOK_NAMES] = {
#define HOOK(api, name, ...) [HOOK_##name] = { #name, api },
#include "capture/loader/counted_calls.def"
#include "capture/loader/hooks.def"
#undef HOOK
	[HOOK_cuGetProcAddress] = { "cuGetProcAddress", DRV },
	[HOOK_cuGetProcAddress_v2] = { "cuGetProcAddress_v2", DRV },
};
