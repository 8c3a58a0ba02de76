/*
 * The rows of hooks.def and counted_calls.def as an enum and a table, and the ways by which calls
 * reach us.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/loader/cuda_abi.h"

#define EXPORT __attribute__((visibility("default")))

/* The return address of the function in which this stands. */
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

enum hook_api {
	RT,  /* libcudart */
	DRV, /* libcuda */
};

enum hook_id {
#define HOOK(api, name, ...) HOOK_##name,
#define HOOK_KIND(kind) HOOK_FIRST_##kind, HOOK_BEFORE_##kind = HOOK_FIRST_##kind - 1,
#include "capture/loader/counted_calls.def"
#include "capture/loader/hooks.def"
#undef HOOK
#undef HOOK_KIND
	HOOKS,
	/* The driver's own lookups, which are found and swapped as rows are. */
	HOOK_cuGetProcAddress = HOOKS,
	HOOK_cuGetProcAddress_v2,
	HOOK_NAMES,
};
_Static_assert(HOOK_FIRST_COUNTED < HOOK_FIRST_MEMORY && HOOK_FIRST_MEMORY < HOOK_FIRST_STEP,
	       "cuda_call_enter() compares them");

/* No pointers: each would be written in every process that inherits LD_PRELOAD. */
struct hook {
	char name[55];
	uint8_t api; /* enum hook_api */
};

extern const struct hook hooks[HOOK_NAMES];

/* Driver rows: libcuda's function; runtime rows: the function that a dlsym found first. */
extern _Atomic(void *) hook_real[HOOK_NAMES];

/*
 * The wrapper of a row as the program's own link found it: another preload before ours may have one
 * of the name. It is looked up when it is first needed, for looking up 200 names takes 14 us in
 * every process that inherits LD_PRELOAD. Takes the loader's lock then.
 */
void *hook_ours(enum hook_id id);

/* The id of the row or lookup with the name, -1 if there is none. */
int hook_named(const char *name);

enum door {
	DOOR_LINKED,      /* call sites that the linker bound to us */
	DOOR_DLSYM,       /* pointers handed out by dlsym */
	DOOR_PROCADDRESS, /* pointers handed out by cuGetProcAddress */
	DOOR_TORCH,       /* PyTorch's reports */
	DOOR_RUNTIME, /* runtime calls under which no driver call was seen, so that they count */
	DOORS,
};

/* Numbers of uses, which `capture.doors` shows. */
extern _Atomic uint64_t door_uses[DOORS];
