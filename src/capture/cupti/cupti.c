/* Finds CUPTI, switches its activity records on, and leaves CUPTI to other code that needs it. */
#include "capture/cupti/cupti.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/guest/table_rows.h"
#include "base/mem/each.h"
#include "base/settings/opt.h"
#include "capture/loader/loader.h"
#include "capture/recorder/record.h"

enum {
	BUFFER = 1 << 20,
	FLUSH_MS = 1000,
};

enum { IDLE, ON, YIELDED };

struct cupti_library cupti_library;

static struct {
	atomic_int state;
	atomic_bool others;     /* other code in the process uses CUPTI */
	atomic_bool migrations; /* CUPTI reports managed memory's migrations */
	atomic_bool contexts;   /* a context was made */
} cupti;

/* --- buffers that CUPTI fills with records --- */

static void wanted(uint8_t **buffer, size_t *size, size_t *records)
{
	*records = 0; /* 0: as many records as fit into the buffer */
	*size = BUFFER;
	*buffer = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*buffer == MAP_FAILED) {
		*buffer = NULL;
		*size = 0;
	}
}

static void filled(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size;
	if (!buffer)
		return;
	if (valid)
		cupti_take(buffer, valid);
	munmap(buffer, BUFFER);
}

/* --- finding CUPTI --- */

static const struct {
	char name[48];
	size_t at;
	bool needed;
} functions[] = {
#define X(name, needed, params) { WHOLE(#name), offsetof(struct cupti_library, name), needed },
	CUPTI_FUNCTIONS(X)
#undef X
};

static void *open_in(const char *folder, const char *below, int flags)
{
	static const char names[][24] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
	char path[4096];
	void *handle = NULL;

	for (unsigned i = 0; i < COUNT_OF(names) && !handle; i++) {
		snprintf(path, sizeof(path), "%s%s%s", folder, below, names[i]);
		handle = dlopen(path, RTLD_NOW | flags);
	}
	return handle;
}

/* Prefers a CUPTI that is already loaded, because PyTorch brings the one that fits its CUDA. */
static void *open_cupti(void)
{
	static const char below[][24] = { "/lib64/", "/extras/CUPTI/lib64/", "/lib/" };
	const char *home = getenv("CUDA_HOME");
	void *handle = open_in("", "", RTLD_NOLOAD);

	if (!handle)
		handle = open_in("", "", RTLD_LOCAL);
	for (unsigned i = 0; i < COUNT_OF(below) && !handle; i++) {
		if (home && *home)
			handle = open_in(home, below[i], RTLD_LOCAL);
		if (!handle)
			handle = open_in("/usr/local/cuda", below[i], RTLD_LOCAL);
	}
	return handle;
}

static bool find_functions(void)
{
	LOADER_CALLED();
	void *handle = open_cupti();

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		void *found = handle ? resolve_dlsym(handle, functions[i].name) : NULL;

		if (!found && functions[i].needed)
			return false;
		memcpy((char *)&cupti_library + functions[i].at, &found, sizeof(found));
	}
	return true;
}

/* --- switching on and off --- */

static const uint8_t kinds[] = {
	CUPTI_KIND_MEMORY2, CUPTI_KIND_MEMORY_POOL, CUPTI_KIND_KERNEL,  CUPTI_KIND_MEMCPY,
	CUPTI_KIND_MEMSET,  CUPTI_KIND_DRIVER,      CUPTI_KIND_RUNTIME,
};

/* CUPTI refuses to report migrations until cuInit is done (H200, CUDA 13), so this function is
 * called after each new context until it succeeds. */
static void switch_on_migrations(void)
{
	struct cupti_unified_config config[] = {
		{ CUPTI_UNIFIED_ALL_DEVICES, CUPTI_UNIFIED_HTOD, 0, 1 },
		{ CUPTI_UNIFIED_ALL_DEVICES, CUPTI_UNIFIED_DTOH, 0, 1 },
	};

	if (cupti_library.cuptiActivityConfigureUnifiedMemoryCounter &&
	    !cupti_library.cuptiActivityConfigureUnifiedMemoryCounter(config, 2) &&
	    !cupti_library.cuptiActivityEnable(CUPTI_KIND_UNIFIED))
		atomic_store(&cupti.migrations, true);
}

void cupti_context_made(void)
{
	atomic_store(&cupti.contexts, true);
	if (atomic_load(&cupti.state) == ON && !atomic_load(&cupti.migrations))
		switch_on_migrations();
}

/* Measures CUPTI's clock minus record_now(). The quickest of several readings is most exact. */
static void set_offset(void)
{
	enum { READINGS = 16 };
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t theirs = 0;
		uint64_t before = record_now();
		uint64_t took;

		cupti_library.cuptiGetTimestamp(&theirs);
		took = record_now() - before;
		if (took < least) {
			least = took;
			cupti_library.offset = theirs - (before + took / 2);
		}
	}
}

