/*
 * What a test may ask of the simulated driver while it runs: the figures that it keeps, and a
 * failure of the next call of a name. Exported by the simulated libcuda.so.1 alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fake_figures {
	uint64_t allocated; /* in somebody's hands, on the device */
	uint64_t reserved;  /* taken from the device */
	uint64_t managed, pinned;
	bool unfailed; /* a failure was asked for and no call has had it yet */
};

/*
 * What is given to cuModuleLoadData and cuLibraryLoadData in the place of code: what it takes of
 * the device when it is loaded (with CUDA_MODULE_LOADING=EAGER at once, else with its first
 * function or launch), and how much of the stack a thread of its kernels needs.
 */
struct fake_image {
	char magic[8]; /* "FAKEMOD" */
	uint64_t bytes, local;
};

/* As the simulated NVML asks: bytes of the device, how many are left, how many this process has,
 * and whether it has a context there. False: there is no such device. */
struct fake_occupied {
	uint64_t total, left, own;
	bool context;
	char uuid[16]; /* not ended by a NUL */
};

bool fakeCudaOccupied(int device, struct fake_occupied *occupied);

/* The driver takes so many bytes of the device (gives them back, if less than 0) for no call. */
void fakeCudaTake(int device, int64_t bytes);

/* Bytes held now. */
void fakeCudaFigures(int device, struct fake_figures *figures);

/* The next call of the driver's function `name` (the ABI name) does nothing and gives `status`. */
void fakeCudaFail(const char *name, int status);

/*
 * For the simulated libcupti: each block of memory as it comes and goes, and each call that reaches
 * the driver. Called with the driver's lock held; one watcher, NULL for none.
 */
enum fake_watched { FAKE_CALL, FAKE_BLOCK, FAKE_BLOCK_ENDED };
enum fake_memory { FAKE_PINNED, FAKE_DEVICE, FAKE_ARRAY, FAKE_MANAGED };

struct fake_watch {
	enum fake_watched what;
	const char *call; /* of a call */
	enum fake_memory memory;
	int device;
	uint64_t base, size;
	uint64_t pool; /* of a stream-ordered block: some number of its pool */
	bool mapping;
};

typedef void fake_watch_fn(const struct fake_watch *watch);

void fakeCudaWatch(fake_watch_fn *watch);
