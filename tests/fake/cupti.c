/*
 * A simulated libcupti: what the simulated driver keeps in its books, as CUPTI's activity records.
 *
 * As the real one it has a single subscriber, and one pair of buffer callbacks that whoever comes
 * last overwrites; records wait in a buffer until it is full or somebody flushes.
 *
 * Migrations of managed memory cannot be asked for before cuInit is done; each block went to the
 * device and back before it was freed.
 *
 * FAKE_CUPTI_BLIND=n: every n-th record of memory is of an address that nobody allocated, which is
 * what a missed call looks like to the one who compares.
 * FAKE_CUPTI_STREAMS=n: kernels and copies take turns on n streams, numbered from 7 as CUPTI does.
 * FAKE_CUPTI_SLOW=NAME: calls of that name took a millisecond.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/cupti/cupti_abi.h"
#include "control.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	VERSION = 130000,
	SUBSCRIBED = 39,
	INVALID = 1,
	EMPTY = 12,
	NOT_READY = 13,
	KINDS = 64,
	NAMES = 512,
	FIRST_STREAM = 7
};

static const uint32_t HOST = 0; /* the id of the host, as an H200's driver gives it */

static struct {
	pthread_mutex_t lock;
	cupti_wanted_fn *wanted;
	cupti_filled_fn *filled;
	uint8_t *buffer;
	size_t size, used, most, count;
	const char *names[NAMES]; /* calls by number */
	uint64_t memories, blind;
	uint64_t works, streams; /* what ran on the device so far */
	const char *slow;
	bool on[KINDS];
	bool subscribed;
	bool started; /* a call came after cuInit */
} cupti = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t size_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KIND_MEMORY2:
		return sizeof(struct cupti_memory);
	case CUPTI_KIND_KERNEL:
		return sizeof(struct cupti_kernel);
	case CUPTI_KIND_MEMCPY:
	case CUPTI_KIND_MEMSET:
		return sizeof(struct cupti_transfer);
	case CUPTI_KIND_UNIFIED:
		return sizeof(struct cupti_unified);
	default:
		return sizeof(struct cupti_api);
	}
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Without the lock: who takes the buffer may call us. */
static void deliver(uint8_t *buffer, size_t size, size_t used)
{
	if (buffer && cupti.filled)
		cupti.filled(NULL, 0, buffer, size, used);
}

static void put(const void *record, size_t size)
{
	uint8_t *full = NULL;
	size_t full_size = 0;
	size_t full_used = 0;

	pthread_mutex_lock(&cupti.lock);
	if (cupti.buffer && cupti.used + size > cupti.size) {
		full = cupti.buffer;
		full_size = cupti.size;
		full_used = cupti.used;
		cupti.buffer = NULL;
	}
	if (!cupti.buffer && cupti.wanted) {
		cupti.used = 0;
		cupti.wanted(&cupti.buffer, &cupti.size, &cupti.most);
	}
	if (cupti.buffer && cupti.used + size <= cupti.size) {
		memcpy(cupti.buffer + cupti.used, record, size);
		cupti.used += size;
	}
	pthread_mutex_unlock(&cupti.lock);
	deliver(full, full_size, full_used);
}

/* --- what the driver tells --- */

static uint32_t number_of(const char *name)
{
	uint32_t i = 1;

	pthread_mutex_lock(&cupti.lock);
	while (i < NAMES - 1 && cupti.names[i] && strcmp(cupti.names[i], name) != 0)
		i++;
	cupti.names[i] = name;
	pthread_mutex_unlock(&cupti.lock);
	return i;
}

static uint32_t next_stream(void)
{
	return FIRST_STREAM + (uint32_t)(cupti.works++ % (cupti.streams ? cupti.streams : 1));
}

static void put_kernel(uint64_t start)
{
	struct cupti_kernel kernel = {
		.kind = CUPTI_KIND_KERNEL,
		.start = start,
		.end = start + 5000,
		.stream = next_stream(),
		.name = "fake_kernel(int)",
	};

	put(&kernel, sizeof(kernel));
}

/* A copy or, by its kind, a fill. */
static void put_transfer(uint64_t start, uint32_t kind, bool in)
{
	struct cupti_transfer transfer = {
		.kind = kind,
		.copy = in ? 1 : 2, /* HTOD, DTOH */
		.bytes = 4096,
		.start = start,
		.end = start + 2000,
		.stream = next_stream(),
	};

	put(&transfer, sizeof(transfer));
}

static void put_call(const char *name)
{
	struct cupti_api call = { .kind = CUPTI_KIND_DRIVER, .start = now() };

	call.end = call.start + (cupti.slow && !strcmp(cupti.slow, name) ? 1000000 : 1000);
	call.call = number_of(name);
	call.thread = (uint32_t)gettid();
	if (cupti.on[CUPTI_KIND_DRIVER])
		put(&call, sizeof(call));
	if (cupti.on[CUPTI_KIND_KERNEL] && !strcmp(name, "cuLaunchKernel"))
		put_kernel(call.end);
	if (cupti.on[CUPTI_KIND_MEMCPY] && !strncmp(name, "cuMemcpy", 8))
		put_transfer(call.end, CUPTI_KIND_MEMCPY, strstr(name, "HtoD") != NULL);
	if (cupti.on[CUPTI_KIND_MEMSET] && !strncmp(name, "cuMemset", 8))
		put_transfer(call.end, CUPTI_KIND_MEMSET, true);
}

