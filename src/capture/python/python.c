/*
 * Walks this thread's Python frames by reading CPython's structs.
 *
 * The thread's state comes from PyGILState_GetThisThreadState, which reads thread-local storage.
 * Once this thread has released the GIL, functions with similar names (_PyThreadState_UncheckedGet,
 * PyThreadState_GetUnchecked) return another thread's state, or none.
 */
#include "capture/python/python_parts.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/guest/hot.h"

enum stage {
	STAGE_NONE,  /* no interpreter was found yet */
	STAGE_FOUND, /* an interpreter was found; its layout is not verified yet, see proven() */
	STAGE_ON,
	STAGE_OFF,
};

HOT_DATA struct python_interpreter python_process;

static HOT_DATA struct {
	atomic_int stage;
	atomic_flag preparing;
} state = { .preparing = ATOMIC_FLAG_INIT };

static int stage_now(void)
{
	return atomic_load_explicit(&state.stage, memory_order_acquire);
}

static void stage_set(enum stage stage)
{
	atomic_store_explicit(&state.stage, (int)stage, memory_order_release);
}

void python_prepare(void *(*lookup)(void *, const char *))
{
	int error = errno;
	int found;

	if (stage_now() != STAGE_NONE || atomic_flag_test_and_set(&state.preparing))
		return;
	if (stage_now() == STAGE_NONE) {
		found = python_find(lookup);
		if (found != -ENOENT)
			stage_set(found ? STAGE_OFF : STAGE_FOUND);
		if (!found)
			python_ask();
	}
	atomic_flag_clear(&state.preparing);
	errno = error;
}

/* True if the layout is right, which is verified on the first thread that has frames. */
__attribute__((noinline, cold)) static bool proven(const void *thread)
{
	enum python_verdict verdict = python_try(thread);

	if (verdict != PYTHON_EMPTY)
		stage_set(verdict == PYTHON_RIGHT ? STAGE_ON : STAGE_OFF);
	return verdict == PYTHON_RIGHT;
}

/* The last eight bytes of a str, or all of a shorter str; 0 if the object does not contain them. */
static inline uint64_t text_tail(const struct python_layout *at, const void *text, uint64_t length)
{
	uint32_t kind = (uint32_t)python_int(text, at->text_state) >> at->text_shift;
	int32_t data = at->text_ascii;
	uint64_t size = length;

	if ((kind & 31) != (16 | 8 | 1)) { /* most strs are compact ASCII; this one is not */
		if (!(kind & 8))
			return 0;
		data = kind & 16 ? at->text_ascii : at->text_compact;
		size = length * (kind & 7);
	}
	if (size >= 8)
		return python_word(text, data + (int32_t)(size - 8));
	/* A shorter str is followed by a terminator and padding, which are masked out. */
	return python_word(text, data) & ((1ULL << size * 8) - 1);
}

/*
 * A value that distinguishes this code object from an earlier one at the same address: the object's
 * version number. If the number is 0 (all 2^32 were used) or at an unknown offset, the value is
 * made of the pointers to the object's file, name and line table, and of the last characters of the
 * file's name: in a test with 3,000 modules, all three pointers were sometimes reused together.
 */
static INLINED uint64_t identity_of(const struct python_layout *at, const void *code,
				    bool versioned)
{
	uint64_t pointers;
	const void *file;

	if (versioned) {
		uint32_t version = (uint32_t)python_int(code, at->code_version);

		if (version)
			return version;
	}
	file = python_pointer(code, at->code_file);
	pointers = (uint64_t)(uintptr_t)file + python_turn(python_word(code, at->code_name), 21) +
		   python_turn(python_word(code, at->code_table), 42);
	return pointers * 0x9e3779b97f4a7c15u ^
	       text_tail(at, file, python_word(file, at->text_length));
}

/* The bit `entry` in a python_frame's third word; all machines with CUDA are little-endian. */
#define ENTRY (1ULL << 63)

typedef uint64_t __attribute__((may_alias)) frame_word;

static inline void add_part(struct python_frames *frames, const frame_word *frame, unsigned index)
{
	frames->sum += python_part(frame[0], frame[1], frame[2], index);
}

static INLINED void note(struct python_frames *frames, const struct python_layout *at,
			 const void *code, int32_t position, bool entry, bool versioned)
{
	/* Stored as whole words: a load of a word just stored in two halves would have to wait. */
	frame_word *to = (frame_word *)&frames->list[frames->count];
	uint64_t line = (uint32_t)python_int(code, at->code_first_line) & INT32_MAX;

	to[0] = (uint64_t)(uintptr_t)code;
	to[1] = identity_of(at, code, versioned);
	to[2] = (uint32_t)position | line << 32 | (entry ? ENTRY : 0);
	add_part(frames, to, frames->count++);
}

/* Sets `entry` in the last frame of the list: that frame began an evaluation loop. */
static inline void note_entry(struct python_frames *frames)
{
	unsigned index = frames->count - 1;
	frame_word *last = (frame_word *)&frames->list[index];

	frames->sum -= python_part(last[0], last[1], last[2], index);
	last[2] |= ENTRY;
	add_part(frames, last, index);
}

