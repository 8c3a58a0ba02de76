/* Where each CPython keeps its frames, and reading there; for python.c and its helpers only. */
#ifndef CAPTURE_PYTHON_PYTHON_LAYOUT_H
#define CAPTURE_PYTHON_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "capture/python/python_line.h"

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

/*
 * The layout of CPython 3.`minor`: from the table that `runtime` (_PyRuntime, or NULL) carries,
 * else from python.def. `version` is PY_VERSION_HEX or 0. 0, or -ENOTSUP; *guessed when the version
 * is newer than python.def and its table was read as the newest one known.
 */
int python_layout_find(struct python_layout *layout, unsigned minor, bool free_threaded,
		       uint64_t version, const void *runtime, bool *guessed);

/* The oldest and the newest minor version that python.def knows. */
unsigned python_layout_oldest(void);
unsigned python_layout_newest(void);

static inline const void *python_pointer(const void *base, int32_t offset)
{
	const void *value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static inline uint64_t python_word(const void *base, int32_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
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

/* The code object a frame's reference means: from 3.14 on its low bits are tags
 * (pycore_stackref.h). */
static inline const void *python_untagged(const void *reference)
{
	return (const void *)((uintptr_t)reference & ~(uintptr_t)7);
}

/*
 * Which of the two a type object is, subclasses included (tp_flags: Py_TPFLAGS_UNICODE_SUBCLASS,
 * Py_TPFLAGS_BYTES_SUBCLASS; the same place and bits since 3.8), or 0.
 */
#define PYTHON_IS_TEXT (1ULL << 28)
#define PYTHON_IS_BYTES (1ULL << 27)

enum { PYTHON_TYPE_FLAGS = 160 }; /* behind ob_type */

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

/*
 * A frame that is still making its cells or its generator, which CPython does not show either. The
 * code is asked only where it can matter: it would be one more cache line a frame.
 */
static inline bool python_incomplete(const struct python_layout *at, const void *code,
				     int32_t position, uint8_t owner)
{
	return position < 64 && owner != 1 && at->code_traceable != PYTHON_NONE &&
	       position < 2 * python_int(code, at->code_traceable);
}

#endif
