/*
 * Tells memtrace what it does, through memtrace.h; without the library the same program runs.
 *
 * Prints what it did itself, one step a line.
 */
#include <cuda_runtime.h>
#include <errno.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static void *take(size_t size)
{
	void *ptr = NULL;

	if (cudaMalloc(&ptr, size))
		exit(1);
	return ptr;
}

static void give(void *ptr)
{
	if (cudaFree(ptr))
		exit(1);
}

static void *other_thread(void *unused)
{
	memtrace_push("thread");
	give(take(2 * MIB));
	memtrace_pop();
	return unused;
}

static void phases(void)
{
	pthread_t thread;
	void *kept;

	memtrace_push("outer");
	kept = take(MIB);
	memtrace_push("inner");
	give(take(4 * MIB));
	memtrace_pop();
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	memtrace_mark("half");
	memtrace_pop();
	memtrace_label(kept, "kept \"for\" ever");
	puts("phases");
}

/* What was recorded so far, while it goes on. */
static void dumped(void)
{
	void *kept = take(3 * MIB);
	int wrong = 0;

	memtrace_mark("dumped");
	wrong += memtrace_dump("dump.json");
	give(kept);
	if (getenv("LD_PRELOAD")) {
		wrong += memtrace_dump("dump.json") != -EEXIST;
		wrong += memtrace_dump("none/dump.json") != -ENOENT;
	}
	wrong += memtrace_dump(NULL);
	printf("dumped, %d wrong\n", wrong);
}

/* Events stop, sums do not. */
static void stopped(void)
{
	void *ptr;

	memtrace_stop();
	ptr = take(16 * MIB);
	memtrace_mark("not recorded");
	memtrace_start();
	memtrace_mark("recorded");
	give(ptr);
	puts("stopped");
}

/* Nothing is seen at all, not even afterwards that something was freed meanwhile. */
static void disabled(void)
{
	void *before = take(MIB / 2);
	void *ptr;

	memtrace_enable(0);
	ptr = take(64 * MIB);
	memtrace_mark("not seen");
	give(ptr);
	memtrace_enable(1);
	memtrace_mark("seen");
	give(before);
	puts("disabled");
}

/* Blocks in memory that nobody reserved, twice at one address; and in memory of another space. */
static void pools(void)
{
	memtrace_pool pool = memtrace_pool_create("unreserved");
	memtrace_pool other = memtrace_pool_create("managed");
	void *managed = NULL;

	for (int i = 0; i < 2; i++) {
		char *memory = take(8 * MIB);

		memtrace_pool_alloc(pool, memory + MIB, MIB);
		memtrace_pool_alloc(pool, memory, MIB);
		memtrace_pool_free(pool, memory + MIB);
		memtrace_pool_free(pool, memory);
		give(memory);
	}
	if (cudaMallocManaged(&managed, 4 * MIB, cudaMemAttachGlobal))
		exit(1);
	memtrace_pool_reserve(other, managed, 4 * MIB);
	memtrace_pool_alloc(other, managed, MIB);
	memtrace_pool_free(other, managed);
	memtrace_pool_release(other, managed);
	give(managed);
	puts("pools");
}

/* What makes no sense does no harm. */
static void nonsense(void)
{
	memtrace_pop();
	memtrace_label(NULL, "nothing");
	memtrace_label((void *)0x1234, "nowhere");
	memtrace_pool_alloc(0, (void *)0x1234, 1);
	memtrace_pool_free(99, (void *)0x1234);
	memtrace_pool_free(memtrace_pool_create("empty"), (void *)0x1234);
	memtrace_pool_release(memtrace_pool_create("empty"), (void *)0x1234);
	memtrace_pool_create(NULL);
	memtrace_mark(NULL);
	memtrace_push("never popped");
	puts("nonsense");
}

int main(void)
{
	memtrace_mark("before CUDA");
	if (getenv("LD_PRELOAD") && memtrace_dump(NULL) != -ENODATA)
		return 1;
	phases();
	dumped();
	stopped();
	disabled();
	pools();
	nonsense();
	return 0;
}
