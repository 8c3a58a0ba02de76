/*
 * Declarations for the files of this folder alone: where an interpreter stores its frames, and
 * functions that read them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem/hash.h"
#include "capture/python/python.h"
#include "capture/python/python_versions.h"

/* --- python_layout.c --- */

enum python_table {
	PYTHON_LNOTAB,    /* CPython 3.8, 3.9: co_lnotab */
	PYTHON_DELTAS,    /* CPython 3.10: co_linetable, PEP 626 */
	PYTHON_LOCATIONS, /* CPython 3.11 on: co_linetable, InternalDocs/code_objects.md */
};

enum { PYTHON_NONE = -1 };

/* Byte offsets of an interpreter's fields, PYTHON_NONE for a field that its version lacks;
 * text_shift: position of the bit field `kind` in a str's state, in bits. */
struct python_layout {
	int32_t thread_frame, thread_cframe;
	int32_t frame_previous, frame_code, frame_position, frame_owner, frame_entry, frame_tlbc;
	int32_t code_first_line, code_file, code_name, code_qualname, code_table, code_version;
	int32_t code_traceable, code_start, code_tlbc;
	int32_t object_type, bytes_size, bytes_data;
	int32_t text_length, text_state, text_ascii, text_compact, text_shift;
	enum python_table table;
};

