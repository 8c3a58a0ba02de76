/*
 * Keeps the interpreter from ending under a walk of another thread's own frames; for python.c only.
 *
 * An interpreter that ends says so (Py_IsFinalizing), takes its lock on the list of threads, cuts
 * all other threads off that list, and frees their states and frames (_PyThreadState_DeleteExcept,
 * 3.10 to 3.15; zapthreads before). So whoever holds that lock and has been told "not ending" keeps
 * them alive until it lets go. CPython holds the lock for some hundred instructions at a time, when
 * a thread begins or ends or the list is read; it never waits for anything of ours.
 */
#ifndef CAPTURE_PYTHON_HOLD_H
#define CAPTURE_PYTHON_HOLD_H

#include "capture/python_find.h"

enum python_hold {
	PYTHON_ENDING, /* do not look */
	PYTHON_HELD,   /* look, then python_let_go() */
	PYTHON_OWN,    /* look: the interpreter ends on this thread or not at all */
};

/*
 * Never waits for long: when the lock cannot be had within some microseconds (somebody reads the
 * list, perhaps this very thread below us), the answer is PYTHON_OWN, as it is on the process's
 * first thread, which is taken to be the one that ends the interpreter.
 */
enum python_hold python_hold(const struct python_interpreter *python);
void python_let_go(const struct python_interpreter *python, enum python_hold hold);

#endif
