/*
 * Calls from all kinds of frames, in an order that repeats itself for a while and then is another,
 * with what glibc says of each stack.
 *
 * walks CALLS: every call is of another size; its line on stdout is that size and the addresses
 * that backtrace() gives for the frames around it, each as file+offset.
 */
#include <alloca.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 320, HUGE = 300 << 10, KINDS = 8, PERIOD = 25, PERIODS = 3 };

struct work {
	unsigned random;
	size_t size;
	volatile int sink;
};

typedef void kind_fn(struct work *, int);

static kind_fn plain, without_pointer, variable, aligned, through_libc, wide, deep, leaf;
static kind_fn *const kinds[KINDS] = { plain,        without_pointer, variable, aligned,
				       through_libc, plain,           wide,     deep };
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static unsigned next(struct work *work)
{
	work->random = work->random * 1103515245 + 12345;
	return work->random >> 16;
}

/* Most stacks share their outer part with the one before, as a program's do. */
static void go_on(struct work *work, int depth)
{
	if (depth <= 0)
		leaf(work, 0);
	else
		kinds[next(work) % KINDS](work, depth - 1);
	work->sink++;
}

static __attribute__((noinline)) void plain(struct work *work, int depth)
{
	go_on(work, depth);
	work->sink++;
}

#ifdef __clang__
#define WITHOUT_POINTER
#else
#define WITHOUT_POINTER optimize("omit-frame-pointer")
#endif

static __attribute__((noinline, WITHOUT_POINTER)) void without_pointer(struct work *work, int depth)
{
	volatile int kept[7] = { depth };

	go_on(work, kept[0]);
	work->sink += kept[0];
}

/* Its size is known to its frame pointer alone. */
static __attribute__((noinline)) void variable(struct work *work, int depth)
{
	size_t size = 16 + next(work) % 700;
	volatile char *room = alloca(size);

	room[0] = room[size - 1] = 1;
	go_on(work, depth);
	work->sink += room[0];
}

/* gcc finds its caller's frame by an expression then. */
static __attribute__((noinline)) void aligned(struct work *work, int depth)
{
	_Alignas(128) volatile char room[256];

	room[next(work) % 256] = 1;
	go_on(work, depth);
	work->sink += room[3] != 0;
}

static struct work *sorting;
static int sorting_depth;
static pthread_mutex_t sorting_lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b)
{
	struct work *work = sorting;
	int depth = sorting_depth;

	sorting = NULL;
	if (work) {
		pthread_mutex_unlock(&sorting_lock);
		go_on(work, depth);
	}
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void through_libc(struct work *work, int depth)
{
	int two[2] = { 2, 1 };

	pthread_mutex_lock(&sorting_lock);
	sorting = work;
	sorting_depth = depth;
	qsort(two, 2, sizeof(two[0]), compare);
	work->sink += two[0];
}

/* More than a rule holds. */
static __attribute__((noinline)) void wide(struct work *work, int depth)
{
	volatile char room[HUGE];

	room[0] = room[HUGE - 1] = 1;
	if (depth % 4)
		plain(work, depth);
	else
		go_on(work, depth);
	work->sink += room[0];
}

static __attribute__((noinline)) void recurse(struct work *work, int depth, int more)
{
	if (more)
		recurse(work, depth, more - 1);
	else
		go_on(work, depth);
	work->sink++;
}

static __attribute__((noinline)) void deep(struct work *work, int depth)
{
	recurse(work, depth, (int)(next(work) % 12));
	work->sink++;
}

static void tell(size_t size, void *const *frames, int count)
{
	pthread_mutex_lock(&printing);
	printf("%zu", size);
	for (int i = 1; i < count; i++) {
		Dl_info info;

		if (!dladdr((char *)frames[i] - 1, &info))
			exit(1);
		printf(" %s+%zx", strrchr(info.dli_fname, '/') + 1,
		       (size_t)((char *)frames[i] - (char *)info.dli_fbase));
	}
	printf("\n");
	pthread_mutex_unlock(&printing);
}

static __attribute__((noinline)) void leaf(struct work *work, int depth)
{
	void *frames[FRAMES];
	int count = backtrace(frames, FRAMES);
	void *p = NULL;

	(void)depth;
	work->size += 512;
	if (cudaMalloc(&p, work->size))
		exit(1);
	tell(work->size, frames, count);
	if (cudaFree(p))
		exit(1);
}

static void walk(struct work *work, long calls)
{
	unsigned begun = 0;

	for (long i = 0; i < calls; i++) {
		if (i % PERIOD == 0 && i / PERIOD % PERIODS)
			work->random = begun;
		else if (i % PERIOD == 0)
			begun = work->random;
		go_on(work, 1 + (int)(next(work) % 9));
	}
}

static void *thread(void *calls)
{
	struct work work = { .random = 7, .size = 256 };

	walk(&work, *(long *)calls);
	return NULL;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000;
	struct work work = { .random = 1, .size = 0 };
	pthread_attr_t attributes;
	pthread_t other;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 20);
	if (pthread_create(&other, &attributes, thread, &calls))
		return 1;
	walk(&work, calls);
	pthread_join(other, NULL);
	return 0;
}
