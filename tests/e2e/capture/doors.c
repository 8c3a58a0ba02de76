/*
 * Takes a block and gives it back through one door, named by the argument: doors DOOR, or all.
 *
 * Prints what the trace must say of it: the two functions' names and the size. Sizes differ by
 * door.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef cuGetProcAddress

#define KIB ((size_t)1 << 10)
#define VERSION 12000
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The library exports it, but cuda.h does not declare it. */
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);

cudaError_t cudaMallocAsync_ptsz(void **ptr, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream);

typedef CUresult driver_alloc(CUdeviceptr *ptr, size_t size);
typedef CUresult driver_free(CUdeviceptr ptr);
typedef CUresult driver_alloc_async(CUdeviceptr *ptr, size_t size, CUstream stream);
typedef CUresult driver_free_async(CUdeviceptr ptr, CUstream stream);
typedef cudaError_t runtime_alloc(void **ptr, size_t size);
typedef cudaError_t runtime_free(void *ptr);
typedef __typeof__(cuGetProcAddress) lookup;
typedef __typeof__(cuGetProcAddress_v2) lookup2;

static void must(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "doors: %s: %d\n", what, status);
	exit(1);
}

static void *find(void *handle, const char *name)
{
	void *function = dlsym(handle, name);

	must(!function, name);
	return function;
}

static void *library(const char *name)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	must(!handle, name);
	return handle;
}

static void tell(const char *alloc, const char *give, size_t size)
{
	printf("%s %s %zu\n", alloc, give, size);
}

/* A pair of driver functions, wherever they come from. */
static void driver_pair(void *alloc, void *give, size_t size)
{
	CUdeviceptr ptr = 0;

	must(((driver_alloc *)alloc)(&ptr, size), "alloc");
	must(((driver_free *)give)(ptr), "free");
	tell("cuMemAlloc_v2", "cuMemFree_v2", size);
}

static void linked_runtime(void)
{
	void *ptr = NULL;

	must(cudaMalloc(&ptr, KIB), "cudaMalloc");
	must(cudaFree(ptr), "cudaFree");
	tell("cudaMalloc", "cudaFree", KIB);
}

static void linked_driver(void)
{
	CUdeviceptr ptr = 0;

	must(cuMemAlloc(&ptr, 2 * KIB), "cuMemAlloc");
	must(cuMemFree(ptr), "cuMemFree");
	tell("cuMemAlloc_v2", "cuMemFree_v2", 2 * KIB);
}

static void runtime_through(void *handle, size_t size)
{
	runtime_alloc *alloc = (runtime_alloc *)find(handle, "cudaMalloc");
	runtime_free *give = (runtime_free *)find(handle, "cudaFree");
	void *ptr = NULL;

	must(alloc(&ptr, size), "cudaMalloc");
	must(give(ptr), "cudaFree");
	tell("cudaMalloc", "cudaFree", size);
}

static void dlsym_runtime(void)
{
	runtime_through(library("libcudart.so.13"), 3 * KIB);
}

static void dlsym_driver(void)
{
	void *handle = library("libcuda.so.1");

	driver_pair(find(handle, "cuMemAlloc_v2"), find(handle, "cuMemFree_v2"), 4 * KIB);
}

static void default_runtime(void)
{
	runtime_through(RTLD_DEFAULT, 5 * KIB);
}

static void default_driver(void)
{
	driver_pair(find(RTLD_DEFAULT, "cuMemAlloc_v2"), find(RTLD_DEFAULT, "cuMemFree_v2"),
		    6 * KIB);
}

static void lookup_driver(lookup *ask, size_t size)
{
	void *alloc = NULL, *give = NULL;

	must(ask("cuMemAlloc", &alloc, VERSION, 0), "cuGetProcAddress");
	must(ask("cuMemFree", &give, VERSION, 0), "cuGetProcAddress");
	driver_pair(alloc, give, size);
}

static void procaddress_v1(void)
{
	lookup_driver((lookup *)find(library("libcuda.so.1"), "cuGetProcAddress"), 7 * KIB);
}

static void procaddress_linked(void)
{
	lookup_driver(cuGetProcAddress, 8 * KIB);
}

static void procaddress_v2(void)
{
	lookup2 *ask = (lookup2 *)find(library("libcuda.so.1"), "cuGetProcAddress_v2");
	void *alloc = NULL, *give = NULL;

	must(ask("cuMemAlloc", &alloc, VERSION, 0, NULL), "cuGetProcAddress_v2");
	must(ask("cuMemFree", &give, VERSION, 0, NULL), "cuGetProcAddress_v2");
	driver_pair(alloc, give, 9 * KIB);
}

