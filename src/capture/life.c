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
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/log.h"
#include "base/opt.h"
#include "base/start.h"
#include "base/watch.h"
#include "capture/choose.h"
#include "capture/control.h"
#include "capture/cupti.h"
#include "capture/loader.h"
#include "capture/record.h"
#include "capture/resolve.h"
#include "capture/span.h"
#include "capture/stacks.h"
#include "capture/unwind.h"
#include "memtrace/memtrace.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

static START_DATA bool preloaded;

bool life_preloaded(void)
{
	return preloaded;
}

/* The driver and NVTX find us again through these, wherever the process has changed to since. */
START_CODE static void set_injection(void)
{
	char resolved[PATH_MAX];
	const char *path;
	Dl_info info;

	if (!dladdr((void *)set_injection, &info) || !info.dli_fname)
		return;
	path = info.dli_fname[0] == '/' ? info.dli_fname : realpath(info.dli_fname, resolved);
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
} forking;

static void before_fork(void)
{
	forking.inside = record_inside();
	forking.handler = forking.inside || unwind_signal_in_us();
	loader_hold();
	if (!forking.inside)
		record_lock_in(NULL); /* until another function of ours is called */
	watch_forked(); /* what libc and others do until it is dropped is no call of ours */
}

static void after_fork_in_parent(void)
{
	if (!forking.inside)
		record_unlock();
	loader_release();
}

static void after_fork_in_child(void)
{
	span_forked();
	if (forking.handler)
		record_forked_in_handler(forking.inside);
	else
		record_forked();
}

__attribute__((constructor)) START_CODE static void begin(void)
{
	int saved = errno;

	resolve_init();
	/* With another's rights nothing is written where somebody's environment says. */
	preloaded = !getauxval(AT_SECURE) && resolve_dlsym &&
		    resolve_dlsym(RTLD_DEFAULT, "memtrace_enable") == (void *)memtrace_enable &&
		    resolve_dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == hooks[HOOK_cuMemAlloc_v2].ours;
	if (preloaded) {
		opt_read();
		log_init(opt_flag(OPT_ID_quiet));
		stacks_init();
		choose_init();
		set_injection();
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
