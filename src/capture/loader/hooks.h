/*
 * The rows of hooks.def, calls.def and doors.def as enums, types and a table.
 */
#ifndef CAPTURE_LOADER_HOOKS_H
#define CAPTURE_LOADER_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/loader/cuda_abi.h"

enum hook_api {
	RT,  /* libcudart */
	DRV, /* libcuda */
};

enum hook_id {
#define HOOK(api, name, ...) HOOK_##name,
#define BOTH(api, name, ...) HOOK_##name, HOOK_##name##_ptsz,
#define OLD(since, api, name, ...) HOOK_##name,
#define CALL(api, name, ...) HOOK_##name,
#define CALLS(twin, api, name, ...) HOOK_##name, HOOK_##name##twin,
#include "capture/loader/hooks.def"
#include "capture/recorder/calls.def"
#undef HOOK
#undef BOTH
#undef OLD
#undef CALL
#undef CALLS
	HOOKS,
	HOOK_FIRST_MEMORY = HOOK_cudaMalloc,   /* from here on: hooks.def */
	HOOK_FIRST_STEP = HOOK_cuCtxCreate_v2, /* from here on: what is no allocation */
};

/* No pointers: each would be written in every process that inherits LD_PRELOAD. */
struct hook {
	char name[55];
	uint8_t api; /* enum hook_api */
};

extern const struct hook hooks[HOOKS];

/* Driver rows: libcuda's; runtime rows: what a dlsym found first. */
extern _Atomic(void *) hook_real[HOOKS];

/*
 * The wrapper of a row as the program's own link found it: another preload in front of ours may
 * have one of the name. Looked up when it is first asked for: 200 names looked up by the loader are
 * 14 us in every process that inherits LD_PRELOAD. Takes the loader's lock then.
 */
void *hook_ours(enum hook_id id);

/* The row with the name, -1 if there is none. */
int hook_named(const char *name);

#endif