/* Finds CUPTI and switches it on. Returns NULL, or the reason for the failure. */
static const char *switch_on(void)
{
	if (!find_functions())
		return "no CUPTI records: CUPTI not found, set CUDA_HOME to the toolkit's folder";
	if (cupti_library.cuptiGetVersion(&cupti_library.version) ||
	    cupti_library.version < CUPTI_ACTIVITY_API_MEMORY2)
		return "no CUPTI records: this version of CUPTI is older than CUDA 11.2";
	if (cupti_library.cuptiActivityRegisterCallbacks(wanted, filled))
		return "no CUPTI records: another tool is using CUPTI";
	set_offset();
	for (size_t i = 0; i < sizeof(kinds); i++) {
		if (cupti_library.cuptiActivityEnable(kinds[i]) && kinds[i] == CUPTI_KIND_MEMORY2)
			return "no CUPTI records: CUPTI refused to report memory; another profiler "
			       "may be using it";
	}
	if (cupti_library.cuptiActivityFlushPeriod)
		cupti_library.cuptiActivityFlushPeriod(FLUSH_MS);
	return NULL;
}

void cupti_start(void)
{
	const char *why;
	int idle = IDLE;

	if (!opt_flag(OPT_ID_cupti) || !atomic_compare_exchange_strong(&cupti.state, &idle, ON))
		return;
	if (atomic_load(&cupti.others))
		why = "no CUPTI records: the program itself uses CUPTI";
	else
		why = switch_on();
	if (why) {
		atomic_store(&cupti.state, YIELDED);
		record_note(why);
	}
}

void cupti_finish(void)
{
	if (atomic_load(&cupti.state) == ON) {
		cupti_library.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
		if (atomic_load(&cupti.contexts) && !atomic_load(&cupti.migrations))
			record_note("CUPTI did not report migrations of managed memory");
	} else if (atomic_load(&cupti.state) == IDLE && opt_flag(OPT_ID_cupti)) {
		record_note("no CUPTI records: CUDA_INJECTION64_PATH names another tool's library");
	}
}

void cupti_clear(void)
{
	int on = ON;

	atomic_compare_exchange_strong(&cupti.state, &on, YIELDED);
	cupti_records_clear();
}

/* Leaves CUPTI to other code: stores the records collected so far, and stops collecting. */
static void yield(void)
{
	int on = ON;

	atomic_store(&cupti.others, true);
	if (!atomic_compare_exchange_strong(&cupti.state, &on, YIELDED))
		return;
	cupti_library.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	for (size_t i = 0; i < sizeof(kinds); i++)
		cupti_library.cuptiActivityDisable(kinds[i]);
	cupti_library.cuptiActivityDisable(CUPTI_KIND_UNIFIED);
	if (cupti_library.cuptiActivityFlushPeriod)
		cupti_library.cuptiActivityFlushPeriod(0);
	record_note("CUPTI records end where the program began to use CUPTI itself");
}

/* --- CUPTI's functions that this library replaces --- */

typedef int subscribe_fn(void *, void *, void *);
typedef int subscribe2_fn(void *, void *, void *, void *);
typedef int register_fn(cupti_wanted_fn *, cupti_filled_fn *);

EXPORT subscribe_fn cuptiSubscribe;
EXPORT subscribe2_fn cuptiSubscribe_v2;
EXPORT register_fn cuptiActivityRegisterCallbacks;

enum { UNKNOWN_ERROR = 999 };

enum cupti_door { SUBSCRIBE, SUBSCRIBE2, REGISTER, CUPTI_DOORS };

static const char door_names[CUPTI_DOORS][32] = { "cuptiSubscribe", "cuptiSubscribe_v2",
						  "cuptiActivityRegisterCallbacks" };

static _Atomic(void *) door_real[CUPTI_DOORS]; /* the real functions, as dlsym found them last */

bool cupti_door(const char *name, void *real, void **answer)
{
	void *all[CUPTI_DOORS] = { (void *)cuptiSubscribe, (void *)cuptiSubscribe_v2,
				   (void *)cuptiActivityRegisterCallbacks };

	for (int door = 0; door < CUPTI_DOORS; door++) {
		void *ours = all[door];

		if (strcmp(door_names[door], name))
			continue;
		/* If dlsym found our function, RTLD_NEXT finds the real one, if there is any. */
		if (real == ours)
			real = resolve_dlsym(RTLD_NEXT, name);
		if (real)
			atomic_store(&door_real[door], real);
		*answer = real && opt_flag(OPT_ID_cupti) ? ours : real;
		return true;
	}
	return false;
}

/* Leaves CUPTI to the caller. Returns the real function: the one that the linker would have found
 * for the caller, or if there is none, the one that dlsym() found last. */
static void *give_up(enum cupti_door door, const void *caller)
{
	void *real = resolve_from(door_names[door], caller);

	yield();
	return real ? real : atomic_load(&door_real[door]);
}

int cuptiSubscribe(void *subscriber, void *callback, void *data)
{
	subscribe_fn *real = (subscribe_fn *)give_up(SUBSCRIBE, CALLER);

	return real ? real(subscriber, callback, data) : UNKNOWN_ERROR;
}

int cuptiSubscribe_v2(void *subscriber, void *callback, void *data, void *params)
{
	subscribe2_fn *real = (subscribe2_fn *)give_up(SUBSCRIBE2, CALLER);

	return real ? real(subscriber, callback, data, params) : UNKNOWN_ERROR;
}

int cuptiActivityRegisterCallbacks(cupti_wanted_fn *want, cupti_filled_fn *fill)
{
	register_fn *real = (register_fn *)give_up(REGISTER, CALLER);

	return real ? real(want, fill) : UNKNOWN_ERROR;
}
