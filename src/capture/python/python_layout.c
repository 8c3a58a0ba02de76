/*
 * Where each CPython keeps its frames: what the interpreter tells itself, else what python.def
 * knows.
 *
 * What it tells is checked before it is believed, since a table of an unknown version, read as the
 * newest known one, can be anything.
 */
#include "capture/python/python_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
	TELLS_FREE_THREADED = 16,
	FRAME_AT_MOST = 512,
	CODE_AT_MOST = 1024,
	THREAD_AT_MOST = 100000,
};

enum build { BUILD_GIL, BUILD_FREE };

struct known {
	unsigned minor;
	enum build build;
	struct python_layout layout;
};

#define NONE PYTHON_NONE
#define THREAD(frame, cframe) .thread_frame = (frame), .thread_cframe = (cframe)
#define FRAME(previous, code, position, owner, entry, tlbc)                               \
	.frame_previous = (previous), .frame_code = (code), .frame_position = (position), \
	.frame_owner = (owner), .frame_entry = (entry), .frame_tlbc = (tlbc)
#define CODE(first_line, file, name, qualname, table, version, traceable, start, tlbc) \
	.code_first_line = (first_line), .code_file = (file), .code_name = (name),     \
	.code_qualname = (qualname), .code_table = (table), .code_version = (version), \
	.code_traceable = (traceable), .code_start = (start), .code_tlbc = (tlbc)
#define OBJECT(type, size, data) .object_type = (type), .bytes_size = (size), .bytes_data = (data)
#define TEXT(length, state, ascii, compact, shift)                             \
	.text_length = (length), .text_state = (state), .text_ascii = (ascii), \
	.text_compact = (compact), .text_shift = (shift)
