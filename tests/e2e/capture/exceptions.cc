/*
 * A C++ exception, a longjmp, a pthread_exit and a cancellation pass through hooked calls; what is
 * called afterwards must be recorded once, with the right name.
 *
 * Built twice: with LIBRARY it is a preload whose cudaMalloc does these things for certain sizes.
 */
#include <csetjmp>
#include <cstdio>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>

enum : size_t { THROWS = 1001, JUMPS = 1002, EXITS = 1003, IS_CANCELLED = 1004, PLAIN = 4096 };

#ifdef LIBRARY
extern "C" jmp_buf *exceptions_target;

extern "C" cudaError_t cudaMalloc(void **ptr, size_t size)
{
	using function = cudaError_t (*)(void **, size_t);

	switch (size) {
	case THROWS:
		throw std::runtime_error("from below");
	case JUMPS:
		longjmp(*exceptions_target, 1);
	case EXITS:
		pthread_exit(nullptr);
	case IS_CANCELLED:
		pthread_cancel(pthread_self());
		pthread_testcancel();
		break;
	}
	return reinterpret_cast<function>(dlsym(RTLD_NEXT, "cudaMalloc"))(ptr, size);
}
#else
extern "C" {
jmp_buf *exceptions_target;
}

static int destroyed;

struct Guard {
	~Guard() { destroyed++; }
};

static void pair(size_t size)
{
	void *ptr = nullptr;

	if (cudaMalloc(&ptr, size) == cudaSuccess)
		cudaFree(ptr);
}

static void throws()
{
	try {
		Guard guard;

		pair(THROWS);
	} catch (const std::runtime_error &error) {
		printf("caught: %s\n", error.what());
	}
	pair(PLAIN);
}

/* Far below where a longjmp has left something behind. */
__attribute__((noinline)) static void deep(int depth, size_t size)
{
	volatile char room[512];

	room[0] = static_cast<char>(depth);
	if (depth)
		deep(depth - 1, size);
	else
		pair(size);
	room[1] = room[0];
}

static void jumps()
{
	static jmp_buf target;

	exceptions_target = &target;
	if (!setjmp(target))
		pair(JUMPS);
	else
		puts("jumped");
	deep(20, PLAIN + 1);
}

static void *ends_below(void *size)
{
	Guard guard;

	pair(reinterpret_cast<size_t>(size));
	puts("not reached");
	return nullptr;
}

static void in_thread(size_t size)
{
	pthread_t thread;

	pthread_create(&thread, nullptr, ends_below, reinterpret_cast<void *>(size));
	pthread_join(thread, nullptr);
}

int main()
{
	setbuf(stdout, nullptr);
	pair(PLAIN - 1);
	throws();
	jumps();
	pair(PLAIN + 2);
	deep(20, PLAIN + 3);
	in_thread(EXITS);
	in_thread(IS_CANCELLED);
	pair(PLAIN + 4);
	printf("destroyed=%d\n", destroyed);
	return 0;
}
#endif
