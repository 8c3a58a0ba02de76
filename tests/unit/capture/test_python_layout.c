/* What CPython 3.14 tells of itself, in a table that is written by hand. */
#include <string.h>

#include "capture/python/python_parts.h"
#include "check.h"

enum { MINOR = 14, VERSION = 0x030e00f0, FIGURES = 22 };

/* Where in the table each figure stands, by frame_offsets.def; the same in both builds. */
static const int places[FIGURES] = { 176, 208, 248, 256, 264, 272, 288, 304, 312, 320, 328,
				     336, 344, 352, 384, 392, 408, 600, 608, 632, 624, 640 };
static const uint64_t ordinary[FIGURES] = { 800, 72,  88, 8,   0, 56, 74, 0,  216, 112, 120,
					    128, 136, 68, 208, 0, 8,  16, 32, 16,  32,  40 };
static const uint64_t threaded[FIGURES] = { 800, 72,  96, 8,   0,   56, 78, 72, 240, 128, 136,
					    144, 152, 84, 232, 224, 24, 32, 48, 32,  48,  56 };

static const struct python_layout *told(const uint64_t *figures, uint64_t free_threaded)
{
	static char table[1024];
	uint64_t head[] = { VERSION, free_threaded };

	memset(table, 0, sizeof(table));
	memcpy(table, "xdebugpy", 8);
	memcpy(table + 8, head, sizeof(head));
	for (unsigned i = 0; i < FIGURES; i++)
		memcpy(table + places[i], &figures[i], sizeof(figures[i]));
	python_process.runtime = table;
	OK(python_layout_find(MINOR, VERSION));
	return &python_process.layout;
}

TEST(an_ordinary_build_has_no_copies_of_its_code)
{
	const struct python_layout *at = told(ordinary, 0);

	EQ(at->frame_owner, 74);
	EQ(at->frame_tlbc, PYTHON_NONE);
	EQ(at->code_tlbc, PYTHON_NONE);
	EQ(at->code_version, 92);
	EQ(at->code_traceable, 192);
	EQ(at->text_compact, 56);
	EQ(at->text_shift, 2);
}

TEST(threads_of_a_build_without_the_gil_have_copies)
{
	const struct python_layout *at = told(threaded, 1);

	EQ(at->frame_tlbc, 72);
	EQ(at->code_tlbc, 224);
	EQ(at->code_version, 108);
	EQ(at->code_traceable, 208);
	EQ(at->text_compact, 72);
	EQ(at->text_shift, 8);
}

TEST(what_cannot_be_is_not_believed)
{
	uint64_t figures[FIGURES];

	memcpy(figures, ordinary, sizeof(figures));
	told(figures, 0);
	OK(!python_layout_find(MINOR, VERSION + 1)); /* the table is another version's */
	figures[1] = 801;                            /* beyond the end of PyThreadState */
	memcpy((char *)(uintptr_t)python_process.runtime + places[1], &figures[1], 8);
	OK(!python_layout_find(MINOR, VERSION));
}
