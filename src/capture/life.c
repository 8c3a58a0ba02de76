/*
 * The life of a guest: constructor, fork, exit.
 *
 * The constructor runs in every process that inherits LD_PRELOAD, shells and compilers included: it
 * reads settings, sets the two injection variables, and makes no file, no output and no thread.
 */
#include "capture/life.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "base/log.h"
#include "base/opt.h"
#include "base/start.h"
#include "base/text.h"
#include "base/watch.h"
#include "capture/choose.h"
#include "capture/control.h"
#include "capture/cupti.h"
#include "capture/loader.h"
#include "capture/record.h"
#include "capture/resolve.h"
#include "capture/span.h"
#include "capture/unwind.h"
#include "capture/walk.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

static START_DATA bool preloaded;

bool life_preloaded(void)
{
	return preloaded;
}

START_CODE static bool is_named(const struct link_map *map, const char *start)
{
	return !strncmp(text_base(map->l_name), start, strlen(start));
}

/*
 * This library, if it was there when the program started. The loader's list has the program first,
 * then what is preloaded, then what the program needs, libc among it, and at last what is dlopened:
 * a copy that the driver or NVTX loads by itself. Of two that are preloaded the first is it. What
 * dlmopen() loads is in another list.
 */
START_CODE static const struct link_map *preloaded_map(void)
{
	for (const struct link_map *at = _r_debug.r_map; at; at = at->l_next) {
		if (at->l_ld == _DYNAMIC)
			return at;
		if (is_named(at, "libmemtrace.so") || is_named(at, "libc.so."))
			break;
	}
	return NULL;
}

/* getenv() lies in a page of libc that few have touched yet. */
START_CODE static bool is_set(const char *name)
{
	for (char **variable = environ; variable && *variable; variable++) {
		if (text_value(*variable, name))
			return true;
	}
	return false;
}

/* The driver and NVTX find us again through these, wherever the process has changed to since. */
START_CODE static void set_injection(const char *library)
{
	char resolved[PATH_MAX];
	const char *path;

	if (is_set("CUDA_INJECTION64_PATH") && is_set("NVTX_INJECTION64_PATH"))
		return; /* most often: the parent had us, too */
	path = library[0] == '/' ? library : realpath(library, resolved);
	if (!path)
		return;
	setenv("CUDA_INJECTION64_PATH", path, 0);
	setenv("NVTX_INJECTION64_PATH", path, 0);
}

/*
 * With the lock held nobody is in the middle of an update when the child is made. A signal handler
 * that forks has interrupted one perhaps, and must not wait for it.
 */
static _Thread_local struct {
	bool handler; /* of a signal that came in the middle of this library */
	bool inside;  /* in the middle of an update */
	bool asleep;  /* nothing of ours has begun, and there is nobody who could begin it */
} forking;

START_CODE static void before_fork(void)
{
	bool asleep = __libc_single_threaded && !record_awake() && !loader_used();

	if (forking.asleep != asleep) /* shells fork all the time: a page less is written */
		forking.asleep = asleep;
	if (asleep)
		return;
	forking.inside = record_inside();
	forking.handler = forking.inside || unwind_signal_in_us();
	loader_hold();
	if (!forking.inside)
		record_lock_in(NULL); /* until another function of ours is called */
	watch_forked(); /* what libc and others do until it is dropped is no call of ours */
}

START_CODE static void after_fork_in_parent(void)
{
	if (forking.asleep)
		return;
	if (!forking.inside)
		record_unlock();
	loader_release();
}

START_CODE static void after_fork_in_child(void)
{
	if (forking.asleep) {
		record_forked_asleep();
		return;
	}
	span_forked();
	if (forking.handler)
		record_forked_in_handler(forking.inside);
	else
		record_forked();
}

__attribute__((constructor)) START_CODE static void begin(void)
{
	const struct link_map *map = preloaded_map();
	int saved = errno;

	resolve_init();
	/* With another's rights nothing is written where somebody's environment says. */
	preloaded = map && resolve_dlsym && !getauxval(AT_SECURE);
	if (preloaded) {
		opt_read();
		log_init(opt_flag(OPT_ID_quiet));
		walk_init();
		choose_init();
		set_injection(map->l_name);
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
		record_init();
		control_init();
	}
	errno = saved;
}

__attribute__((destructor)) START_CODE static void end(void)
{
	int saved = errno;

	if (preloaded && opt_flag(OPT_ID_cupti))
		cupti_finish();
	if (!record_idle())
		record_finish();
	errno = saved;
}

/* The driver calls this at cuInit: CUDA really starts, so first-time work is done here. */
int InitializeInjection(void)
{
	if (preloaded && record_on()) {
		record_cuda_started();
		cupti_start();
	}
	return 1;
}
