/*
 * Code of the simulated driver, and the heaps that code needs: what is occupied without having been
 * allocated.
 *
 * What is given as code is a struct fake_image (control.h), which says what it takes. As with the
 * real driver a module takes its memory at its first use, a library's at the first use of one of
 * its kernels, unless CUDA_MODULE_LOADING=EAGER; a kernel that needs more stack than any before
 * makes the memory of all threads' stacks grow; and a kernel that was never loaded here (any
 * pointer) takes nothing.
 */
#include "control.h"
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS (132 * 2048) /* of the whole device at one time */

/* What a context comes with; an H200's, of CUDA 13. */
static const uint64_t defaults[LIMITS] = { 1024, 5 * MIB, 8 * MIB };

enum kind_of_code { MODULE, LIBRARY };

/* One function of each: who asks by name is given it whatever the name. */
struct code {
	enum kind_of_code kind;
	struct fake_image image;
	struct context *loaded; /* where it takes memory, or NULL */
	struct code *next;
};

static struct code *all;

static uint64_t granules(uint64_t bytes)
{
	return (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

/* Modules, libraries, kernels and functions are the same thing here, and so are their handles. */
static struct code *code_of(const void *handle)
{
	struct code *code = all;

	while (code && code != handle)
		code = code->next;
	return code;
}

/* --- heaps --------------------------------------------------------------------------------- */

void limits_begin(struct context *context)
{
	memcpy(context->limits, defaults, sizeof(defaults));
	memset(context->limit_bytes, 0, sizeof(context->limit_bytes));
	context->peers = 0;
}

void limits_end(struct context *context)
{
	for (int i = 0; i < LIMITS; i++)
		device_give(context->device, context->limit_bytes[i]);
	device_give(context->device, context->peers * GRANULE);
	context->peers = 0;
}

/* What the limit takes beyond what lies in the context already. */
static uint64_t bytes_of(int limit, uint64_t value)
{
	uint64_t scale = limit == CU_LIMIT_STACK_SIZE ? THREADS : 1;

	return value > defaults[limit] ? granules((value - defaults[limit]) * scale) : 0;
}

static CUresult set_limit(struct context *context, int limit, uint64_t value)
{
	uint64_t *bytes = &context->limit_bytes[limit];
	uint64_t wanted = bytes_of(limit, value);

	if (wanted > *bytes && !device_take(context->device, wanted - *bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (wanted < *bytes)
		device_give(context->device, *bytes - wanted);
	*bytes = wanted;
	context->limits[limit] = value;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS && (unsigned int)limit < LIMITS)
		status = set_limit(context, (int)limit, value);
	return call_end(status);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS)
		*value = (unsigned int)limit < LIMITS ? context->limits[limit] : 0;
	return call_end(status);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)flags;
	if (status == CUDA_SUCCESS && !peer)
		status = CUDA_ERROR_INVALID_CONTEXT;
	if (status == CUDA_SUCCESS && !device_take(context->device, GRANULE))
		status = CUDA_ERROR_OUT_OF_MEMORY;
	if (status == CUDA_SUCCESS)
		context->peers++;
	return call_end(status);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)peer;
	if (status == CUDA_SUCCESS && !context->peers)
		status = CUDA_ERROR_INVALID_CONTEXT;
	if (status == CUDA_SUCCESS) {
		context->peers--;
		device_give(context->device, GRANULE);
	}
	return call_end(status);
}

/* --- code ---------------------------------------------------------------------------------- */

