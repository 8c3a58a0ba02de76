/*
 * Shared by the files of this folder, and for them alone: the places where an interpreter keeps its
 * frames, and reading there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem/hash.h"
#include "capture/python/python.h"

/* --- python_layout.c --- */

enum python_table {
	PYTHON_LNOTAB,    /* 3.8, 3.9: co_lnotab */
	PYTHON_DELTAS,    /* 3.10: co_linetable, PEP 626 */
	PYTHON_LOCATIONS, /* 3.11 on: co_linetable, InternalDocs/code_objects.md */
};

enum { PYTHON_NONE = -1 };

/* Byte offsets, PYTHON_NONE where this version has no such thing; the columns of python.def. */
struct python_layout {
	int32_t thread_frame;
	int32_t thread_cframe;
	int32_t frame_previous;
	int32_t frame_code;
	int32_t frame_position;
	int32_t frame_owner;
	int32_t frame_entry;
	int32_t frame_tlbc;
	int32_t code_first_line;
	int32_t code_file;
	int32_t code_name;
	int32_t code_qualname;
	int32_t code_table;
	int32_t code_version;
	int32_t code_traceable;
	int32_t code_start;
	int32_t code_tlbc;
	int32_t object_type;
	int32_t bytes_size;
	int32_t bytes_data;
	int32_t text_length;
	int32_t text_state;
	int32_t text_ascii;
	int32_t text_compact;
	int32_t text_shift;
	enum python_table table;
};

/* Minor versions in python.def; from PYTHON_TELLING on, interpreters have a table of their own. */
#define PYTHON_OLDEST 8
#define PYTHON_TELLING 13
#define PYTHON_NEWEST 15

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

/* The code object of a reference: from 3.14 on its low bits are tags (pycore_stackref.h). */
static inline const void *python_untagged(const void *reference)
{
	return (const void *)((uintptr_t)reference & ~(uintptr_t)7);
}

/* The kind of a type object, subclasses included, or 0 (tp_flags: Py_TPFLAGS_UNICODE_SUBCLASS,
 * Py_TPFLAGS_BYTES_SUBCLASS; the same place and bits since 3.8). */
#define PYTHON_IS_TEXT (1ULL << 28)
#define PYTHON_IS_BYTES (1ULL << 27)

enum { PYTHON_TYPE_FLAGS = 160 }; /* bytes after ob_type */

static inline uint64_t python_type_flag(const struct python_layout *layout, const void *type)
{
	return python_word(type, layout->object_type + PYTHON_TYPE_FLAGS) &
	       (PYTHON_IS_TEXT | PYTHON_IS_BYTES);
}

/* Shims and other frames of the interpreter's own, from 3.12 on (enum _frameowner). */
static inline bool python_owned_by_interpreter(uint8_t owner)
{
	return owner >= 3;
}

/* A frame that is still making its cells or its generator, which CPython does not show either. The
 * code is read only where it can matter: that would be one more cache line a frame. */
static inline bool python_incomplete(const struct python_layout *at, const void *code,
				     int32_t position, uint8_t owner)
{
	return position < 64 && owner != 1 && at->code_traceable != PYTHON_NONE &&
	       position < 2 * python_int(code, at->code_traceable);
}

/* --- python_find.c --- */

struct python_interpreter {
	/* Of its C API, as Python.h has them. */
	void *(*this_thread)(void); /* PyGILState_GetThisThreadState */
	int (*finalizing)(void);
	int (*initialized)(void);
	int (*add_call)(int (*function)(void *), void *argument);
	int (*at_exit)(void (*function)(void));
	/* With the GIL alone. */
	void *(*current)(void);
	void *(*main)(void);
	void *(*import_module)(const char *, void *, void *, void *, int);
	void *(*new_function)(void *method, void *self, void *module);
	void *(*call_method)(void *object, const char *name, const char *format, ...);
	void *(*build_value)(const char *format, ...);
	void (*drop)(void *);
	void (*clear_error)(void);
	const void *runtime; /* _PyRuntime */
	const void *code_type;
	const void *text_type;
	const void *bytes_type;
	const int *finishing; /* of 3.8: its last pending calls were made; else NULL */
	uint64_t eval_low;
	uint64_t eval_high;
	struct python_layout layout;
	bool guessed;      /* newer than python.def: must be proved before it is read */
	char version[32];  /* "3.12.3" */
	char refusal[160]; /* the sentence for turning Python stacks off */
};

