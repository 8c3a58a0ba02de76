/*
 * Forks while its threads are in the middle of calls: forkstorm KIND COUNT. A child books a pool of
 * its own (a real driver would not serve it), and both sides go on.
 */
#include <cuda_runtime.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 10 };

static atomic_bool over;

static void *pairs(void *unused)
{
	while (!over) {
		void *ptr = NULL;

		if (cudaMalloc(&ptr, 4096) || cudaFree(ptr))
			_exit(99);
	}
	return unused;
}

static void live(void)
{
	static char segment[1 << 20];
	memtrace_pool pool = memtrace_pool_create("child");

	memtrace_pool_reserve(pool, segment, sizeof(segment));
	for (int i = 0; i < BLOCKS; i++)
		memtrace_pool_alloc(pool, segment + i * 4096, 4096);
	memtrace_pool_free(pool, segment);
}

static pid_t give_birth(const char *kind)
{
	if (!strcmp(kind, "clone"))
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	return strcmp(kind, "_Fork") ? fork() : _Fork();
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";
	int count = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS];
	int failed = 0;

	for (int i = 0; i < THREADS; i++)
		failed |= pthread_create(&threads[i], NULL, pairs, NULL);
	for (int i = 0; i < count; i++) {
		pid_t child;
		int status = 0;

		live();
		child = give_birth(kind);
		if (!child) {
			live();
			/* Without fork's handlers libc's own locks may be held for ever in a child.
			 */
			if (strcmp(kind, "fork"))
				_exit(0);
			exit(0);
		}
		failed |= child < 0 || waitpid(child, &status, 0) != child || status;
	}
	over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("parent pid=%d failed=%d\n", (int)getpid(), failed);
	return failed;
}
