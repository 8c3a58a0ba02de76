/* The rows of hooks.def and counted_calls.def, and the ways ("doors") by which hooks get called. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "capture/loader/cuda_abi.h"

#define EXPORT __attribute__((visibility("default")))

/* The return address of the function that contains this expression. */
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

enum hook_api {
	RT,  /* a function of libcudart */
	DRV, /* a function of libcuda */
};

enum hook_id {
#define HOOK(api, name, ...) HOOK_##name,
#define HOOK_KIND(kind) HOOK_FIRST_##kind, HOOK_BEFORE_##kind = HOOK_FIRST_##kind - 1,
#include "capture/loader/counted_calls.def"
#include "capture/loader/hooks.def"
#undef HOOK
#undef HOOK_KIND
	HOOKS,
	/* The driver's own lookup functions, found and replaced like the functions of the rows. */
	HOOK_cuGetProcAddress = HOOKS,
	HOOK_cuGetProcAddress_v2,
	HOOK_NAMES,
};
_Static_assert(HOOK_FIRST_COUNTED < HOOK_FIRST_MEMORY && HOOK_FIRST_MEMORY < HOOK_FIRST_STEP,
	       "cuda_call_enter() relies on this order of the ids");

/* Has no pointers, which the loader would relocate in every process that inherits LD_PRELOAD. */
struct hook {
	char name[55];
	uint8_t api; /* enum hook_api */
};

extern const struct hook hooks[HOOK_NAMES];

/* The real functions: libcuda's for a driver row, dlsym()'s first result for a runtime row. */
extern _Atomic(void *) hook_real[HOOK_NAMES];

/* A row's wrapper as the program's own linking finds it: it may belong to a library preloaded
 * before this library. The first call for a row looks the wrapper up, with the loader's lock: 200
 * look-ups at the start would take 14 us in every process that inherits LD_PRELOAD. */
void *hook_ours(enum hook_id id);

/* The id of the row, or of the driver's lookup function, with this name; -1 if there is none. */
int hook_named(const char *name);

enum door {
	DOOR_LINKED,      /* calls for which a wrapper had to look up the real function */
	DOOR_DLSYM,       /* pointers that dlsym() returned */
	DOOR_PROCADDRESS, /* pointers that cuGetProcAddress() returned */
	DOOR_TORCH,       /* PyTorch's callbacks */
	DOOR_RUNTIME,     /* runtime calls in which no driver call was seen */
	DOORS,
};

/* How often each door (way into a hook) was used, except DOOR_TORCH, whose count is in the spool's
 * header alone. In the trace, `capture.hooks` has all but DOOR_RUNTIME. */
extern _Atomic uint64_t door_uses[DOORS];
