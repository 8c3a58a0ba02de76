/*
 * This thread's frames as they are: native ones out to Python's evaluation loop, then Python's.
 *
 * Nothing has a name yet; what tells one walk from another is its hash. The caller gives the place
 * for a walk, 6 KiB that the host's stack may not have, and what the walk before left.
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
	WALK_OWN = 16, /* of this library, the runtime and the driver, between the walk and the
			  caller */
};

struct walk {
	struct step_start start; /* of a walk by rules */
	uint64_t low, high;      /* the evaluation loop, if that is where it ends */
	size_t count;
	void **native; /* within the buffer, from the caller outwards */
	size_t native_count;
	struct autograd_via via;
	struct hash128 hash;             /* of all of it, once it is whole */
	const struct predict_path *path; /* that it goes: walk_list() before `native` is read */
	struct predict_next *next; /* where its number may be kept, NULL if it is not of a path */
	uint64_t unloaded;         /* unload_word() as it began */
	bool may_load;             /* as for stacks_capture() */
	uint32_t id;               /* that it gets, where it is new */
	bool learnt;               /* the unwinder may have come where it never was */
	struct python_frames python;
	/* Lists, of walks that are new. */
	void *buffer[WALK_NATIVE + WALK_OWN];
	struct python_frame frames[WALK_PYTHON];
};

/* A walk, and what walks leave for the next one. Zeroed before the first. */
struct walk_memory {
	struct walk walk;
	struct step_walk steps; /* of this one, where it is not predicted */
	struct python_trail trail;
	struct predict_memory predict;
};

/* What MEMTRACE_STACKS and MEMTRACE_STACK_DEPTH ask for: call after opt_read(). */
void walk_init(void);

/* "python,native", "native", "python" or "none". */
const char *walk_mode(void);

/* Is anything more than the caller asked for? */
bool walk_is_wanted(void);

/*
 * From `caller` (a return address of the host) outwards. `frame`, the frame address of our function
 * that returns there, may be NULL, and `memory`, where walk->python.trail is set.
 */
void walk_stack(struct walk *walk, struct walk_memory *memory, void *caller, void *const *frame);

/*
 * The native part alone, without the rules of step.h. The unwinder's walk begins inside this
 * library: what the caller returned into is where the host's part is. False if it did not come
 * there: the caller is all then.
 */
bool walk_unwind(struct walk *walk, void *caller);

/* Fills `native`, if it was not needed so far. */
void walk_list(struct walk *walk);

/* Somebody was in the middle of it: what is half done is not to be built on. */
void walk_forget(struct walk_memory *memory);
