/* In debug builds, checks the library's rules on locks, on calls into the program and on malloc. */
#include "base/guest/debug_checks.h"

#ifdef MEMTRACE_DEBUG

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/guest/table_rows.h"

static const char names[LOCK_RANKS][24] = {
	"a lock without a rank",
#define LOCK(name, what) WHOLE("the lock " #name),
#include "base/guest/locks.def"
};

static _Thread_local struct {
	unsigned held; /* bit n: the thread holds the lock of rank n */
	const char *hook;
	bool walked;
	bool listing;
} self;

static void stop(const char *what, const char *how, const char *why)
{
	const char *const parts[] = { "memtrace: assertion failed: ", what, how, why, "\n" };

	self.held = 0; /* because a handler of the trap's signal may take locks and allocate */
	self.hook = NULL;
	self.listing = false;
	for (unsigned i = 0; i < 5; i++) {
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	}
	__builtin_trap();
}

static const char *innermost(unsigned held)
{
	return names[31 - __builtin_clz(held)];
}

void watch_same(bool same, const char *what)
{
	if (!same)
		stop(what, " differs from what memtrace assumes", "");
}

void watch_take(enum lock_rank rank)
{
	unsigned above = self.held >> rank;

	if (rank == LOCK_UNRANKED)
		stop(names[rank], " was taken", "");
	if (above)
		stop(names[rank], " was taken while holding ", innermost(above << rank));
	self.held |= 1u << rank;
}

void watch_drop(enum lock_rank rank)
{
	self.held &= ~(1u << rank);
}

void watch_forked(void)
{
	self.held = 0;
}

void watch_host(const char *function)
{
	if (self.held)
		stop(function, " was called while holding ", innermost(self.held));
	if (self.listing)
		stop(function, " was called inside dl_iterate_phdr()", "");
}

void watch_listing(bool on)
{
	self.listing = on;
}

void watch_malloc(const char *function)
{
	if (self.hook)
		stop(function, " was called inside memtrace's hook of ", self.hook);
	watch_host(function);
}

const char *watch_path(const char *hook)
{
	const char *before = self.hook;

	self.hook = hook;
	return before;
}

const char *watch_walk(void)
{
	const char *hook = self.hook;

	watch_host("the unwinder");
	if (!self.walked)
		self.hook = NULL;
	self.walked = true;
	return hook;
}

#endif
