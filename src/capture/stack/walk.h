/*
 * This thread's frames as addresses: native ones out to Python's evaluation loop, then Python's.
 *
 * Nothing has a name yet; walks are told apart by their hash. The caller provides the memory of a
 * walk, 6 KiB that the host's stack may not have, and the state that earlier walks left.
 */
#pragma once

#include "base/mem/hash.h"
#include "base/settings/opt.h"
#include "capture/python/python.h"
#include "capture/stack/predict.h"
#include "capture/stack/stacks.h"
#include "capture/stack/step.h"

enum {
	WALK_NATIVE = OPT_DEPTH_MAX, /* frames at most */
	WALK_PYTHON = 128,
	WALK_OWN = 16, /* frames of this library, the runtime and the driver */
};

struct walk {
	struct step_start start; /* of a walk by rules */
	uint64_t low, high;      /* the evaluation loop, if the walk ends there */
	size_t count;
	void **native; /* within the buffer, from the caller outwards */
	size_t native_count;
	struct autograd_via via;
	struct hash128 hash; /* of all frames, once the walk is complete */
	const struct predict_path
		*path;             /* that was predicted: walk_list() before `native` is read */
	struct predict_next *next; /* where its number may be kept, NULL without a path */
	uint64_t unloaded;         /* unload_word() when the walk began */
	bool may_load;             /* as for stacks_capture() */
	uint32_t id;               /* the number that a new stack gets */
	bool learnt; /* the unwinder may have gone through modules where it never was */
	struct python_frames python;
	/* Lists, filled for new walks only. */
	void *buffer[WALK_NATIVE + WALK_OWN];
	struct python_frame frames[WALK_PYTHON];
};

/* A walk, and the state that walks leave for the next one. Zeroed before the first. */
struct walk_memory {
	struct walk walk;
	struct step_walk steps; /* of this walk, where it was not predicted */
	struct python_trail trail;
	struct predict_memory predict;
};

/* Reads MEMTRACE_STACKS and MEMTRACE_STACK_DEPTH: call after opt_read(). */
void walk_init(void);

/* "python,native", "native", "python" or "none". */
const char *walk_mode(void);

/* True if more than the caller is wanted. */
bool walk_is_wanted(void);

/* Walks from `caller` (a return address of the host) outwards. `frame`, the frame address of our
 * function that returns there, may be NULL; so may `memory`, if walk->python.trail is set. */
void walk_stack(struct walk *walk, struct walk_memory *memory, void *caller, void *const *frame);

/* The native part alone, by the unwinder. Its walk begins inside this library; the host's part
 * begins where `caller` is found. False if it was not found: then the caller is the only frame. */
bool walk_unwind(struct walk *walk, void *caller);

/* Fills `native`, which a predicted walk leaves empty. */
void walk_list(struct walk *walk);

/* A thread that is gone was in the middle of a walk: its state is not used any more. */
void walk_forget(struct walk_memory *memory);
