/*
 * Finds the offsets at which a version of CPython stores its frames: in frame_offsets.def or, from
 * 3.13 on, in a table inside the interpreter.
 *
 * The interpreter's table is checked before it is used: an unknown version's table is read as if it
 * were the newest known version's, so its fields can hold anything.
 */
#include "base/mem/each.h"
#include "capture/python/python_parts.h"

enum {
	TELLS_VERSION = 8,        /* offset of the version in the interpreter's table, in bytes */
	TELLS_FREE_THREADED = 16, /* offset of the flag for free-threaded builds, in bytes */
	SIZE = -1, /* marks a column with the size of the struct that the next columns are in */
};

#define NONE PYTHON_NONE
#define THREAD(frame, cframe) .thread_frame = (frame), .thread_cframe = (cframe)
#define FRAME(previous, code, position, owner, entry)                                     \
	.frame_previous = (previous), .frame_code = (code), .frame_position = (position), \
	.frame_owner = (owner), .frame_entry = (entry), .frame_tlbc = NONE
#define CODE(first_line, file, name, qualname, table, version, traceable, start)       \
	.code_first_line = (first_line), .code_file = (file), .code_name = (name),     \
	.code_qualname = (qualname), .code_table = (table), .code_version = (version), \
	.code_traceable = (traceable), .code_start = (start), .code_tlbc = NONE
#define OBJECTS .object_type = 8, .bytes_size = 16, .bytes_data = 32
#define TEXT(ascii, compact)                                                                   \
	.text_length = 16, .text_state = 32, .text_ascii = (ascii), .text_compact = (compact), \
	.text_shift = 2
#define PYTHON(minor, table_kind, thread, frame, code, text)                     \
	[minor - PYTHON_OLDEST] = {                                              \
		thread, frame, code, OBJECTS, text, .table = PYTHON_##table_kind \
	},

static const struct python_layout known[] = {
#include "capture/python/frame_offsets.def"
};

#undef THREAD
#undef FRAME
#undef CODE
#undef OBJECTS
#undef TEXT

/* For each column of TELLS in frame_offsets.def: the field of python_layout and its valid range. */
static const struct told_field {
	int place;
	unsigned width; /* size of the field in bytes; its offset is a multiple of the size */
	uint64_t least;
	uint64_t end; /* valid values are less than this; 0: less than the struct's size */
} columns[] = {
#define FIELD(field) (int)offsetof(struct python_layout, field)
	{ SIZE, 1, 100, 100000 },
	{ FIELD(thread_frame), 8, 1, 0 },
	{ SIZE, 1, 64, 512 },
	{ FIELD(frame_previous), 8, 0, 0 },
	{ FIELD(frame_code), 8, 0, 0 },
	{ FIELD(frame_position), 8, 1, 0 },
	{ FIELD(frame_owner), 1, 1, 0 },
	{ FIELD(frame_tlbc), 4, 0, 0 },
	{ SIZE, 1, 150, 1024 },
	{ FIELD(code_file), 8, 1, 0 },
	{ FIELD(code_name), 8, 1, 0 },
	{ FIELD(code_qualname), 8, 1, 0 },
	{ FIELD(code_table), 8, 1, 0 },
	{ FIELD(code_first_line), 4, 1, 0 },
	{ FIELD(code_start), 2, 1, 0 },
	{ FIELD(code_tlbc), 8, 0, 0 },
	{ FIELD(object_type), 8, 8, 32 },
	{ FIELD(bytes_size), 8, 1, 64 },
	{ FIELD(bytes_data), 1, 1, 128 },
	{ FIELD(text_length), 8, 1, 64 },
	{ FIELD(text_state), 4, 1, 64 },
	{ FIELD(text_ascii), 8, 40, 64 },
#undef FIELD
};

#define TELLS(minor, ...) [minor - PYTHON_TELLING] = { __VA_ARGS__ },

static const int tells[PYTHON_NEWEST - PYTHON_TELLING + 1][COUNT_OF(columns)] = {
#include "capture/python/frame_offsets.def"
};

#undef NONE

/* Sets the offsets that the interpreter's table lacks, to the values in 3.13 to 3.15. */
static void fill_untold(struct python_layout *layout, unsigned minor, bool free_threaded)
{
	if (!free_threaded)
		layout->frame_tlbc = layout->code_tlbc = PYTHON_NONE;
	layout->code_traceable =
		layout->code_tlbc == PYTHON_NONE ? layout->code_start - 16 : layout->code_tlbc - 16;
	layout->code_version = layout->code_first_line + 24;
	layout->text_compact = layout->text_ascii + 16;
	layout->text_shift = free_threaded && minor >= 14 ? 8 : 2;
	layout->table = PYTHON_LOCATIONS;
	/* A newer version may have these two fields elsewhere, which no check would notice. */
	if (minor > PYTHON_NEWEST)
		layout->code_version = layout->code_traceable = PYTHON_NONE;
}

/* Reads the interpreter's table, with column i at offset at[i]. False if a value is invalid. */
static bool read_told(struct python_layout *layout, const int *at)
{
	uint64_t struct_end = 0;

	*layout =
		(struct python_layout){ .thread_cframe = PYTHON_NONE, .frame_entry = PYTHON_NONE };
	for (size_t i = 0; i < COUNT_OF(columns); i++) {
		const struct told_field *column = &columns[i];
		uint64_t end = column->end ? column->end : struct_end;
		uint64_t value = PYTHON_NONE;

		if (at[i] != PYTHON_NONE) {
			value = python_word(python_process.runtime, at[i]);
			if (value < column->least || value >= end || value + column->width > end ||
			    value % column->width)
				return false;
		}
		if (column->place == SIZE)
			struct_end = value;
		else
			*(int32_t *)(void *)((char *)layout + column->place) = (int32_t)value;
	}
	return (layout->object_type == 8 || layout->object_type == 24) &&
	       (layout->text_ascii == 40 || layout->text_ascii == 56);
}

bool python_layout_find(unsigned minor, uint64_t version)
{
	const void *runtime = python_process.runtime;
	struct python_layout *layout = &python_process.layout;
	unsigned row = minor < PYTHON_NEWEST ? minor : PYTHON_NEWEST;

	python_process.guessed = minor > PYTHON_NEWEST;
	if (minor < PYTHON_TELLING) {
		*layout = known[minor - PYTHON_OLDEST];
		return true;
	}
	if (memcmp(runtime, "xdebugpy", 8) != 0 || python_word(runtime, TELLS_VERSION) != version ||
	    !read_told(layout, tells[row - PYTHON_TELLING]))
		return false;
	fill_untold(layout, minor, python_word(runtime, TELLS_FREE_THREADED) != 0);
	return true;
}
