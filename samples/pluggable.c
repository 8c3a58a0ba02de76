/*
 * An allocator for torch.cuda.memory.CUDAPluggableAllocator that tells memtrace what it does.
 *
 *	cc -shared -fPIC -O2 -o libpluggable.so pluggable.c -lcudart
 *
 *	allocator = torch.cuda.memory.CUDAPluggableAllocator("./libpluggable.so", "plug_take",
 *"plug_give") torch.cuda.memory.change_current_allocator(allocator)
 *
 * PyTorch makes no report of such an allocator's blocks, so to a tracer it is some cudaMallocs; the
 * memtrace_pool_* calls tell what becomes of them. This one takes 32 MiB at a time and hands out
 * pieces of powers of two, and keeps what is given back for the next of that size and stream;
 *larger blocks are CUDA's own. Run as a program it does the same without PyTorch.
 */
#include <cuda_runtime.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SEGMENT ((size_t)32 << 20)
#define SMALLEST 9 /* 512 bytes */
#define CLASSES 16 /* up to 16 MiB */
#define FREE_MOST 4096
#define DEVICES 16

struct piece {
	char *address;
	cudaStream_t stream;
};

static struct {
	pthread_mutex_t lock;
	memtrace_pool pool;
	struct device {
		char *next, *end; /* what is left of the newest segment */
		struct free {
			size_t count;
			struct piece list[FREE_MOST];
		} free[CLASSES];
	} devices[DEVICES];
} plug = { .lock = PTHREAD_MUTEX_INITIALIZER };

void *plug_take(ssize_t size, int device, cudaStream_t stream);
void plug_give(void *address, ssize_t size, int device, cudaStream_t stream);

/* The class of a size; CLASSES for what is too large. */
static unsigned class_of(size_t size)
{
	unsigned class = 0;

	while (class < CLASSES && (size_t)1 << (SMALLEST + class) < size)
		class ++;
	return class;
}

/* Of this stream's: another one's may still be in use there. */
static void *take_free(struct free *pieces, cudaStream_t stream)
{
	for (size_t i = pieces->count; i--;) {
		if (pieces->list[i].stream == stream) {
			char *address = pieces->list[i].address;

			pieces->list[i] = pieces->list[--pieces->count];
			return address;
		}
	}
	return NULL;
}

static void *take_fresh(struct device *device, size_t size)
{
	void *segment = NULL;
	char *address;

	if (!device->next || (size_t)(device->end - device->next) < size) {
		memtrace_pool before = memtrace_pool_grow(plug.pool);
		cudaError_t error = cudaMalloc(&segment, SEGMENT);

		memtrace_pool_grow(before);
		if (error)
			return NULL;
		memtrace_pool_reserve(plug.pool, segment, SEGMENT);
		device->next = segment;
		device->end = device->next + SEGMENT;
	}
	address = device->next;
	device->next += size;
	return address;
}

/* NULL when CUDA has no more; an allocator in C++ would throw, which PyTorch understands. */
void *plug_take(ssize_t size, int device, cudaStream_t stream)
{
	unsigned class = class_of((size_t)size);
	void *address = NULL;

	if (device < 0 || device >= DEVICES || size <= 0)
		return NULL;
	if (class == CLASSES)
		return cudaMalloc(&address, (size_t)size) ? NULL : address;
	pthread_mutex_lock(&plug.lock);
	if (!plug.pool)
		plug.pool = memtrace_pool_create("pluggable");
	address = take_free(&plug.devices[device].free[class], stream);
	if (!address)
		address = take_fresh(&plug.devices[device], (size_t)1 << (SMALLEST + class));
	if (address)
		memtrace_pool_alloc(plug.pool, address, (size_t)size);
	pthread_mutex_unlock(&plug.lock);
	return address;
}

void plug_give(void *address, ssize_t size, int device, cudaStream_t stream)
{
	unsigned class = class_of((size_t)size);
	struct free *pieces;

	if (device < 0 || device >= DEVICES || !address)
		return;
	if (class == CLASSES) {
		cudaFree(address);
		return;
	}
	pthread_mutex_lock(&plug.lock);
	memtrace_pool_free(plug.pool, address);
	pieces = &plug.devices[device].free[class];
	if (pieces->count < FREE_MOST) /* else it is lost: a sample */
		pieces->list[pieces->count++] = (struct piece){ address, stream };
	pthread_mutex_unlock(&plug.lock);
}

int main(void)
{
	static const ssize_t sizes[] = { 1000, 3 << 20, 600, 64 << 20, 12 << 20, 40 << 20 };
	enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
	void *blocks[COUNT];

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < COUNT; i++)
			blocks[i] = plug_take(sizes[i], 0, NULL);
		for (size_t i = 0; i < COUNT; i++)
			plug_give(blocks[i], sizes[i], 0, NULL);
	}
	blocks[0] = plug_take(5 << 20, 0, NULL);
	printf("pluggable: a block of 5 MiB is left %s\n", blocks[0] ? "in use" : "to be had");
	return 0;
}