/* The first instruction's address; free-threaded builds copy the code for threads (PEP 703). */
static inline const void *code_start(const struct python_layout *at, const void *frame,
				     const void *code)
{
	if (at->frame_tlbc != PYTHON_NONE) {
		int32_t index = python_int(frame, at->frame_tlbc);
		const void *copies = index > 0 ? python_pointer(code, at->code_tlbc) : NULL;

		/* The copies are in a struct { Py_ssize_t size; char *entries[]; } */
		if (copies && (uint64_t)index < python_word(copies, 0))
			return python_pointer(copies, 8 + 8 * index);
	}
	return (const char *)code + at->code_start;
}

static inline int32_t position_in(const struct python_layout *at, const void *frame,
				  const void *code, bool objects)
{
	if (objects)
		return python_int(frame, at->frame_position) * (at->table == PYTHON_DELTAS ? 2 : 1);
	return (int32_t)((const char *)python_pointer(frame, at->frame_position) -
			 (const char *)code_start(at, frame, code));
}

/*
 * Lists the frames from `frame` outwards. CPython 3.8 to 3.10 has frame objects (`objects`), each
 * with its own evaluation loop; from 3.11 on, a call from Python to Python stays in one evaluation
 * loop. From 3.12 on, each code object has a version number (`versioned`). Both parameters are
 * constants, so that the loop for one version has no branches for the others.
 */
static INLINED void walk_frames(const struct python_layout *from, const void *frame,
				struct python_frames *to, bool objects, bool versioned)
{
	const struct python_layout layout = *from;
	const struct python_layout *at = &layout;
	struct python_frames frames = *to;
	/* A limit in case of an endless chain. An intact stack has no more shims than frames. */
	uint64_t steps = 2 * (uint64_t)frames.capacity + 64;

	for (; frame; frame = python_pointer(frame, at->frame_previous)) {
		uint8_t owner = objects ? 0 : python_byte(frame, at->frame_owner);
		bool shim = python_owned_by_interpreter(owner);
		const void *code;
		int32_t position;

		if (!steps-- || (frames.count == frames.capacity && !shim))
			break;
		if (shim) {
			if (frames.count)
				note_entry(&frames);
			continue;
		}
		code = python_untagged(python_pointer(frame, at->frame_code));
		position = position_in(at, frame, code, objects);
		if (python_incomplete(at, code, position, owner))
			continue;
		note(&frames, at, code, position,
		     objects || (!versioned && at->frame_entry != PYTHON_NONE &&
				 python_byte(frame, at->frame_entry)),
		     versioned);
	}
	*to = frames;
}

static HOT_CODE void walk_thread(struct python_frames *frames, bool listed)
{
	const struct python_layout *at = &python_process.layout;
	const void *thread = python_process.this_thread();
	const void *frame;

	if (!thread || (stage_now() == STAGE_FOUND && !proven(thread)))
		return;
	frame = python_pointer(thread, at->thread_frame);
	if (at->thread_cframe != PYTHON_NONE && frame)
		frame = python_pointer(frame, at->thread_cframe);
	if (!listed && frames->trail && python_quick_walk(at, frame, frames))
		return;
	frames->listed = true;
	if (at->frame_owner == PYTHON_NONE)
		walk_frames(at, frame, frames, true, false);
	else if (at->code_version == PYTHON_NONE)
		walk_frames(at, frame, frames, false, false);
	else
		walk_frames(at, frame, frames, false, true);
}

static HOT_CODE unsigned walk_held(struct python_frames *frames, bool listed)
{
	void **own = __builtin_frame_address(0);
	int stage = stage_now();

	frames->count = 0;
	frames->listed = false;
	frames->sum = 0;
	if (stage != STAGE_ON && stage != STAGE_FOUND)
		return 0;
	if (!python_hold(own))
		return 0;
	walk_thread(frames, listed);
	python_let_go(own);
	return frames->count;
}

HOT_CODE unsigned python_walk(struct python_frames *frames)
{
	return walk_held(frames, false);
}

bool python_list(struct python_frames *frames)
{
	unsigned __int128 sum = frames->sum;
	unsigned count = frames->count;

	if (!count || frames->listed)
		return true;
	walk_held(frames, true);
	frames->sum = sum;
	return frames->listed && frames->count == count;
}

static bool read_names(const struct python_frame *frame, struct python_name *name)
{
	const struct python_layout *at = &python_process.layout;
	const void *code = (const void *)(uintptr_t)frame->code;
	const void *function;

	if (!python_is_code(code))
		return false;
	function = python_pointer(code, at->code_qualname != PYTHON_NONE ? at->code_qualname
									 : at->code_name);
	if (!python_text(python_pointer(code, at->code_file), name->file, sizeof(name->file)) ||
	    !python_text(function, name->function, sizeof(name->function)))
		return false;
	name->line = python_line(code, frame->position);
	return true;
}

bool python_name(const struct python_frame *frame, struct python_name *name)
{
	void **own = __builtin_frame_address(0);
	bool good;

	name->file[0] = name->function[0] = '\0';
	name->line = 0;
	if (stage_now() != STAGE_ON || !python_hold(own))
		return false;
	good = read_names(frame, name);
	python_let_go(own);
	if (!good)
		stage_set(STAGE_OFF);
	return good;
}

HOT_CODE bool python_eval_range(uint64_t *low, uint64_t *high)
{
	if (stage_now() == STAGE_NONE || !python_process.eval_high)
		return false;
	*low = python_process.eval_low;
	*high = python_process.eval_high;
	return true;
}

const char *python_version(void)
{
	return stage_now() == STAGE_NONE ? NULL : python_process.version;
}

const char *python_trouble(void)
{
	return stage_now() == STAGE_OFF ? python_process.refusal : NULL;
}