static inline uint64_t python_word(const void *base, int32_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static inline const void *python_pointer(const void *base, int32_t offset)
{
	return (const void *)(uintptr_t)python_word(base, offset);
}

static inline int32_t python_int(const void *base, int32_t offset)
{
	int32_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static inline uint8_t python_byte(const void *base, int32_t offset)
{
	return ((const uint8_t *)base)[offset];
}

/* The object at a frame's reference, whose low bits are tags from 3.14 on (pycore_stackref.h). */
static inline const void *python_untagged(const void *reference)
{
	return (const void *)((uintptr_t)reference & ~(uintptr_t)7);
}

/* Flags in a type's tp_flags that mark str, bytes and their subclasses: Py_TPFLAGS_UNICODE_SUBCLASS
 * and Py_TPFLAGS_BYTES_SUBCLASS, unchanged since 3.8. */
#define PYTHON_IS_TEXT (1ULL << 28)
#define PYTHON_IS_BYTES (1ULL << 27)

enum { PYTHON_TYPE_FLAGS = 160 }; /* offset of tp_flags, in bytes after ob_type */

static inline uint64_t python_type_flag(const struct python_layout *layout, const void *type)
{
	return python_word(type, layout->object_type + PYTHON_TYPE_FLAGS) &
	       (PYTHON_IS_TEXT | PYTHON_IS_BYTES);
}

/* True for frames that the interpreter makes for itself (shims) from 3.12 on: enum _frameowner. */
static inline bool python_owned_by_interpreter(uint8_t owner)
{
	return owner >= 3;
}

/* True for a frame that is still creating its cells or its generator; CPython hides such frames,
 * too. The code object, one more cache line for each frame, is read only if `position` is small. */
static inline bool python_incomplete(const struct python_layout *at, const void *code,
				     int32_t position, uint8_t owner)
{
	return position < 64 && owner != 1 && at->code_traceable != PYTHON_NONE &&
	       position < 2 * python_int(code, at->code_traceable);
}

/* --- python_find.c --- */

struct python_interpreter {
	/* Functions of CPython's C API, with void * for pointers to CPython's types. find_needs()
	 * maps each member to a name in that API. */
	void *(*this_thread)(void); /* PyGILState_GetThisThreadState */
	int (*finalizing)(void);
	int (*initialized)(void);
	int (*add_call)(int (*function)(void *), void *argument);
	int (*at_exit)(void (*function)(void));
	/* To be called only with the GIL held: */
	void *(*current)(void);
	void *(*main)(void);
	void *(*import_module)(const char *, void *, void *, void *, int);
	void *(*new_function)(void *method, void *self, void *module);
	void *(*call_method)(void *object, const char *name, const char *format, ...);
	void *(*build_value)(const char *format, ...);
	void (*drop)(void *);
	void (*clear_error)(void);
	const void *runtime; /* _PyRuntime */
	const void *code_type, *text_type, *bytes_type;
	const int *finishing; /* 3.8: not 0 once pending calls are refused; NULL from 3.9 on */
	uint64_t eval_low, eval_high;
	struct python_layout layout;
	bool guessed;      /* version not in frame_offsets.def: layout must be verified */
	char version[32];  /* such as "3.12.3" */
	char refusal[160]; /* a sentence on why Python stacks are off, if they are */
};

#pragma GCC visibility push(hidden)
/* This process's interpreter, filled by python_find(). */
extern struct python_interpreter python_process;
#pragma GCC visibility pop

/*
 * Finds the interpreter of this process and fills python_process. `lookup` works like dlsym().
 * Returns 0; -ENOENT if no interpreter is loaded; -ENOTSUP if its frames cannot be read, with
 * python_process.version and .refusal set. Takes the loader's locks and may allocate.
 */
int python_find(void *(*lookup)(void *, const char *));

/* In python_layout.c: fills python_process.layout for CPython 3.`minor`, from frame_offsets.def or
 * the table in _PyRuntime. `version`: PY_VERSION_HEX, 0 if unknown. False if no layout is valid. */
bool python_layout_find(unsigned minor, uint64_t version);

/* --- python_code_and_lines.c --- */

enum python_verdict { PYTHON_EMPTY, PYTHON_RIGHT, PYTHON_WRONG };

/* Verifies the layout: follows this thread's innermost frames from its PyThreadState by reads that
 * fail instead of faulting, and checks that each has a code object. PYTHON_EMPTY: no frame. If the
 * kernel forbids such reads, a version listed in frame_offsets.def passes unchecked. */
enum python_verdict python_try(const void *thread);

/* True if `code` is a code object whose names are str and whose line table is bytes. */
bool python_is_code(const void *code);

/* Copies a str object as UTF-8, always terminated, cut between characters if it is too long. NUL
 * and lone surrogates become U+FFFD. False if the object is not laid out as a str. */
bool python_text(const void *text, char *to, size_t size);

/* The source line of the instruction at byte `position`; 0 if the line table gives none. For a
 * negative position (the frame has not begun) the code object's first line. */
int32_t python_line(const void *code, int32_t position);

/* --- python_guard.c --- */

/*
 * Makes the interpreter call ending() before it ends, unless that was done. False if that is not
 * possible now: the interpreter has not begun, is about to end, or has no room for a pending call.
 * Waits for a fork (loader_begin()), and for the interpreter's lock on pending calls, which is held
 * briefly and made anew in a forked child.
 */
bool python_ask(void);

/*
 * Begins a walk. False if frames must not be read: the interpreter has not begun, or another thread
 * is or may be ending it. Otherwise the interpreter's end waits a while for python_let_go(), called
 * by the same function, whose frame address is `frame`. A walk by the process's first thread does
 * not delay the end: that thread is assumed to be the one that ends the interpreter.
 */
bool python_hold(void **frame);
void python_let_go(void **frame);

/* --- python_fast.c --- */

/* Computes the number and the sum of the frames from `innermost` outwards, without filling the
 * list. False if a code object has no version number, if threads have copies of the code
 * (code_tlbc), or if the trail or the list is too short. */
bool python_quick_walk(const struct python_layout *at, const void *innermost,
		       struct python_frames *to);

static inline uint64_t python_turn(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* A key for each position on the stack. With evenly spaced keys, a recursion through the lines
 * a, b, b, a would have the same sum as b, a, a, b. */
static inline uint64_t python_key(unsigned index)
{
	uint64_t key = (index + 1) * HASH_A;

	return (key ^ key >> 32) * HASH_B;
}

/* A frame's addend in the sum: a product with keys for its position (NH: Black et al., UMAC, 1999),
 * independent of all other frames. `rest`: a word that determines the instruction. */
static inline unsigned __int128 python_part(uint64_t code, uint64_t identity, uint64_t rest,
					    unsigned index)
{
	uint64_t key = python_key(index);

	return (unsigned __int128)(code + key) *
	       ((identity ^ rest * HASH_C) + python_turn(key, 24));
}