#define PYTHON(minor, build, table_kind, thread, frame, code, object, text) \
	{ minor,                                                            \
	  BUILD_##build,                                                    \
	  { thread, frame, code, object, text, .table = PYTHON_##table_kind } },

static const struct known known[] = {
#include "capture/python/python.def"
};

#undef THREAD
#undef FRAME
#undef CODE
#undef OBJECT
#undef TEXT

/* Where in _Py_DebugOffsets each stands; in the order of the columns of python.def. */
struct tells {
	unsigned minor;
	int thread_size, thread_frame;
	int frame_size, frame_previous, frame_code, frame_position, frame_owner, frame_tlbc;
	int code_size, code_file, code_name, code_qualname, code_table, code_first_line, code_start;
	int code_tlbc;
	int object_type, bytes_size, bytes_data, text_length, text_state, text_ascii;
};

#define TELLS(...) { __VA_ARGS__ },

static const struct tells tells[] = {
#include "capture/python/python.def"
};

#undef NONE

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

unsigned python_layout_oldest(void)
{
	return known[0].minor;
}

unsigned python_layout_newest(void)
{
	return known[COUNT(known) - 1].minor;
}

/* One offset out of the interpreter's table; NONE unless it is aligned and its field ends in time.
 */
static int32_t told(const void *runtime, int at, size_t width, uint64_t end)
{
	uint64_t offset = python_word(runtime, at);

	return offset < end && offset + width <= end && offset % width == 0 ? (int32_t)offset
									    : PYTHON_NONE;
}

static bool told_size(const void *runtime, int at, uint64_t least, uint64_t most, uint64_t *size)
{
	*size = python_word(runtime, at);
	return *size >= least && *size <= most;
}

/* What the table does not tell, from what it does: true of 3.13 to 3.15 in both builds. */
static void fill_untold(struct python_layout *layout, unsigned minor, bool free_threaded)
{
	int32_t end = layout->code_tlbc == PYTHON_NONE ? layout->code_start : layout->code_tlbc;

	layout->code_traceable = end - 16;
	layout->code_version = layout->code_first_line + 24;
	layout->text_compact = layout->text_ascii + 16;
	layout->text_shift = free_threaded && minor >= 14 ? 8 : 2;
	layout->table = PYTHON_LOCATIONS;
}

static bool layout_whole(const struct python_layout *layout)
{
	return layout->thread_frame > 0 && layout->frame_previous >= 0 && layout->frame_code >= 0 &&
	       layout->frame_position > 0 && layout->frame_owner > 0 && layout->code_file > 0 &&
	       layout->code_name > 0 && layout->code_qualname > 0 && layout->code_table > 0 &&
	       layout->code_first_line > 0 && layout->code_start > 0 &&
	       (layout->object_type == 8 || layout->object_type == 24) && layout->bytes_size > 0 &&
	       layout->bytes_data > 0 && layout->text_length > 0 && layout->text_state > 0 &&
	       (layout->text_ascii == 40 || layout->text_ascii == 56);
}

static bool layout_told(struct python_layout *layout, const struct tells *at, unsigned minor,
			const void *runtime)
{
	bool free_threaded = python_word(runtime, TELLS_FREE_THREADED) != 0;
	bool local_code = free_threaded && at->frame_tlbc != PYTHON_NONE;
	uint64_t thread, frame, code;

	if (!told_size(runtime, at->thread_size, 100, THREAD_AT_MOST, &thread) ||
	    !told_size(runtime, at->frame_size, 64, FRAME_AT_MOST, &frame) ||
	    !told_size(runtime, at->code_size, 150, CODE_AT_MOST, &code))
		return false;
	*layout = (struct python_layout){
		.thread_frame = told(runtime, at->thread_frame, 8, thread),
		.thread_cframe = PYTHON_NONE,
		.frame_previous = told(runtime, at->frame_previous, 8, frame),
		.frame_code = told(runtime, at->frame_code, 8, frame),
		.frame_position = told(runtime, at->frame_position, 8, frame),
		.frame_owner = told(runtime, at->frame_owner, 1, frame),
		.frame_entry = PYTHON_NONE,
		.frame_tlbc = local_code ? told(runtime, at->frame_tlbc, 4, frame) : PYTHON_NONE,
		.code_first_line = told(runtime, at->code_first_line, 4, code),
		.code_file = told(runtime, at->code_file, 8, code),
		.code_name = told(runtime, at->code_name, 8, code),
		.code_qualname = told(runtime, at->code_qualname, 8, code),
		.code_table = told(runtime, at->code_table, 8, code),
		.code_start = told(runtime, at->code_start, 2, code),
		.code_tlbc = local_code ? told(runtime, at->code_tlbc, 8, code) : PYTHON_NONE,
		.object_type = told(runtime, at->object_type, 8, 32),
		.bytes_size = told(runtime, at->bytes_size, 8, 64),
		.bytes_data = told(runtime, at->bytes_data, 1, 128),
		.text_length = told(runtime, at->text_length, 8, 64),
		.text_state = told(runtime, at->text_state, 4, 64),
		.text_ascii = told(runtime, at->text_ascii, 8, 128),
	};
	if (local_code && (layout->frame_tlbc == PYTHON_NONE || layout->code_tlbc == PYTHON_NONE))
		return false;
	fill_untold(layout, minor, free_threaded);
	return layout_whole(layout);
}

int python_layout_find(struct python_layout *layout, unsigned minor, bool free_threaded,
		       uint64_t version, const void *runtime, bool *guessed)
{
	unsigned newest = tells[COUNT(tells) - 1].minor;
	size_t i;

	*guessed = minor > newest;
	if (minor >= tells[0].minor && runtime && memcmp(runtime, "xdebugpy", 8) == 0 && version &&
	    python_word(runtime, 8) == version) {
		for (i = 0; tells[i].minor < (*guessed ? newest : minor); i++)
			;
		if (layout_told(layout, &tells[i], minor, runtime)) {
			/* Nothing vouches for these in a version nobody has seen. */
			if (*guessed)
				layout->code_version = layout->code_traceable = PYTHON_NONE;
			return 0;
		}
	}
	for (i = 0; i < COUNT(known); i++)
		if (known[i].minor == minor && (known[i].build == BUILD_FREE) == free_threaded) {
			*layout = known[i].layout;
			return 0;
		}
	return -ENOTSUP;
}
