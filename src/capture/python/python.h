/*
 * This thread's Python frames, read where CPython keeps them: without the GIL, without touching a
 * reference count, without an allocation, without waiting for a lock. CPython from 3.8 on;
 * python.def lists the versions.
 *
 * The GIL cannot be taken here: PyTorch has released it and may hold its allocator's lock when it
 * reports, and the thread that has the GIL may be waiting for that lock. It is not needed either:
 * only this thread pushes and pops its frames, and it is inside our hook.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One frame, 24 bytes without padding, so that it can be hashed and compared as it is. Code,
 * identity and position give its line for good: a code object's address is soon used again, and the
 * identity tells the later one from this. The pointer must not be followed after the hook.
 */
struct python_frame {
	uint64_t code;
	uint64_t identity;
	int32_t position;         /* of the instruction, in bytes; negative: not begun */
	uint32_t first_line : 31; /* of the code */
	uint32_t entry : 1; /* an evaluation loop of its own began here, see python_eval_range */
};

_Static_assert(sizeof(struct python_frame) == 24, "hashed and compared as three words");

struct python_name {
	char file[1024];
	char function[512]; /* qualified from 3.11 on, where code objects have it */
	int32_t line;       /* 0 when the instruction has none */
};

/*
 * Looks for an interpreter in this process, with `lookup` for dlsym, until one was found. To be
 * called when CUDA starts and, while python_version() is NULL, again when a library was loaded.
 * Takes the loader's locks and may allocate, so never inside PyTorch's report.
 */
void python_prepare(void *(*lookup)(void *handle, const char *name));

enum { PYTHON_TRAIL = 160 }; /* frames and shims; deeper stacks are listed each time */

/* The words of a frame as they were read; all that is recorded of it follows from them. */
struct python_place {
	uint64_t frame;
	uint64_t code, next;
	uint64_t kind; /* its owner; above that the code's number */
};

/* The last walk, outermost first. Zeroed before the first. */
struct python_trail {
	unsigned last; /* places of that walk */
	unsigned high; /* places that are filled: deeper walks use them again */
	unsigned good; /* sums that still hold */
	struct python_place at[PYTHON_TRAIL];
	unsigned __int128 sum[PYTHON_TRAIL + 1]; /* of the n outermost places */
	uint16_t frames[PYTHON_TRAIL + 1];       /* of these, the number that are no shims */
	struct python_place fresh[PYTHON_TRAIL];
};

/* The result of a walk; the caller sets the list, its capacity and the trail. */
struct python_frames {
	struct python_frame *list; /* innermost first */
	unsigned capacity;
	struct python_trail *trail; /* or NULL: the list is filled, the sum another */
	unsigned count;
	bool listed;           /* the list is filled */
	unsigned __int128 sum; /* of all words, each with its place: tells lists apart */
};

/* Walks this thread's frames and returns their number; 0 when it has none, or while the interpreter
 * ends. The list is filled only where the sum cannot be had without it. */
unsigned python_walk(struct python_frames *frames);

/* Fills the list of a walk, within the hook that walked. False if that is not possible: the
 * interpreter ends. */
bool python_list(struct python_frames *frames);

/*
 * The names and the line of a frame. Only within the hook that walked, where the frame keeps its
 * code alive. False while the interpreter ends, and if the frame has no valid code object: Python
 * stacks are off from then on.
 */
bool python_name(const struct python_frame *frame, struct python_name *name);

/*
 * The addresses of the evaluation loop, [*low, *high); false when unknown. In a native stack each
 * return address within it (minus one) is one evaluation loop, and stands for the Python frames up
 * to and including the next one with `entry`.
 */
bool python_eval_range(uint64_t *low, uint64_t *high);

/* "3.12.3", or NULL while no interpreter was found. */
const char *python_version(void);

/* In a forked child: no other thread walks. */
void python_forked(void);

/* Why Python stacks are off although there is an interpreter, in one sentence; else NULL. */
const char *python_trouble(void);
