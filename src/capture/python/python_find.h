/* The interpreter in this process; for python.c and its helpers only. */
#ifndef CAPTURE_PYTHON_PYTHON_FIND_H
#define CAPTURE_PYTHON_PYTHON_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/python/python_layout.h"

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
