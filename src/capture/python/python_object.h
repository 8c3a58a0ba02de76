/* Reading CPython's objects, each checked before it is believed; for python.c only. */
#ifndef CAPTURE_PYTHON_PYTHON_OBJECT_H
#define CAPTURE_PYTHON_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/python/python_find.h"

enum python_verdict { PYTHON_EMPTY, PYTHON_RIGHT, PYTHON_WRONG };

/*
 * Follows this thread's frames from its PyThreadState with reads that fail instead of faulting, and
 * says whether each is a frame of a code object as this build expects it. PYTHON_EMPTY: no frame to
 * tell by. Where the kernel bars such reads, a known version is believed and a guessed one is not.
 */
enum python_verdict python_try(const struct python_interpreter *python, const void *thread);

/* Whether this is a code object whose names are str and whose line table is bytes. */
bool python_is_code(const struct python_interpreter *python, const void *code);

/*
 * A str object as UTF-8, always terminated, cut between characters when longer. What C or UTF-8
 * cannot hold (NUL, lone surrogates) becomes U+FFFD. False when the object is not laid out as a
 * str.
 */
bool python_text(const struct python_interpreter *python, const void *text, char *to, size_t size);

/* The innermost frame, or NULL. */
static inline const void *python_innermost(const struct python_layout *at, const void *thread)
{
	const void *frame = python_pointer(thread, at->thread_frame);

	if (at->thread_cframe != PYTHON_NONE && frame)
		frame = python_pointer(frame, at->thread_cframe);
	return frame;
}

#endif
