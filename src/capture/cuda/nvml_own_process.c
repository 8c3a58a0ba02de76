/*
 * Queries NVML for the bytes of a device that this process occupies, as nvidia-smi shows them.
 *
 * NVML is loaded with dlopen before the first context is made. If it is missing, or this process
 * cannot be found in NVML's list, cuMemGetInfo's bytes of the whole device are used instead
 * (capture/cuda/device_usage.c). Devices are found by UUID: NVML orders them differently from CUDA,
 * CUDA_VISIBLE_DEVICES changes CUDA's order, and nothing else finds a MIG device.
 *
 * NVML lists processes by their ids on the host, which differ from those in a container. If exactly
 * one entry is new after this process made its first context, that entry is taken for this process.
 *
 * A query takes about 25 us (H200, driver 580). Queries are made without a lock of this library, in
 * loader_call(), which defers signals and makes forks wait: NVML has locks of its own.
 *
 * Types and numbers are those of nvml.h in CUDA 13.0.
 */
#include "capture/cuda/device_usage_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "capture/loader/loader.h"
#include "capture/recorder/record.h"

enum {
	PROCESSES = 128, /* room for the processes of a device; a longer list is ignored */
	NVML_SUCCESS = 0,
};

/* NVML gives this value if a number of bytes is not available (Windows, some MIG devices). */
static const unsigned long long NOT_AVAILABLE = ~0ull;

/* The host's pid namespace: PROC_PID_INIT_INO of linux/proc_ns.h. */
static const char HOST_NAMESPACE[] = "pid:[4026531836]";

typedef struct nvmlDevice_st *nvmlDevice_t;

