/*
 * Reads this thread's Python frames where CPython (3.8 and newer, see frame_offsets.def) stores
 * them: without the GIL, without touching a reference count, without an allocation, and without
 * waiting for a lock, except in walks before python_ask() has succeeded.
 *
 * The GIL cannot be taken here: PyTorch may have released it and may hold its allocator's lock when
 * it reports an allocation, and the thread that has the GIL may wait for that lock. The GIL is not
 * needed either: only this thread pushes and pops its frames, and it is now executing this library.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One Python frame: 24 bytes without padding, hashed as three words. Code, identity and position
 * determine the source line; `identity` distinguishes code objects allocated at the same address
 * one after another. `code` must not be dereferenced after the hook has returned.
 */
struct python_frame {
	uint64_t code;
	uint64_t identity;
	int32_t position;         /* byte offset of the instruction; < 0: frame has not begun */
	uint32_t first_line : 31; /* first line of the code object */
	uint32_t entry : 1;       /* the frame began an evaluation loop: python_eval_range() */
};

_Static_assert(sizeof(struct python_frame) == 24, "a frame is hashed and compared as three words");

struct python_name {
	char file[1024];
	char function[512]; /* qualified name (Class.function) from CPython 3.11 on */
	int32_t line;       /* source line, 0 if the instruction has none */
};

/* Looks for an interpreter in this process, unless one was found. `lookup` works like dlsym().
 * Takes the loader's locks and may allocate: not called while PyTorch reports an allocation. */
void python_prepare(void *(*lookup)(void *handle, const char *name));

/* Maximum number of frames in a python_trail; for a deeper stack, each walk reads all frames. */
enum { PYTHON_TRAIL = 160 };

/* A frame's address, and those of its words that determine the recorded python_frame. */
struct python_place {
	uint64_t frame;
	uint64_t code, next; /* the frame's pointers to its code object and its instruction */
	uint64_t kind; /* low 8 bits: enum _frameowner (CPython); others: the code's version */
};

/* The frames of the last walk, outermost first, stored for the next walk, including shims: frames
 * that the interpreter adds for its own use. All zeros before the first walk. */
struct python_trail {
	unsigned last; /* number of places in the last walk */
	unsigned high; /* number of filled places; from `last` on they are of older walks */
	unsigned good; /* number of outermost places for which sum[] and frames[] are valid */
	struct python_place at[PYTHON_TRAIL];
	unsigned __int128 sum[PYTHON_TRAIL + 1]; /* sum[n]: sum of the n outermost places */
	uint16_t frames[PYTHON_TRAIL + 1]; /* frames[n]: how many of the n outermost are no shims */
	struct python_place fresh[PYTHON_TRAIL]; /* frames not yet in at[], innermost first */
};

/* The result of a walk; the caller sets the list, its capacity and the trail. */
struct python_frames {
	struct python_frame *list; /* frames, innermost first; filled if `listed` */
	unsigned capacity;
	struct python_trail *trail; /* if NULL, the sum is always made from the list */
	unsigned count;
	bool listed;
	unsigned __int128 sum; /* identifies the stack: all frames and their order */
};

/* Walks this thread's Python frames and returns their number. 0 also if frames cannot be read:
 * without an interpreter, while it begins or ends, or if Python stacks are off. The list is filled
 * (`listed`) only if the sum cannot be computed without the list. */
unsigned python_walk(struct python_frames *frames);

/* Fills the list of a walk; must be called in the same hook call as the walk. False if frames can
 * no longer be read: the interpreter is ending, or python_name() has turned Python stacks off. */
bool python_list(struct python_frames *frames);

/* Reads the names and the line of a frame; must be called in the same hook call as the walk, while
 * the frame keeps its code object alive. False if the interpreter is ending, if Python stacks are
 * off, or if the frame has no valid code object, which turns Python stacks off from then on. */
bool python_name(const struct python_frame *frame, struct python_name *name);

/*
 * The addresses of the evaluation loop's code, [*low, *high); false if unknown. On a native stack,
 * each return address in that range is one run of the loop. The innermost run executes the Python
 * frames from the innermost to the first with python_frame.entry; the next run, those after it.
 */
bool python_eval_range(uint64_t *low, uint64_t *high);

/* The interpreter's version, such as "3.12.3"; NULL if no interpreter has been found. */
const char *python_version(void);

/* In a forked child: forgets the walks of the parent's other threads. */
void python_forked(void);

/* A sentence on why Python stacks are off although there is an interpreter; otherwise NULL. */
const char *python_trouble(void);