static void put_memory(const struct fake_watch *watch)
{
	static const uint32_t kinds[] = { CUPTI_MEMORY_PINNED, CUPTI_MEMORY_DEVICE,
					  CUPTI_MEMORY_ARRAY, CUPTI_MEMORY_MANAGED };
	struct cupti_memory memory = {
		.kind = CUPTI_KIND_MEMORY2,
		.operation = watch->what == FAKE_BLOCK ? CUPTI_ALLOCATED : CUPTI_FREED,
		.memory_kind = kinds[watch->memory],
		.address = watch->base,
		.bytes = watch->size,
		.timestamp = now(),
		.device = (uint32_t)watch->device,
		.context = watch->mapping ? (uint32_t)CUPTI_NO_CONTEXT : 1,
		.async = watch->pool != 0,
		.pool = watch->pool,
	};

	if (cupti.blind && ++cupti.memories % cupti.blind == 0)
		memory.address ^= 1ull << 46;
	put(&memory, sizeof(memory));
}

static void put_migration(const struct fake_watch *watch, uint32_t counter, uint64_t start)
{
	struct cupti_unified unified = {
		.kind = CUPTI_KIND_UNIFIED,
		.counter = counter,
		.value = watch->size,
		.start = start,
		.end = start + 3000,
		.address = watch->base,
		.from = counter == CUPTI_UNIFIED_DTOH ? (uint32_t)watch->device : HOST,
		.to = counter == CUPTI_UNIFIED_HTOD ? (uint32_t)watch->device : HOST,
	};

	put(&unified, sizeof(unified));
}

static void watched(const struct fake_watch *watch)
{
	if (watch->what == FAKE_CALL) {
		cupti.started |= strcmp(watch->call, "cuInit") != 0;
		put_call(watch->call);
		return;
	}
	if (cupti.on[CUPTI_KIND_UNIFIED] && watch->what != FAKE_BLOCK &&
	    watch->memory == FAKE_MANAGED) {
		put_migration(watch, CUPTI_UNIFIED_HTOD, now() - 10000);
		put_migration(watch, CUPTI_UNIFIED_DTOH, now() - 5000);
	}
	if (cupti.on[CUPTI_KIND_MEMORY2])
		put_memory(watch);
}

/* --- CUPTI's functions --- */

EXPORT int cuptiGetVersion(uint32_t *version);
EXPORT int cuptiGetTimestamp(uint64_t *time);
EXPORT int cuptiActivityRegisterCallbacks(cupti_wanted_fn *wanted, cupti_filled_fn *filled);
EXPORT int cuptiActivityEnable(uint32_t kind);
EXPORT int cuptiActivityDisable(uint32_t kind);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_unified_config *config,
						      uint32_t count);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t call, const char **name);
EXPORT int cuptiSubscribe(void *subscriber, void *callback, void *data);
EXPORT int cuptiUnsubscribe(void *subscriber);

int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return CUPTI_OK;
}

int cuptiGetTimestamp(uint64_t *time)
{
	*time = now();
	return CUPTI_OK;
}

int cuptiActivityRegisterCallbacks(cupti_wanted_fn *wanted, cupti_filled_fn *filled)
{
	const char *blind = getenv("FAKE_CUPTI_BLIND");
	const char *streams = getenv("FAKE_CUPTI_STREAMS");

	pthread_mutex_lock(&cupti.lock);
	cupti.wanted = wanted;
	cupti.filled = filled;
	cupti.blind = blind ? strtoull(blind, NULL, 10) : 0;
	cupti.streams = streams ? strtoull(streams, NULL, 10) : 0;
	cupti.slow = getenv("FAKE_CUPTI_SLOW");
	pthread_mutex_unlock(&cupti.lock);
	return CUPTI_OK;
}

int cuptiActivityEnable(uint32_t kind)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void (*watch)(fake_watch_fn *) = NULL;

	if (kind >= KINDS || !driver)
		return INVALID;
	*(void **)&watch = dlsym(driver, "fakeCudaWatch");
	dlclose(driver);
	if (!watch)
		return INVALID;
	if (kind == CUPTI_KIND_UNIFIED && !cupti.started)
		return NOT_READY;
	cupti.on[kind] = true;
	watch(watched);
	return CUPTI_OK;
}

int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_unified_config *config, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (config[i].scope != CUPTI_UNIFIED_ALL_DEVICES || !config[i].enable)
			return INVALID;
	}
	return CUPTI_OK;
}

int cuptiActivityDisable(uint32_t kind)
{
	if (kind >= KINDS)
		return INVALID;
	cupti.on[kind] = false;
	return CUPTI_OK;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	uint8_t *buffer;

	(void)flag;
	pthread_mutex_lock(&cupti.lock);
	buffer = cupti.buffer;
	cupti.buffer = NULL;
	pthread_mutex_unlock(&cupti.lock);
	deliver(buffer, cupti.size, cupti.used);
	return CUPTI_OK;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = buffer;

	if (*record)
		next = (uint8_t *)*record + size_of(((struct cupti_record *)*record)->kind);
	if (next >= buffer + valid)
		return EMPTY;
	*record = next;
	return CUPTI_OK;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t call, const char **name)
{
	(void)domain;
	if (call >= NAMES || !cupti.names[call])
		return INVALID;
	*name = cupti.names[call];
	return CUPTI_OK;
}

int cuptiSubscribe(void *subscriber, void *callback, void *data)
{
	(void)subscriber;
	(void)callback;
	(void)data;
	if (cupti.subscribed)
		return SUBSCRIBED;
	cupti.subscribed = true;
	return CUPTI_OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	(void)subscriber;
	cupti.subscribed = false;
	return CUPTI_OK;
}
