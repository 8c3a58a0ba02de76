/* The interpreter in this process; for python.c and its helpers only. */
#ifndef CAPTURE_PYTHON_FIND_H
#define CAPTURE_PYTHON_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/python_layout.h"

struct python_interpreter {
	void *(*this_thread)(void); /* PyGILState_GetThisThreadState */
	int (*finalizing)(void);
	const void *runtime; /* _PyRuntime */
	/* What takes and releases its lock on the list of threads; NULL when it cannot be had. */
	int (*lock_acquire)(void *lock, int wait); /* PyThread_acquire_lock; NULL from 3.13 on */
	void (*lock_release)(void *lock);          /* PyThread_release_lock, PyMutex_Unlock */
	const void *code_type;
	const void *text_type;
	const void *bytes_type;
	uint64_t eval_low;
	uint64_t eval_high;
	struct python_layout layout;
	bool guessed;      /* newer than python.def: must prove itself before it is read */
	char version[32];  /* "3.12.3" */
	char refusal[160]; /* the sentence for turning Python stacks off */
	unsigned long long
		scanned; /* how many libraries had been loaded when a search found none */
};

/*
 * Finds the interpreter of this process and fills *python, which is zeroed before the first call
 * and kept between calls. `lookup` is dlsym. 0; -ENOENT when no interpreter is loaded (cheap to ask
 * again: it searches only after another library was loaded); -ENOTSUP when there is one that cannot
 * be walked, with version and refusal filled. Takes the loader's locks and may allocate.
 */
int python_find(struct python_interpreter *python, void *(*lookup)(void *, const char *));

#endif
