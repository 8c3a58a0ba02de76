/*
 * Is to be killed: storm ACCOUNT THREADS OPERATIONS. Its threads allocate and free in an order that
 * figures alone decide (storm.py computes the same), and write into the file ACCOUNT what they have
 * begun and what they have done.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 16, HELD = 24, GRANULE = 1 << 21, STAGES = 8 };

static struct account {
	_Atomic uint64_t thread, begun, done;
	uint64_t unused[5];
} * accounts;

static uint64_t operations;

static void must(int failed)
{
	if (failed)
		_exit(99);
}

static uint32_t chance(uint64_t who, uint64_t i)
{
	return (uint32_t)(who * 1000003 + i * 7919 + 12345) * 2654435761u >> 8;
}

/* Plain memory: more of it, or the oldest goes. */
static void plain(uint64_t who, uint64_t i)
{
	static _Thread_local void *held[HELD];
	static _Thread_local unsigned first, count;
	uint32_t roll = chance(who, i);

	if (count < 2 || (count < HELD && roll & 1)) {
		must(cudaMalloc(&held[(first + count++) % HELD],
				(size_t)256 * (1 + (roll >> 1) % 4096)));
	} else {
		must(cudaFree(held[first++ % HELD]));
		count--;
	}
}

/*
 * A handle: created, mapped, then let go before its mapping, which ends it, or after. Eight stages.
 */
static void mapped(uint64_t who, uint64_t i)
{
	static _Thread_local CUmemGenericAllocationHandle handle;
	static _Thread_local CUdeviceptr range;
	const CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
					   .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
	size_t size = (size_t)(1 + chance(who, i / 4) % 3) * GRANULE;

	if (!range)
		must(cuMemAddressReserve(&range, (size_t)4 * GRANULE, 0, 0, 0));
	switch (i % STAGES) {
	case 0:
	case 4:
		must(cuMemCreate(&handle, size, &prop, 0));
		break;
	case 1:
	case 5:
		must(cuMemMap(range, size, 0, handle, 0));
		break;
	case 2:
	case 7:
		must(cuMemRelease(handle));
		break;
	default:
		must(cuMemUnmap(range, size));
	}
}

static void *run(void *argument)
{
	uint64_t who = (uint64_t)(uintptr_t)argument;
	struct account *account = &accounts[who];

	account->thread = (uint64_t)syscall(SYS_gettid);
	for (uint64_t i = 0; i < operations; i++) {
		account->begun = i + 1;
		if (who % 4 == 1)
			mapped(who, i);
		else
			plain(who, i);
		account->done = i + 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[2]) : 0;
	int fd = argc == 4 ? open(argv[1], O_RDWR) : -1;

	if (fd < 0 || threads < 1 || threads > THREADS)
		return 2;
	operations = strtoull(argv[3], NULL, 10);
	accounts =
		mmap(NULL, THREADS * sizeof(*accounts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (accounts == MAP_FAILED)
		return 2;
	must(cudaFree(NULL)); /* the driver's start, before anything is counted */
	for (int i = 1; i < threads; i++) {
		pthread_t thread;

		must(pthread_create(&thread, NULL, run, (void *)(uintptr_t)i));
	}
	run(NULL);
	pause();
	return 0;
}
