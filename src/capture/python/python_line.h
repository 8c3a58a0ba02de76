/* From an instruction to its line: the three line tables that CPython has had since 3.8. */
#ifndef CAPTURE_PYTHON_PYTHON_LINE_H
#define CAPTURE_PYTHON_PYTHON_LINE_H

#include <stddef.h>
#include <stdint.h>

enum python_table {
	PYTHON_LNOTAB,    /* 3.8, 3.9: co_lnotab */
	PYTHON_DELTAS,    /* 3.10: co_linetable, PEP 626 */
	PYTHON_LOCATIONS, /* 3.11 on: co_linetable, InternalDocs/code_objects.md */
};

/*
 * The line of the instruction at byte `position` of the code whose table this is; 0 when the table
 * says that the instruction has none. A negative position is a frame that has not begun:
 * first_line.
 */
int32_t python_line(enum python_table kind, const uint8_t *table, size_t size, int32_t first_line,
		    int32_t position);

#endif
