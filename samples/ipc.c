/*
 * Two processes share 8 MiB: the exporter holds it, the importer opens it twice and holds 1 MiB of
 * its own. Memory of another process is listed in the importer's trace and counts nothing there.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

NOINLINE void *open_shared(cudaIpcMemHandle_t handle);

static void must(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "ipc: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

static void must_pass(ssize_t passed, size_t bytes)
{
	if (passed == (ssize_t)bytes)
		return;
	fprintf(stderr, "ipc: the other process is gone\n");
	exit(1);
}

void *open_shared(cudaIpcMemHandle_t handle)
{
	void *ptr = NULL;

	must(cudaIpcOpenMemHandle(&ptr, handle, cudaIpcMemLazyEnablePeerAccess), "open");
	return ptr;
}

/* What is open when the process ends was opened twice and closed once. */
static void import_memory(int from, int to)
{
	cudaIpcMemHandle_t handle;
	void *shared, *own = NULL;

	must_pass(read(from, &handle, sizeof(handle)), sizeof(handle));
	must(cudaMalloc(&own, MIB), "cudaMalloc");
	shared = open_shared(handle);
	if (open_shared(handle) != shared)
		fprintf(stderr, "ipc: opened again it has another address\n");
	must(cudaIpcCloseMemHandle(shared), "close");
	printf("importer.pid=%d\nimporter.peak=%zu\nimporter.live=%zu\n", (int)getpid(), MIB, MIB);
	printf("importer.foreign=%zu\n", 8 * MIB);
	fflush(stdout);
	must_pass(write(to, "", 1), 1);
}

static void export_memory(int to, int from)
{
	cudaIpcMemHandle_t handle;
	void *shared = NULL;
	char done;

	must(cudaMalloc(&shared, 8 * MIB), "cudaMalloc");
	must(cudaIpcGetMemHandle(&handle, shared), "cudaIpcGetMemHandle");
	must_pass(write(to, &handle, sizeof(handle)), sizeof(handle));
	must_pass(read(from, &done, 1), 1);
	printf("exporter.pid=%d\nexporter.peak=%zu\nexporter.live=%zu\n", (int)getpid(), 8 * MIB,
	       8 * MIB);
}

/* Parted before either has used CUDA: a child of a process that has cannot. */
int main(void)
{
	int there[2], back[2];
	int status = 0;
	pid_t child;

	if (pipe(there) || pipe(back))
		return 1;
	child = fork();
	if (!child) {
		import_memory(there[0], back[1]);
		exit(0);
	}
	/* Or nobody would notice that the child has gone. */
	close(there[0]);
	close(back[1]);
	export_memory(there[1], back[0]);
	waitpid(child, &status, 0);
	return status ? 1 : 0;
}
