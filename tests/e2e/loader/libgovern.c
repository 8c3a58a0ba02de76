/*
 * A preload that stands in front of CUDA as those do that share a GPU among containers: it answers
 * for rows of ours, the driver's and the runtime's, linked, by dlsym and by cuGetProcAddress.
 *
 * Prints how many calls of each it saw.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void *dlsym_fn(void *, const char *);

static int seen_malloc, seen_free, seen_alloc, seen_drop;

static dlsym_fn *real_dlsym(void)
{
	static dlsym_fn *real;

	if (!real)
		real = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!real)
		real = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		real = (dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
	return real;
}

/* The next one of that name: another preload's, or libcuda's, which nobody is linked with. */
static void *next(const char *name)
{
	void *found = real_dlsym()(RTLD_NEXT, name);
	void *driver = found ? NULL : dlopen("libcuda.so.1", RTLD_LAZY);

	return driver ? real_dlsym()(driver, name) : found;
}

cudaError_t cudaMalloc(void **ptr, size_t size)
{
	cudaError_t (*real)(void **, size_t) = (cudaError_t(*)(void **, size_t))next("cudaMalloc");

	seen_malloc++;
	return real(ptr, size);
}

cudaError_t cudaFree(void *ptr)
{
	cudaError_t (*real)(void *) = (cudaError_t(*)(void *))next("cudaFree");

	seen_free++;
	return real(ptr);
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t size)
{
	CUresult (*real)(CUdeviceptr *, size_t) =
		(CUresult(*)(CUdeviceptr *, size_t))next("cuMemAlloc_v2");

	seen_alloc++;
	return real(ptr, size);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	CUresult (*real)(CUdeviceptr) = (CUresult(*)(CUdeviceptr))next("cuMemFree_v2");

	seen_drop++;
	return real(ptr);
}

static void *ours(const char *name)
{
	if (!strcmp(name, "cuMemAlloc_v2") || !strcmp(name, "cuMemAlloc"))
		return (void *)cuMemAlloc_v2;
	if (!strcmp(name, "cuMemFree_v2") || !strcmp(name, "cuMemFree"))
		return (void *)cuMemFree_v2;
	return NULL;
}

CUresult cuGetProcAddress_v2(const char *name, void **pointer, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *found)
{
	typedef CUresult lookup(const char *, void **, int, cuuint64_t,
				CUdriverProcAddressQueryResult *);
	lookup *real = (lookup *)next("cuGetProcAddress_v2");
	CUresult status = real(name, pointer, version, flags, found);

	if (!status && *pointer && ours(name))
		*pointer = ours(name);
	return status;
}

void *dlsym(void *handle, const char *name)
{
	if (handle != RTLD_NEXT && !strcmp(name, "cuGetProcAddress_v2"))
		return (void *)cuGetProcAddress_v2;
	if (handle != RTLD_NEXT && ours(name))
		return ours(name);
	return real_dlsym()(handle, name);
}

__attribute__((destructor)) static void tell(void)
{
	if (seen_malloc + seen_alloc)
		printf("governed=%d %d %d %d\n", seen_malloc, seen_free, seen_alloc, seen_drop);
}