/* The lookup looks itself up, as the runtime does. */
static void procaddress_itself(void)
{
	lookup2 *ask = (lookup2 *)find(library("libcuda.so.1"), "cuGetProcAddress_v2");
	void *again = NULL, *alloc = NULL, *give = NULL;

	must(ask("cuGetProcAddress", &again, VERSION, 0, NULL), "cuGetProcAddress_v2");
	must(((lookup2 *)again)("cuMemAlloc", &alloc, VERSION, 0, NULL), "cuGetProcAddress_v2");
	must(((lookup2 *)again)("cuMemFree", &give, VERSION, 0, NULL), "cuGetProcAddress_v2");
	driver_pair(alloc, give, 10 * KIB);
}

static void entry_point(void)
{
	enum cudaDriverEntryPointQueryResult found;
	void *alloc = NULL, *give = NULL;

	must(cudaGetDriverEntryPointByVersion("cuMemAlloc", &alloc, VERSION, cudaEnableDefault,
					      &found),
	     "cudaGetDriverEntryPointByVersion");
	must(cudaGetDriverEntryPointByVersion("cuMemFree", &give, VERSION, cudaEnableDefault,
					      &found),
	     "cudaGetDriverEntryPointByVersion");
	driver_pair(alloc, give, 11 * KIB);
}

static void ptsz_driver(void)
{
	lookup2 *ask = (lookup2 *)find(library("libcuda.so.1"), "cuGetProcAddress_v2");
	cuuint64_t flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	void *alloc = NULL, *give = NULL;
	CUdeviceptr ptr = 0;

	must(ask("cuMemAllocAsync", &alloc, VERSION, flags, NULL), "cuGetProcAddress_v2");
	must(ask("cuMemFreeAsync", &give, VERSION, flags, NULL), "cuGetProcAddress_v2");
	must(((driver_alloc_async *)alloc)(&ptr, 12 * KIB, NULL), "alloc");
	must(((driver_free_async *)give)(ptr, NULL), "free");
	tell("cuMemAllocAsync_ptsz", "cuMemFreeAsync_ptsz", 12 * KIB);
}

static void ptsz_runtime(void)
{
	void *ptr = NULL;

	must(cudaMallocAsync_ptsz(&ptr, 13 * KIB, NULL), "cudaMallocAsync_ptsz");
	must(cudaFreeAsync_ptsz(ptr, NULL), "cudaFreeAsync_ptsz");
	tell("cudaMallocAsync_ptsz", "cudaFreeAsync_ptsz", 13 * KIB);
}

/*
 * Before 3.2 sizes and addresses had 32 bits: another function, which is none of ours. It must be
 * the library's own, and be called with nothing in between.
 */
static void old_version(void)
{
	void *handle = library("libcuda.so.1");
	lookup2 *ask = (lookup2 *)find(handle, "cuGetProcAddress_v2");
	void *old = NULL;
	Dl_info info;

	must(ask("cuMemAlloc", &old, 3010, 0, NULL), "cuGetProcAddress_v2");
	must(!old || old != find(handle, "cuMemAlloc"), "cuMemAlloc of 3.1");
	must(!dladdr(old, &info) || !strstr(info.dli_fname, "libcuda.so"), info.dli_fname);
	linked_runtime();
}

static const struct {
	const char *name;
	void (*use)(void);
} doors[] = {
	{ "linked-runtime", linked_runtime },   { "linked-driver", linked_driver },
	{ "dlsym-runtime", dlsym_runtime },     { "dlsym-driver", dlsym_driver },
	{ "default-runtime", default_runtime }, { "default-driver", default_driver },
	{ "procaddress-v1", procaddress_v1 },   { "procaddress-linked", procaddress_linked },
	{ "procaddress-v2", procaddress_v2 },   { "procaddress-itself", procaddress_itself },
	{ "entry-point", entry_point },         { "ptsz-driver", ptsz_driver },
	{ "ptsz-runtime", ptsz_runtime },       { "old-version", old_version },
};

int main(int argc, char **argv)
{
	must(cudaFree(NULL), "cudaFree"); /* makes a context, and is no event */
	for (size_t i = 0; i < COUNT(doors); i++) {
		if (argc < 2)
			puts(doors[i].name);
		else if (!strcmp(argv[1], doors[i].name) || !strcmp(argv[1], "all"))
			doors[i].use();
	}
	return 0;
}
