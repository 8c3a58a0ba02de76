/*
 * A simulated NVML, built as libnvidia-ml.so.1: what nvidia-smi would show of the simulated
 * devices.
 *
 * It tells of the driver in its own process only. Devices are in the reverse of CUDA's order, and
 * found by UUID. FAKE_NVML says how it answers: "none", it does not begin; "container", processes
 * have other ids than here; "hidden", no process is listed; "unknown", their figures are not known;
 * FAKE_NVML_NEIGHBOURS is how many more processes are listed, with ids from 1 on; FAKE_NVML_US, how
 * long a list takes; FAKE_NVML_COUNT, a file that gets a byte for each.
 */
#include "control.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	DEVICES = 16,
	HOST_IDS = 100000, /* a process's id on the host, beyond its own here */
};

typedef int nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;

typedef struct nvmlProcessInfo_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

typedef struct nvmlMemory_st {
	unsigned long long total, free, used;
} nvmlMemory_t;

nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *list);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_t *list);

static bool (*ask_driver)(int device, struct fake_occupied *occupied);

static bool answers(const char *how)
{
	const char *set = getenv("FAKE_NVML");

	return set && !strcmp(set, how);
}

nvmlReturn_t nvmlInit_v2(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);

	if (!driver || answers("none"))
		return NVML_ERROR_DRIVER_NOT_LOADED;
	*(void **)&ask_driver = dlsym(driver, "fakeCudaOccupied");
	return ask_driver ? NVML_SUCCESS : NVML_ERROR_DRIVER_NOT_LOADED;
}

/* A handle is 1 and more, and no address. */
static nvmlReturn_t occupied_of(nvmlDevice_t device, struct fake_occupied *occupied)
{
	if (!ask_driver)
		return NVML_ERROR_UNINITIALIZED;
	if (!device || !ask_driver(DEVICES - (int)(size_t)device, occupied))
		return NVML_ERROR_INVALID_ARGUMENT;
	return NVML_SUCCESS;
}

/* GPU-01234567-89ab-cdef-0123-456789abcdef; a part of a card is MIG-. */
static void print_uuid(const char *bytes, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "%s-", strstr(bytes, "mig") ? "MIG" : "GPU");

	for (int i = 0; i < 16; i++) {
		at += (size_t)snprintf(text + at, size - at, "%s%02x",
				       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				       (unsigned char)bytes[i]);
	}
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	struct fake_occupied occupied;
	char bytes[sizeof(occupied.uuid) + 1] = "";
	char text[64];

	if (!ask_driver)
		return NVML_ERROR_UNINITIALIZED;
	for (int i = 0; i < DEVICES && ask_driver(i, &occupied); i++) {
		memcpy(bytes, occupied.uuid, sizeof(occupied.uuid));
		print_uuid(bytes, text, sizeof(text));
		if (strcmp(text, uuid) != 0)
			continue;
		*device = (nvmlDevice_t)(size_t)(DEVICES - i);
		return NVML_SUCCESS;
	}
	return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	struct fake_occupied occupied;
	nvmlReturn_t status = occupied_of(device, &occupied);

	if (status == NVML_SUCCESS)
		*memory = (nvmlMemory_t){ occupied.total, occupied.left,
					  occupied.total - occupied.left };
	return status;
}

static unsigned int number(const char *name)
{
	const char *set = getenv(name);

	return set ? (unsigned int)strtoul(set, NULL, 0) : 0;
}

static unsigned int neighbours(void)
{
	return number("FAKE_NVML_NEIGHBOURS");
}

static void take_time(void)
{
	const char *counted = getenv("FAKE_NVML_COUNT");
	int fd = counted ? open(counted, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (fd >= 0 && write(fd, ".", 1) != 1)
		abort();
	if (fd >= 0)
		close(fd);
	if (number("FAKE_NVML_US"))
		usleep(number("FAKE_NVML_US"));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *list)
{
	struct fake_occupied occupied;
	nvmlReturn_t status = occupied_of(device, &occupied);
	unsigned int room = *count;
	unsigned int n = 0;

	if (status != NVML_SUCCESS)
		return status;
	take_time();
	*count = answers("hidden") ? 0 : neighbours() + occupied.context;
	if (*count > room)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (; *count && n < neighbours(); n++)
		list[n] = (nvmlProcessInfo_t){ n + 1, 1 << 20, ~0u, ~0u };
	if (n < *count)
		list[n] =
			(nvmlProcessInfo_t){ (unsigned int)getpid() +
						     (answers("container") ? HOST_IDS : 0),
					     answers("unknown") ? ~0ull : occupied.own, ~0u, ~0u };
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_t *list)
{
	struct fake_occupied occupied;

	(void)list;
	*count = 0;
	return occupied_of(device, &occupied);
}