#pragma GCC visibility push(hidden)
/* This process's: written by one python_prepare(), and not read before its end. */
extern struct python_interpreter python_process;
#pragma GCC visibility pop

/*
 * Finds the interpreter of this process and fills python_process. `lookup` is dlsym. Returns 0;
 * -ENOENT when no interpreter is loaded; -ENOTSUP when there is one that cannot be walked, with
 * version and refusal filled. Takes the loader's locks and may allocate.
 */
int python_find(void *(*lookup)(void *, const char *));

/* In python_layout.c: finds the layout of CPython 3.`minor`, in python.def or in the table that
 * _PyRuntime carries. `version` is PY_VERSION_HEX or 0. False if there is none. */
bool python_layout_find(unsigned minor, uint64_t version);

/* --- python_object.c --- */

enum python_verdict { PYTHON_EMPTY, PYTHON_RIGHT, PYTHON_WRONG };

/*
 * Follows this thread's frames from its PyThreadState with reads that fail instead of faulting, and
 * checks that each is a frame of a code object as this build expects it. PYTHON_EMPTY: there is no
 * frame. Where the kernel bars such reads, only a known version is believed.
 */
enum python_verdict python_try(const void *thread);

/* True if this is a code object whose names are str and whose line table is bytes. */
bool python_is_code(const void *code);

/* A str object as UTF-8, always terminated, cut between characters when longer. NUL and lone
 * surrogates become U+FFFD. False when the object is not laid out as a str. */
bool python_text(const void *text, char *to, size_t size);

/* The line of the instruction at byte `position`; 0 when the table gives it none. A negative
 * position is a frame that has not begun: the code's first line. */
int32_t python_line(const void *code, int32_t position);

/* --- python_guard.c --- */

/*
 * Asks the interpreter to announce its end, if that was not done. False when it cannot be asked: it
 * has not begun, or is about to end. Takes its lock on pending calls for an instant (a child makes
 * that lock anew), and waits for nothing else.
 */
bool python_ask(void);

/*
 * False when frames must not be read: the interpreter ends on another thread. Else it does not end
 * until python_let_go() in the same function, whose frame address is given. The process's first
 * thread does not announce itself: it is taken to be the one that ends the interpreter.
 */
bool python_hold(void **frame);
void python_let_go(void **frame);

/* --- python_fast.c --- */

/* Counts and sums the frames from the innermost on, without filling the list. False when codes have
 * no numbers in this version, when one has none, and when the trail or the list is too short. */
bool python_quick_walk(const struct python_layout *at, const void *innermost,
		       struct python_frames *to);

static inline uint64_t python_turn(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* A key for each place; no two pairs of places have the same difference. With keys in even steps,
 * calls of a function by itself from two lines would have one sum for a, b, b, a and b, a, a, b. */
static inline uint64_t python_key(unsigned index)
{
	uint64_t key = (index + 1) * HASH_A;

	return (key ^ key >> 32) * HASH_B;
}

/* A frame's part in the sum: a product with keys of its place (NH: Black et al., UMAC, 1999), so
 * that the parts can be computed independently. */
static inline unsigned __int128 python_part(uint64_t code, uint64_t identity, uint64_t rest,
					    unsigned index)
{
	uint64_t key = python_key(index);

	return (unsigned __int128)(code + key) *
	       ((identity ^ rest * HASH_C) + python_turn(key, 24));
}
