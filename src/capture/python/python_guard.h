/*
 * Keeps the interpreter from ending under a walk of another thread's own frames; for python.c only.
 *
 * An interpreter that ends frees the frames of all other threads (_PyThreadState_DeleteExcept, 3.10
 * to 3.15; zapthreads before). It says so first, to what is registered with its module atexit: ours
 * is registered at a moment of its own choosing (Py_AddPendingCall), and waits there until nobody
 * walks. Nobody begins to walk after that but the thread that ends it. No lock of the interpreter's
 * is held meanwhile, for a thread may fork at any time, and a child would find it held for ever.
 */
#ifndef CAPTURE_PYTHON_PYTHON_GUARD_H
#define CAPTURE_PYTHON_PYTHON_GUARD_H

#include "capture/python/python_find.h"

/*
 * Asks the interpreter to tell when it ends, if that was not done. False when it cannot be asked:
 * it has not begun, or is about to end. Takes its lock on pending calls for an instant (one that a
 * child makes anew), and waits for nothing else.
 */
bool python_ask(const struct python_interpreter *python);

/*
 * False when frames must not be looked at: the interpreter ends on another thread. Else until
 * python_let_go() in the same function, whose frame address is given, it does not. The process's
 * first thread does not announce itself: it is taken to be the one that ends the interpreter.
 */
bool python_hold(const struct python_interpreter *python, void **frame);
void python_let_go(void **frame);

#endif
