/*
 * Walks this thread's stack: native frames out to Python's evaluation loop, then Python's frames.
 *
 * A frame is an address without a name; the hash of all frames identifies the stack. The caller
 * provides the walk's memory (5.3 KiB, too much for a small stack) and earlier walks' state.
 */
#pragma once

#include "base/mem/hash.h"
#include "base/settings/opt.h"
#include "capture/python/python.h"
#include "capture/stack/cfi_walk.h"
#include "capture/stack/predict.h"
#include "capture/stack/stacks.h"

enum {
	WALK_NATIVE = OPT_DEPTH_MAX, /* maximum number of native frames recorded for a stack */
	WALK_PYTHON = 128,
	WALK_OWN = 16, /* further frames walked: this library's, the CUDA runtime's and driver's */
};

struct walk {
	struct step_start start; /* the program's innermost frame, for step_walk() (cfi_walk.h) */
	uint64_t low, high;      /* address range of Python's evaluation loop; 0, 0: none */
	size_t count;            /* number of addresses in `buffer`, if the unwinder walked */
	void **native;           /* return addresses, from the caller outwards */
	size_t native_count;
	struct autograd_via via; /* stacks of a backward pass; otherwise 0, 0 */
	struct hash128 hash;     /* hash of all native and Python frames */
	/* The predicted path, or NULL. If it is set, `native` is empty until walk_list(). */
	const struct predict_path *path;
	struct predict_next *next; /* entry that caches the stack's number, or NULL */
	uint64_t unloaded;         /* unload_word() when the walk began, see modules.h */
	bool may_load;             /* parameter of stacks_capture() */
	uint32_t id;               /* the stack's number once recorded, 0 if that failed */
	bool learnt;               /* rules were made: the unwinder may have met new modules */
	struct python_frames python;
	/* Lists of native and Python frames; a walk of a known stack seldom fills them. */
	void *buffer[WALK_NATIVE + WALK_OWN];
	struct python_frame frames[WALK_PYTHON];
};

/* A walk, and the state that walks leave for later walks. All zeros before the first walk. */
struct walk_memory {
	struct walk walk;
	struct step_walk steps; /* frames of this walk, unless the walk was predicted */
	struct python_trail trail;
	struct predict_memory predict;
};

/* Reads MEMTRACE_STACKS and MEMTRACE_STACK_DEPTH; must be called after opt_read(). */
void walk_init(void);

/* The kinds of frames that are recorded: "python,native", "native", "python" or "none". */
const char *walk_mode(void);

/* False if only the address of the caller is recorded (MEMTRACE_STACKS=none). */
bool walk_is_wanted(void);

/* Walks from `caller` (a return address in the program) outwards. `frame`: the frame address of our
 * function that returns to `caller`, or NULL. `memory` may be NULL if walk->python.trail is set. */
void walk_stack(struct walk *walk, struct walk_memory *memory, void *caller, void *const *frame);

/* Lists the native frames by the unwinder, from `caller` outwards. False if the unwinder did not
 * find `caller`, which is then the only frame in the list. */
bool walk_unwind(struct walk *walk, void *caller);

/* Fills walk->native, which a predicted walk leaves empty. */
void walk_list(struct walk *walk);

/* In a forked child: invalidates state that another thread may have left half changed. */
void walk_forget(struct walk_memory *memory);
