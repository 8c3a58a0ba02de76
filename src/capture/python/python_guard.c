/*
 * Keeps the interpreter from ending while another thread walks its own Python frames.
 *
 * An interpreter that ends frees the frames of all other threads (_PyThreadState_DeleteExcept, 3.10
 * to 3.15; zapthreads in older versions). Before that, it calls the functions registered with its
 * module atexit. One of these is ending(): it is registered at a time that the interpreter chooses
 * (Py_AddPendingCall), and waits until no thread walks (PATIENCE_MS at most). From then on only the
 * thread that ends the interpreter may begin a walk. A walk holds no lock of the interpreter,
 * because any thread may fork meanwhile, and the child would find the lock held for ever.
 */
#include "capture/python/python_parts.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guest/hot.h"
#include "capture/loader/loader.h"

/* Longest wait for walks to end: longer than a busy machine keeps a thread from running. The wait
 * is this long if a signal handler has jumped out of a walk, which then seems to last for ever. */
enum { PATIENCE_MS = 1000 };

static struct crowd walkers;
static HOT_THREAD _Thread_local struct crowd_self self;

/* The `self` of the thread that ends the interpreter; NULL while no thread does. */
static HOT_DATA _Atomic(const struct crowd_self *) ender;
static HOT_DATA atomic_bool asked;

/* Whether a thread is the process's first; UNKNOWN before its first walk. A forked child's thread
 * has the value of the thread that forked. */
enum { UNKNOWN, FIRST, OTHER };
static HOT_THREAD _Thread_local unsigned char thread_kind;

static bool nobody_walks(void)
{
	return crowd_is_empty(&walkers, &self);
}

/* Called by Py_AtExit at the interpreter's very end. Another interpreter may begin afterwards. */
static void ended(void)
{
	atomic_store(&asked, false);
	atomic_store(&ender, NULL);
}

/*
 * Called by Python's atexit when all but the daemon threads have ended, before the frames of daemon
 * threads are freed. A program may unregister it by atexit._clear(), as children of multiprocessing
 * do, which leave by _exit: then no walk is awaited, and finalizing() alone prevents new walks.
 * After an early call (atexit._run_exitfuncs()) only the calling thread may walk.
 */
static void *ending(void *module, void *unused)
{
	(void)module, (void)unused;
	atomic_store(&ender, &self);
	crowd_await(nobody_walks, PATIENCE_MS);
	python_process.at_exit(ended);
	return python_process.build_value("");
}

/*
 * A pending call that registers ending(). It runs on the interpreter's main thread with the GIL,
 * before atexit's functions at the latest, because an interpreter that ends makes its pending calls
 * first (3.8 to 3.14). In a sub-interpreter it registers nothing, and the next walk tries again.
 */
static int register_ending(void *unused)
{
	static struct {
		const char *name;
		void *(*function)(void *module, void *unused);
		int flags;
		const char *doc;
	} method; /* laid out as a PyMethodDef */
	void *atexit = NULL, *function = NULL, *result = NULL;

	(void)unused;
	method.name = "memtrace_ending";
	method.function = ending;
	method.flags = 4; /* METH_NOARGS */
	if (python_process.current() == python_process.main())
		atexit = python_process.import_module("atexit", NULL, NULL, NULL, 0);
	if (atexit)
		function = python_process.new_function(&method, NULL, NULL);
	if (function)
		result = python_process.call_method(atexit, "register", "O", function);
	if (!result) {
		python_process.clear_error();
		atomic_store(&asked, false);
	}
	python_process.drop(result);
	python_process.drop(function);
	python_process.drop(atexit);
	return 0;
}

/* True if a pending call can be added. CPython 3.8, once `finishing` is set, would refuse a call
 * by printing an error with the state of the thread that has the GIL. */
static bool takes_calls(void)
{
	return python_process.initialized() && !python_process.finalizing() &&
	       !(python_process.finishing && *python_process.finishing);
}

bool python_ask(void)
{
	bool done = atomic_load_explicit(&asked, memory_order_relaxed);

	if (__builtin_expect(done, 1) || !takes_calls())
		return done;
	LOADER_CALLED(); /* no child is made while the interpreter's lock is held */
	done = atomic_exchange(&asked, true) || !python_process.add_call(register_ending, NULL);
	if (!done)
		atomic_store(&asked, false); /* the queue is full: the next walk tries again */
	return done;
}

HOT_CODE bool python_hold(void **frame)
{
	const struct crowd_self *by = atomic_load_explicit(&ender, memory_order_relaxed);

	if (__builtin_expect(thread_kind == UNKNOWN, 0))
		thread_kind = syscall(SYS_gettid) == getpid() ? FIRST : OTHER;
	if (by || thread_kind == FIRST)
		return !by || by == &self;
	if (!python_ask())
		return false;
	/* The walk is announced before `ender` is read, and ending() sets `ender` before it counts
	 * walks: so at least one of the two threads notices the other. */
	crowd_enter(&walkers, &self, frame);
	if (!atomic_load(&ender) && !python_process.finalizing())
		return true;
	crowd_leave(&walkers, &self, frame);
	return false;
}

HOT_CODE void python_let_go(void **frame)
{
	crowd_leave(&walkers, &self, frame);
}

void python_forked(void)
{
	crowd_forked(&walkers, &self);
}