/* nvmlProcessInfo_t, as the _v2 and _v3 functions fill it in. */
struct process {
	unsigned int pid;
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

struct memory { /* laid out as nvmlMemory_t */
	unsigned long long total, left, used;
};

_Static_assert(sizeof(struct process) == 24 && sizeof(struct memory) == 24, "sizes as in nvml.h");

typedef int init_fn(void);
typedef int by_uuid_fn(const char *uuid, nvmlDevice_t *device);
typedef int processes_fn(nvmlDevice_t device, unsigned int *count, struct process *list);
typedef int memory_fn(nvmlDevice_t device, struct memory *memory);

/* NVML's lists of processes. A process that computes and draws is in both, with the same bytes. */
enum { COMPUTING, DRAWING, LISTS };

static const char list_names[LISTS][2][44] = {
	/* the newer function comes first: it is preferred */
	{ "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2" },
	{ "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2" },
};

static struct {
	/* Only the thread that has set `busy` uses the members up to `before_count`. No thread
	 * waits for `busy`: a waiting thread might hold the loader's lock, which load() needs. */
	atomic_bool busy;
	bool tried;
	unsigned int before[DRIVER_DEVICES][PROCESSES];
	int before_count[DRIVER_DEVICES];
	/* The functions are written once, before `loaded` is set. */
	by_uuid_fn *by_uuid;
	processes_fn *lists[LISTS];
	memory_fn *memory;
	_Atomic uint64_t prepared; /* devices for which nvml_prepare() was called, one bit each */
	_Atomic bool loaded;
	_Atomic(nvmlDevice_t) devices[DRIVER_DEVICES];
	_Atomic unsigned int self; /* this process's id in NVML's lists, 0 if unknown */
} nvml;

/* Called by the thread that has set `busy`. NVML is never unloaded, as other code may use it. */
static void load(void)
{
	void *library = nvml.tried ? NULL : dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	init_fn *init;

	nvml.tried = true;
	if (!library)
		return;
	*(void **)&init = resolve_dlsym(library, "nvmlInit_v2");
	*(void **)&nvml.by_uuid = resolve_dlsym(library, "nvmlDeviceGetHandleByUUID");
	*(void **)&nvml.memory = resolve_dlsym(library, "nvmlDeviceGetMemoryInfo");
	for (unsigned kind = 0; kind < LISTS; kind++) {
		void *list = resolve_dlsym(library, list_names[kind][0]);

		if (!list)
			list = resolve_dlsym(library, list_names[kind][1]);
		*(void **)&nvml.lists[kind] = list;
	}
	if (init && nvml.by_uuid && nvml.memory && nvml.lists[COMPUTING] && init() == NVML_SUCCESS)
		nvml.loaded = true;
}

static nvmlDevice_t handle_of(int device)
{
	return nvml.loaded ? nvml.devices[device] : NULL;
}

/* Fills in *processes and returns their number; -1 if NVML does not give the list. */
static int ask_list(processes_fn *ask, nvmlDevice_t device, struct process *processes)
{
	unsigned int count = PROCESSES;
	bool told = ask && ask(device, &count, processes) == NVML_SUCCESS && count <= PROCESSES;

	return told ? (int)count : -1;
}

bool nvml_prepare(int device)
{
	struct process processes[PROCESSES];
	struct driver_facts facts;
	nvmlDevice_t handle;
	int count = -1;

	if (atomic_exchange(&nvml.busy, true))
		return false;
	load();
	if (nvml.loaded && !nvml.devices[device] && driver_facts(device, &facts) && facts.uuid[0] &&
	    nvml.by_uuid(facts.uuid, &handle) == NVML_SUCCESS)
		nvml.devices[device] = handle;
	handle = handle_of(device);
	if (handle && !nvml.self)
		count = ask_list(nvml.lists[COMPUTING], handle, processes);
	nvml.prepared |= 1ull << device;
	nvml.before_count[device] = count;
	for (int i = 0; i < count; i++)
		nvml.before[device][i] = processes[i].pid;
	nvml.busy = false;
	return true;
}

static bool was_there(int device, unsigned int pid)
{
	for (int i = 0; i < nvml.before_count[device]; i++) {
		if (nvml.before[device][i] == pid)
			return true;
	}
	return false;
}

static bool on_host(void)
{
	char space[sizeof(HOST_NAMESPACE)] = "";

	return readlink("/proc/self/ns/pid", space, sizeof(space) - 1) > 0 &&
	       !strcmp(space, HOST_NAMESPACE);
}

/* This process's id in the list: its pid if listed (in a container, whose pids differ from the
 * host's, only if that entry is new), else the id of the only new entry. 0 if unknown. */
static unsigned int pick(int device, const struct process *processes, int count)
{
	unsigned int own = (unsigned int)record_pid();
	unsigned int only = 0;
	int fresh = 0;

	for (int i = 0; i < count; i++) {
		bool old = was_there(device, processes[i].pid);

		if (processes[i].pid == own && (!old || on_host()))
			return own;
		if (!old && processes[i].pid != only) {
			only = processes[i].pid;
			fresh++;
		}
	}
	return fresh == 1 ? only : 0;
}

int nvml_recognise(int device)
{
	struct process processes[PROCESSES];
	nvmlDevice_t handle;
	int count;

	if (!(nvml.prepared >> device & 1) && !nvml_prepare(device))
		return -EBUSY;
	handle = handle_of(device);
	if (!handle)
		return 0;
	if (atomic_exchange(&nvml.busy, true))
		return -EBUSY;
	if (!nvml.self) {
		count = ask_list(nvml.lists[COMPUTING], handle, processes);
		nvml.self = pick(device, processes, count);
	}
	nvml.busy = false;
	return nvml.self != 0;
}

/* *bytes gets this process's bytes in one of NVML's lists, 0 if not listed. False if unknown. */
static bool figure(processes_fn *ask, nvmlDevice_t device, uint64_t *bytes)
{
	struct process processes[PROCESSES];
	unsigned int self = nvml.self;
	int count = ask_list(ask, device, processes);

	*bytes = 0;
	/* A process that uses several parts of a MIG device is listed once for each part. */
	for (int i = 0; i < count; i++) {
		if (processes[i].pid != self)
			continue;
		if (processes[i].bytes == NOT_AVAILABLE)
			return false;
		*bytes += processes[i].bytes;
	}
	return count >= 0;
}

bool nvml_used(int device, uint64_t *bytes)
{
	nvmlDevice_t handle = handle_of(device);

	if (!handle || !nvml.self || !figure(nvml.lists[COMPUTING], handle, bytes))
		return false;
	if (!*bytes && !figure(nvml.lists[DRAWING], handle, bytes))
		*bytes = 0;
	return true;
}

bool nvml_left(int device, uint64_t *bytes)
{
	nvmlDevice_t handle = handle_of(device);
	struct memory memory;

	if (!handle || nvml.memory(handle, &memory) != NVML_SUCCESS)
		return false;
	*bytes = memory.left;
	return true;
}

void nvml_clear(void)
{
	nvml.busy = false;
	nvml.prepared = 0;
	nvml.self = 0;
}