static CUresult use(struct code *code, struct context *context)
{
	if (!code || code->loaded)
		return CUDA_SUCCESS;
	if (!device_take(context->device, granules(code->image.bytes)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	code->loaded = context;
	return CUDA_SUCCESS;
}

static void unload(struct code *code)
{
	if (code->loaded)
		device_give(code->loaded->device, granules(code->image.bytes));
	code->loaded = NULL;
}

void modules_end(struct context *context)
{
	for (struct code *code = all; code; code = code->next) {
		if (code->loaded == context)
			unload(code);
	}
}

static CUresult load(struct code **made, const void *image, enum kind_of_code kind,
		     struct context *context)
{
	struct code *code;

	if (!made || !image || memcmp(image, "FAKEMOD", 8) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	code = calloc(1, sizeof(*code));
	if (!code)
		return CUDA_ERROR_OUT_OF_MEMORY;
	code->kind = kind;
	memcpy(&code->image, image, sizeof(code->image));
	code->next = all;
	all = code;
	*made = code;
	return settings()->eager ? use(code, context) : CUDA_SUCCESS;
}

static CUresult load_as(void *made, const void *image, enum kind_of_code kind, const char *name)
{
	struct context *context;
	CUresult status = call_begin_in_named(name, &context);

	if (status == CUDA_SUCCESS)
		status = load(made, image, kind, context);
	return call_end(status);
}

static CUresult forget(void *handle, enum kind_of_code kind, const char *name)
{
	CUresult status = call_begin_named(name);
	struct code *code = status == CUDA_SUCCESS ? code_of(handle) : NULL;
	struct code **at = &all;

	if (status == CUDA_SUCCESS && (!code || code->kind != kind))
		status = CUDA_ERROR_INVALID_HANDLE;
	if (status == CUDA_SUCCESS) {
		unload(code);
		while (*at != code)
			at = &(*at)->next;
		*at = code->next;
		free(code);
	}
	return call_end(status);
}

/* Gives the handle in another role, and loads the code if that role asks for it. */
static CUresult lookup(void *to, void *handle, bool loads, const char *name)
{
	struct context *context;
	CUresult status = call_begin_in_named(name, &context);
	struct code *code = status == CUDA_SUCCESS ? code_of(handle) : NULL;

	if (status == CUDA_SUCCESS && (!code || !to))
		status = CUDA_ERROR_INVALID_HANDLE;
	if (status == CUDA_SUCCESS && loads)
		status = use(code, context);
	if (status == CUDA_SUCCESS)
		*(void **)to = code;
	return call_end(status);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	return load_as(module, image, MODULE, __func__);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
			    CUjit_option *options, void **values)
{
	(void)count;
	(void)options;
	(void)values;
	return load_as(module, image, MODULE, __func__);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	return load_as(module, image, MODULE, __func__);
}

/* A file is an image as it lies in memory. */
static const void *read_image(const char *file, struct fake_image *image)
{
	FILE *from = file ? fopen(file, "rb") : NULL;
	size_t count = from ? fread(image, sizeof(*image), 1, from) : 0;

	if (from)
		fclose(from);
	return count ? image : NULL;
}

CUresult cuModuleLoad(CUmodule *module, const char *file)
{
	struct fake_image image;

	return load_as(module, read_image(file, &image), MODULE, __func__);
}

CUresult cuModuleUnload(CUmodule module)
{
	return forget(module, MODULE, __func__);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	(void)name;
	return lookup(function, module, true, __func__);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit,
			   void **jit_values, unsigned int jit_count, CUlibraryOption *options,
			   void **values, unsigned int count)
{
	(void)jit;
	(void)jit_values;
	(void)jit_count;
	(void)options;
	(void)values;
	(void)count;
	return load_as(library, code, LIBRARY, __func__);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *jit,
			       void **jit_values, unsigned int jit_count, CUlibraryOption *options,
			       void **values, unsigned int count)
{
	struct fake_image image;

	(void)jit;
	(void)jit_values;
	(void)jit_count;
	(void)options;
	(void)values;
	(void)count;
	return load_as(library, read_image(file, &image), LIBRARY, __func__);
}

CUresult cuLibraryUnload(CUlibrary library)
{
	return forget(library, LIBRARY, __func__);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	(void)name;
	return lookup(kernel, library, false, __func__);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	return lookup(module, library, true, __func__);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	return lookup(function, kernel, true, __func__);
}

/* Code has one global, whatever its name: the driver's own word of it stands for its address. */
static CUresult global(CUdeviceptr *ptr, size_t *size, void *handle, const char *name)
{
	void *code = NULL;
	CUresult status = lookup(&code, handle, true, name);

	if (status == CUDA_SUCCESS && ptr)
		*ptr = (CUdeviceptr)(uintptr_t)code;
	if (status == CUDA_SUCCESS && size)
		*size = 8;
	return status;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *size, CUmodule module, const char *name)
{
	(void)name;
	return global(ptr, size, module, __func__);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *size, CUlibrary library, const char *name)
{
	(void)name;
	return global(ptr, size, library, __func__);
}

/* --- functions ----------------------------------------------------------------------------- */

/* To know what a function needs it must be loaded. */
static CUresult look(const void *function, int *value, CUfunction_attribute attribute,
		     const char *name)
{
	struct context *context;
	CUresult status = call_begin_in_named(name, &context);
	struct code *code = status == CUDA_SUCCESS ? code_of(function) : NULL;

	if (status == CUDA_SUCCESS)
		status = use(code, context);
	if (status == CUDA_SUCCESS && value)
		*value = code && attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
				 ? (int)code->image.local
				 : 0;
	return call_end(status);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
			      CUdevice device)
{
	(void)device;
	return look(kernel, value, attribute, __func__);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
			      CUdevice device)
{
	(void)value;
	(void)device;
	return look(kernel, NULL, attribute, __func__);
}

CUresult cuFuncLoad(CUfunction function)
{
	return look(function, NULL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, __func__);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	return look(function, value, attribute, __func__);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	(void)value;
	return look(function, NULL, attribute, __func__);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int size,
						     size_t shared)
{
	(void)size;
	(void)shared;
	*blocks = 1;
	return look(function, NULL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, __func__);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
							      int size, size_t shared,
							      unsigned int flags)
{
	(void)size;
	(void)shared;
	(void)flags;
	*blocks = 1;
	return look(function, NULL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, __func__);
}

static CUresult launch(CUfunction function, CUstream stream, bool launchable, const char *name)
{
	struct context *context;
	CUresult status = call_begin_in_named(name, &context);
	struct code *code = status == CUDA_SUCCESS ? code_of(function) : NULL;

	if (status == CUDA_SUCCESS && !launchable)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = stream_known(stream);
	if (status == CUDA_SUCCESS)
		status = use(code, context);
	if (status == CUDA_SUCCESS && code &&
	    code->image.local > context->limits[CU_LIMIT_STACK_SIZE])
		status = set_limit(context, CU_LIMIT_STACK_SIZE, code->image.local);
	return call_end(status);
}

static bool is_launchable(unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
			  unsigned int block_x, unsigned int block_y, unsigned int block_z)
{
	return grid_x && grid_y && grid_z && block_x && block_y && block_z;
}

/* A kernel's work is done when the launch returns: there is none. */
#define LAUNCH(suffix)                                                                          \
	CUresult cuLaunchKernel##suffix(CUfunction function, unsigned int grid_x,               \
					unsigned int grid_y, unsigned int grid_z,               \
					unsigned int block_x, unsigned int block_y,             \
					unsigned int block_z, unsigned int shared,              \
					CUstream stream, void **args, void **extra)             \
	{                                                                                       \
		(void)shared, (void)args, (void)extra;                                          \
		return launch(function, stream,                                                 \
			      is_launchable(grid_x, grid_y, grid_z, block_x, block_y, block_z), \
			      __func__);                                                        \
	}                                                                                       \
	CUresult cuLaunchKernelEx##suffix(const CUlaunchConfig *config, CUfunction function,    \
					  void **args, void **extra)                            \
	{                                                                                       \
		(void)config, (void)args, (void)extra;                                          \
		return launch(function, NULL, true, __func__);                                  \
	}                                                                                       \
	CUresult cuLaunchCooperativeKernel##suffix(                                             \
		CUfunction function, unsigned int grid_x, unsigned int grid_y,                  \
		unsigned int grid_z, unsigned int block_x, unsigned int block_y,                \
		unsigned int block_z, unsigned int shared, CUstream stream, void **args)        \
	{                                                                                       \
		(void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;         \
		(void)block_z, (void)shared, (void)stream, (void)args;                          \
		return launch(function, NULL, true, __func__);                                  \
	}

LAUNCH()
LAUNCH(_ptsz)
