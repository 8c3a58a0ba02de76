/*
 * Libraries that are unloaded: what was known by their addresses must not be said of what lies
 * there next.
 *
 * The door is dlclose. Behind it the real functions found for callers are forgotten, stacks are
 * told apart by the word, and glibc unwinds if libunwind remembers what is no more.
 */
#include "capture/loader/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/guest/hot.h"
#include "base/guest/signals.h"
#include "capture/loader/resolve.h"
#include "capture/recorder/record.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind.h"

/*
 * While a library is being closed the word is one that was not there before, for another thread may
 * load what takes its place before we are back. If nothing was unloaded the old one returns: people
 * open and close what stays, often.
 */
enum { CLOSING = 1, UNLOADED = 1 << 16 };

HOT_DATA _Atomic uint64_t unload_now;

static int read_unloads(struct dl_phdr_info *info, size_t size, void *unloads)
{
	(void)size;
	*(unsigned long long *)unloads = info->dlpi_subs;
	return 1;
}

static unsigned long long unloads(void)
{
	unsigned long long count = 0;
	struct signals_deferred deferred;

	signals_defer(&deferred);
	dl_iterate_phdr(read_unloads, &count);
	signals_deliver(&deferred);
	return count;
}

/* Is there nothing that stacks have gone through among what was unloaded? */
static bool unwinds_as_before(void)
{
	if (!record_continue())
		return true;
	modules_refresh();
	if (modules_lost())
		record_note("a library on recorded stacks was unloaded: glibc unwinds since then");
	return !modules_lost();
}

EXPORT int dlclose(void *handle)
{
	unsigned long long before = unloads();
	int status;
	int saved;

	unwind_careful(true);
	atomic_fetch_add(&unload_now, CLOSING);
	status = resolve_dlclose(handle);
	saved = errno;
	if (unloads() == before) {
		atomic_fetch_sub(&unload_now, CLOSING);
		unwind_careful(false);
	} else {
		resolve_forget();
		atomic_fetch_add(&unload_now, UNLOADED - CLOSING);
		if (unwinds_as_before())
			unwind_careful(false);
	}
	errno = saved;
	return status;
}
