/*
 * Has children of every kind: forks KIND. The parent holds 2 MiB at its end, a child 1 MiB.
 *
 * Prints who is who. Children are born before the parent touches CUDA, or else the real driver does
 * not let them; `after` is that case.
 */
#include <cuda_runtime.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

extern char **environ;

static int hold(const char *who, size_t size)
{
	void *ptr = NULL, *given = NULL;
	cudaError_t error = cudaMalloc(&ptr, size);

	if (!error)
		error = cudaMalloc(&given, size);
	if (!error)
		error = cudaFree(given);
	printf("%s pid=%d error=%d\n", who, (int)getpid(), (int)error);
	fflush(stdout);
	return error ? 1 : 0;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	if (pid < 0)
		return 1;
	waitpid(pid, &status, 0);
	return status;
}

static int by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		exit(hold("child", MIB));
	return wait_for(pid);
}

static int by_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		exit(hold("child", MIB));
	return wait_for(pid);
}

/* Skips the handlers of pthread_atfork, too. */
static int by_quiet_fork(void)
{
	pid_t pid = _Fork();

	if (!pid)
		exit(hold("child", MIB));
	return wait_for(pid);
}

static void *book(void *unused)
{
	static char segment[4096];
	memtrace_pool pool = memtrace_pool_create("books");

	memtrace_pool_reserve(pool, segment, sizeof(segment));
	memtrace_pool_release(pool, segment);
	return unused;
}

/* What another thread held when the child was born, nobody can tell. */
static int by_quiet_fork_beside(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, book, NULL) || pthread_join(thread, NULL))
		return 1;
	return by_quiet_fork();
}

static int by_vfork(char *self)
{
	char child[] = "child";
	char *const words[] = { self, child, NULL };
	pid_t pid = vfork();

	if (!pid) {
		execv(self, words);
		_exit(127);
	}
	return wait_for(pid);
}

/* The child does nothing but end. */
static int by_vfork_exit(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return wait_for(pid);
}

static int by_spawn(char *self)
{
	char child[] = "child";
	char *const words[] = { self, child, NULL };
	pid_t pid = -1;

	if (posix_spawn(&pid, self, NULL, NULL, words, environ))
		return 1;
	return wait_for(pid);
}

/* Another process in the same memory: what it does is done in ours. */
static int in_our_memory(void *unused)
{
	void *ptr = NULL;

	(void)unused;
	_exit(cudaMalloc(&ptr, MIB) || cudaFree(ptr));
}

static int by_clone_vm(void)
{
	static char stack[1 << 20] __attribute__((aligned(16)));

	return wait_for(clone(in_our_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL));
}

/* The same process, another program. */
static int by_exec(char *self, char *next)
{
	char *const words[] = { self, next, NULL };
	int failed = hold("parent", 2 * MIB);

	if (!failed)
		execv(self, words);
	return 1;
}

int main(int argc, char **argv)
{
	static char child[] = "child", exec[] = "exec";
	const char *kind = argc > 1 ? argv[1] : "child";
	int failed = 1;

	if (!strcmp(kind, "child"))
		return hold("child", MIB);
	if (!strcmp(kind, "exec"))
		return by_exec(argv[0], child);
	if (!strcmp(kind, "chain"))
		return by_exec(argv[0], exec);
	if (!strcmp(kind, "after"))
		hold("first", 4 * MIB);
	if (!strcmp(kind, "fork") || !strcmp(kind, "after"))
		failed = by_fork();
	else if (!strcmp(kind, "clone"))
		failed = by_clone();
	else if (!strcmp(kind, "clone_vm"))
		failed = by_clone_vm();
	else if (!strcmp(kind, "_Fork"))
		failed = by_quiet_fork();
	else if (!strcmp(kind, "beside"))
		failed = by_quiet_fork_beside();
	else if (!strcmp(kind, "vfork"))
		failed = by_vfork(argv[0]);
	else if (!strcmp(kind, "vfork_exit"))
		failed = by_vfork_exit();
	else if (!strcmp(kind, "spawn"))
		failed = by_spawn(argv[0]);
	return hold("parent", 2 * MIB) || failed;
}
