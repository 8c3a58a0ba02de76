/*
 * A simulated CUDA driver, built as libcuda.so.1: its beginning, its end and its devices.
 *
 * It keeps the books of a GPU's memory without a GPU: addresses that are nobody's memory, sizes
 * that run out, and the answers of a real driver (tests/fake/agree.c holds it to an H200's). The
 * FAKE_CUDA_* variables that shape it are listed in fake.h; what a test may ask of it while it
 * runs, in control.h.
 */
#include "control.h"
#include "fake.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum phase { PHASE_NEW, PHASE_UP, PHASE_FORKED, PHASE_DOWN };

static struct {
	pthread_mutex_t lock;
	enum phase phase;
	struct settings settings;
	struct device devices[DEVICES_MAX];
	uint64_t allocations;
	uint64_t frees;
	char failing[64]; /* the call that is to fail once, and how */
	CUresult failure;
} driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- settings ------------------------------------------------------------------------------ */

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *end;
	uint64_t number;

	if (!text || !*text)
		return otherwise;
	number = strtoull(text, &end, 0);
	switch (*end) {
	case 'T':
		return number << 40;
	case 'G':
		return number << 30;
	case 'M':
		return number << 20;
	case 'K':
		return number << 10;
	case '\0':
		return number;
	default:
		fprintf(stderr, "fake libcuda: %s=%s is no number\n", name, text);
		return otherwise;
	}
}

static void settings_read(struct settings *read)
{
	uint64_t devices = number_of("FAKE_CUDA_DEVICES", 1);

	read->devices = devices > DEVICES_MAX ? DEVICES_MAX : (unsigned int)devices;
	read->memory = number_of("FAKE_CUDA_MEMORY", MIB * 1024 * 16);
	read->context_bytes = number_of("FAKE_CUDA_CONTEXT_BYTES", 512 * MIB);
	read->others = number_of("FAKE_CUDA_OTHERS", 0);
	read->eager =
		getenv("CUDA_MODULE_LOADING") && !strcmp(getenv("CUDA_MODULE_LOADING"), "EAGER");
	read->mig = number_of("FAKE_CUDA_MIG", 0) != 0;
	read->oom_after = number_of("FAKE_CUDA_OOM_AFTER", 0);
	read->free_fails = number_of("FAKE_CUDA_FREE_FAILS", 0);
	read->latency_ns = number_of("FAKE_CUDA_LATENCY_NS", 0);
	read->signals = number_of("FAKE_CUDA_SIGNALS", 0);
	read->report = getenv("FAKE_CUDA_REPORT");
}

const struct settings *settings(void)
{
	return &driver.settings;
}

/* --- calls --------------------------------------------------------------------------------- */

static fake_watch_fn *watcher;

__attribute__((visibility("default"))) void fakeCudaWatch(fake_watch_fn *wanted)
{
	pthread_mutex_lock(&driver.lock);
	watcher = wanted;
	pthread_mutex_unlock(&driver.lock);
}

void watch(struct fake_watch what)
{
	if (watcher)
		watcher(&what);
}

static _Thread_local sigset_t before;
static _Thread_local int cancel_before;

/* None arrives inside then, so a handler may call us, or jump away from what calls us. */
static void enter(void)
{
	sigset_t all;

	if (driver.settings.signals) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_before);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
	}
	pthread_mutex_lock(&driver.lock);
}

static void leave(void)
{
	sigset_t then = before; /* a handler may call us from here on */
	int cancel = cancel_before;

	pthread_mutex_unlock(&driver.lock);
	if (!driver.settings.signals)
		return;
	pthread_sigmask(SIG_SETMASK, &then, NULL);
	pthread_setcancelstate(cancel, NULL);
}

CUresult call_begin_named(const char *name)
{
	enter();
	watch((struct fake_watch){ .what = FAKE_CALL, .call = name });
	switch (driver.phase) {
	case PHASE_UP:
		if (__builtin_expect(!driver.failing[0], 1) || strcmp(driver.failing, name) != 0)
			return CUDA_SUCCESS;
		driver.failing[0] = '\0';
		return driver.failure;
	case PHASE_DOWN:
		return CUDA_ERROR_DEINITIALIZED;
	case PHASE_NEW:
	case PHASE_FORKED:
		break;
	}
	return CUDA_ERROR_NOT_INITIALIZED;
}

CUresult call_begin_in_named(const char *name, struct context **context)
{
	CUresult status = call_begin_named(name);

	*context = NULL;
	return status == CUDA_SUCCESS ? context_current(context) : status;
}

/* Of driver_calls.c. */
int driver_nothing(const char *name);

int driver_nothing(const char *name)
{
	return (int)call_end(call_begin_named(name));
}

CUresult call_end(CUresult status)
{
	leave();
	return status;
}

static uint64_t tsc_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Busy, as the real one is: a sleep would let other threads in sooner and cost far more. */
void call_delay(void)
{
	uint64_t begin;

	/* Set once by cuInit, before any call that could be delayed. */
	if (!driver.settings.latency_ns)
		return;
	begin = tsc_ns();
	while (tsc_ns() - begin < driver.settings.latency_ns)
		continue;
}

CUresult call_admit_allocation(void)
{
	driver.allocations++;
	return driver.allocations == driver.settings.oom_after ? CUDA_ERROR_OUT_OF_MEMORY
							       : CUDA_SUCCESS;
}

