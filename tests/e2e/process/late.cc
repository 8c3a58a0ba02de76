/*
 * CUDA calls from everywhere that a program ends: a thread's key destructor, an atexit handler, a static
 * object, the destructor of the program and (with LIBRARY, preloaded) of a library that is set up
 * before every other and ends after it.
 *
 * Each allocates its own size, the program's frees what it took, and prints what CUDA said.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

/* stdout may be closed for its buffers by now. */
__attribute__((noinline)) static void use(const char *where, size_t size)
{
	void *ptr = nullptr;
	int error = cudaMalloc(&ptr, size);
	char line[80];
	int length;

	error += cudaFree(ptr);
	length = snprintf(line, sizeof(line), "%s=%d\n", where, error);
	if (write(1, line, length) != length)
		_exit(98);
}

#ifdef LIBRARY
__attribute__((constructor)) static void first()
{
	use("first", 1 << 20);
}

__attribute__((destructor)) static void last()
{
	use("last", 1 << 20);
}
#else
namespace
{
struct global {
	~global()
	{
		use("static", 5000);
	}
} object;

pthread_key_t key;

void end_of_thread(void *)
{
	use("key", 6000);
}

void *thread(void *)
{
	pthread_setspecific(key, &key);
	use("thread", 6500);
	return nullptr;
}
} // namespace

__attribute__((destructor)) static void of_program()
{
	use("program", 7000);
}

int main()
{
	pthread_t id;

	pthread_key_create(&key, end_of_thread);
	pthread_create(&id, nullptr, thread, nullptr);
	pthread_join(id, nullptr);
	pthread_setspecific(key, &key); /* of the main thread: never called, by exit() */
	atexit([] { use("atexit", 8000); });
	at_quick_exit([] { use("quick", 8500); });
	use("main", 9000);
	exit(0);
}
#endif