CUresult call_admit_free(void)
{
	driver.frees++;
	return driver.frees == driver.settings.free_fails ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* --- control ------------------------------------------------------------------------------- */

void fakeCudaFail(const char *name, int status)
{
	pthread_mutex_lock(&driver.lock);
	snprintf(driver.failing, sizeof(driver.failing), "%s", name);
	driver.failure = (CUresult)status;
	pthread_mutex_unlock(&driver.lock);
}

void fakeCudaTake(int device, int64_t bytes)
{
	pthread_mutex_lock(&driver.lock);
	if (bytes < 0)
		device_give(&driver.devices[device], (uint64_t)-bytes);
	else
		device_take(&driver.devices[device], (uint64_t)bytes);
	pthread_mutex_unlock(&driver.lock);
}

void fakeCudaFigures(int ordinal, struct fake_figures *figures)
{
	const struct account *account = &driver.devices[ordinal].account;

	pthread_mutex_lock(&driver.lock);
	figures->allocated = account->allocated.current;
	figures->reserved = account->reserved.current;
	figures->managed = account->kinds[KIND_MANAGED].bytes.current;
	figures->pinned = account->kinds[KIND_PINNED].bytes.current;
	figures->unfailed = driver.failing[0] != '\0';
	pthread_mutex_unlock(&driver.lock);
}

/* --- life ---------------------------------------------------------------------------------- */

static void fork_prepare(void)
{
	pthread_mutex_lock(&driver.lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&driver.lock);
}

/* As with the real driver: a child can use CUDA only if its parent had not. */
static void fork_child(void)
{
	if (driver.phase == PHASE_UP)
		driver.phase = PHASE_FORKED;
	pthread_mutex_unlock(&driver.lock);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	driver.settings.signals = number_of("FAKE_CUDA_SIGNALS", 0); /* cuInit is a call, too */
}

__attribute__((destructor)) static void end(void)
{
	pthread_mutex_lock(&driver.lock);
	if (driver.phase == PHASE_UP) {
		if (driver.settings.report && *driver.settings.report)
			report_write(driver.settings.report);
		driver.phase = PHASE_DOWN;
	}
	pthread_mutex_unlock(&driver.lock);
}

/* What the real driver does for profilers, at the end of its cuInit and without a lock. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void);

	if (!library)
		return;
	*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
}

CUresult cuInit(unsigned int flags)
{
	CUresult status = flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	bool first = false;

	enter();
	if (driver.phase == PHASE_FORKED)
		status = CUDA_ERROR_NOT_INITIALIZED;
	else if (driver.phase == PHASE_DOWN)
		status = CUDA_ERROR_DEINITIALIZED;
	if (status == CUDA_SUCCESS && driver.phase == PHASE_NEW) {
		settings_read(&driver.settings);
		for (unsigned int i = 0; i < driver.settings.devices; i++) {
			driver.devices[i].ordinal = (int)i;
			driver.devices[i].total = driver.settings.memory;
			driver.devices[i].used = driver.settings.others;
		}
		if (!driver.settings.devices) {
			status = CUDA_ERROR_NO_DEVICE;
		} else {
			driver.phase = PHASE_UP;
			first = true;
		}
	}
	leave();
	if (first)
		inject();
	return status;
}

CUresult cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = CUDA_VERSION;
	return CUDA_SUCCESS;
}

/* --- devices ------------------------------------------------------------------------------- */

struct device *device_at(int ordinal)
{
	if (ordinal < 0 || (unsigned int)ordinal >= driver.settings.devices)
		return NULL;
	return &driver.devices[ordinal];
}

unsigned int device_count(void)
{
	return driver.settings.devices;
}

CUresult cuDeviceGetCount(int *count)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !count)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		*count = (int)driver.settings.devices;
	return call_end(status);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(ordinal))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS)
		*device = ordinal;
	return call_end(status);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS && (!name || length <= 0))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		snprintf(name, (size_t)length, "Simulated GPU");
	return call_end(status);
}

static void uuid_of(int device, char *bytes)
{
	memcpy(bytes, driver.settings.mig ? "simulated mig 00" : "simulated gpu 00", 16);
	bytes[15] = (char)(bytes[15] + device);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS)
		uuid_of(device, uuid->bytes);
	return call_end(status);
}

/* Of a MIG device: the card's, which all its parts share. */
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	CUresult status = cuDeviceGetUuid_v2(uuid, device);

	if (status == CUDA_SUCCESS && settings()->mig)
		memcpy(uuid->bytes, "simulated card 0", sizeof(uuid->bytes));
	return status;
}

bool fakeCudaOccupied(int ordinal, struct fake_occupied *occupied)
{
	const struct device *device;

	enter();
	device = driver.phase == PHASE_UP ? device_at(ordinal) : NULL;
	if (device) {
		occupied->total = device->total;
		occupied->left = device->total - device->used;
		occupied->own = device->used - driver.settings.others;
		occupied->context = device->primary && device->primary->alive;
		occupied->context |= occupied->own != 0;
		uuid_of(ordinal, occupied->uuid);
	}
	leave();
	return device != NULL;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS)
		*bytes = device_at(device)->total;
	return call_end(status);
}

static int attribute_of(CUdevice_attribute attribute)
{
	switch ((int)attribute) {
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		return 32;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return 132;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return 9;
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
		return 1;
	default:
		return 0;
	}
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS)
		*value = attribute_of(attribute);
	return call_end(status);
}
