/* Scenarios: code, launches, heaps, streams and graphs made ready: calls that hand out no memory,
 * so the trace has no event of them. Included by rows.c alone. */
#pragma once

#include <stdio.h>

#include "../../fake/control.h"
#include "rows.h"

static const struct fake_image code = { "FAKEMOD", 3 * MIB, 0 };

static CUmodule module_new(void)
{
	CUmodule module = NULL;

	must(cuModuleLoadData(&module, &code), "cuModuleLoadData");
	return module;
}

static CUlibrary library_new(void)
{
	CUlibrary library = NULL;

	must(cuLibraryLoadData(&library, &code, NULL, NULL, 0, NULL, NULL, 0), "cuLibraryLoadData");
	return library;
}

static CUkernel kernel_new(CUlibrary *library)
{
	CUkernel kernel = NULL;

	*library = library_new();
	must(cuLibraryGetKernel(&kernel, *library, "kernel"), "cuLibraryGetKernel");
	return kernel;
}

static CUfunction function_new(CUmodule *module)
{
	CUfunction function = NULL;

	*module = module_new();
	must(cuModuleGetFunction(&function, *module, "kernel"), "cuModuleGetFunction");
	return function;
}

static void module_end(CUmodule module)
{
	must(cuModuleUnload(module), "cuModuleUnload");
}

static void library_end(CUlibrary library)
{
	must(cuLibraryUnload(library), "cuLibraryUnload");
}

/* --- modules and libraries ----------------------------------------------------------------- */

static const char *code_file(void)
{
	static const char name[] = "code.image";
	FILE *file = fopen(name, "wb");

	must(!file || fwrite(&code, sizeof(code), 1, file) != 1, name);
	fclose(file);
	return name;
}

static void use_cuModuleLoad(fn_cuModuleLoad *call)
{
	CUmodule module = NULL;

	if (!CALL(&module, code_file()))
		module_end(module);
}

static void use_cuModuleLoadData(fn_cuModuleLoadData *call)
{
	CUmodule module = NULL;

	if (!CALL(&module, &code))
		module_end(module);
}

static void use_cuModuleLoadDataEx(fn_cuModuleLoadDataEx *call)
{
	CUmodule module = NULL;

	if (!CALL(&module, &code, 0, NULL, NULL))
		module_end(module);
}

static void use_cuModuleLoadFatBinary(fn_cuModuleLoadFatBinary *call)
{
	CUmodule module = NULL;

	if (!CALL(&module, &code))
		module_end(module);
}

static void use_cuModuleUnload(fn_cuModuleUnload *call)
{
	CUmodule module = module_new();

	if (CALL(module))
		module_end(module);
}

static void use_cuModuleGetFunction(fn_cuModuleGetFunction *call)
{
	CUmodule module = module_new();
	CUfunction function;

	CALL(&function, module, "kernel");
	module_end(module);
}

static void use_cuModuleGetGlobal_v2(fn_cuModuleGetGlobal_v2 *call)
{
	CUmodule module = module_new();
	CUdeviceptr ptr;
	size_t size;

	CALL(&ptr, &size, module, "global");
	module_end(module);
}

static void use_cuLibraryLoadData(fn_cuLibraryLoadData *call)
{
	CUlibrary library = NULL;

	if (!CALL(&library, &code, NULL, NULL, 0, NULL, NULL, 0))
		library_end(library);
}

static void use_cuLibraryLoadFromFile(fn_cuLibraryLoadFromFile *call)
{
	CUlibrary library = NULL;

	if (!CALL(&library, code_file(), NULL, NULL, 0, NULL, NULL, 0))
		library_end(library);
}

static void use_cuLibraryUnload(fn_cuLibraryUnload *call)
{
	CUlibrary library = library_new();

	if (CALL(library))
		library_end(library);
}

static void use_cuLibraryGetKernel(fn_cuLibraryGetKernel *call)
{
	CUlibrary library = library_new();
	CUkernel kernel;

	CALL(&kernel, library, "kernel");
	library_end(library);
}

static void use_cuLibraryGetModule(fn_cuLibraryGetModule *call)
{
	CUlibrary library = library_new();
	CUmodule module;

	CALL(&module, library);
	library_end(library);
}

static void use_cuLibraryGetGlobal(fn_cuLibraryGetGlobal *call)
{
	CUlibrary library = library_new();
	CUdeviceptr ptr;
	size_t size;

	CALL(&ptr, &size, library, "global");
	library_end(library);
}

/* --- kernels and functions ----------------------------------------------------------------- */

static void use_cuKernelGetFunction(fn_cuKernelGetFunction *call)
{
	CUlibrary library;
	CUkernel kernel = kernel_new(&library);
	CUfunction function;

	CALL(&function, kernel);
	library_end(library);
}

static void use_cuKernelGetAttribute(fn_cuKernelGetAttribute *call)
{
	CUlibrary library;
	CUkernel kernel = kernel_new(&library);
	int value;

	CALL(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel, 0);
	library_end(library);
}

static void use_cuKernelSetAttribute(fn_cuKernelSetAttribute *call)
{
	CUlibrary library;
	CUkernel kernel = kernel_new(&library);

	CALL(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0, kernel, 0);
	library_end(library);
}

/* A function of its own for each call: `args` names it. */
#define WITH_FUNCTION(name, args)                            \
	static void use_##name(fn_##name *call)              \
	{                                                    \
		CUmodule module;                             \
		CUfunction function = function_new(&module); \
		int value;                                   \
                                                             \
		(void)value;                                 \
		CALL args;                                   \
		module_end(module);                          \
	}

WITH_FUNCTION(cuFuncLoad, (function))
WITH_FUNCTION(cuFuncGetAttribute, (&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function))
WITH_FUNCTION(cuFuncSetAttribute, (function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0))
WITH_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&value, function, 32, 0))
WITH_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (&value, function, 32, 0, 0))
WITH_FUNCTION(cuLaunchKernel, (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
WITH_FUNCTION(cuLaunchKernelEx, (NULL, function, NULL, NULL))
WITH_FUNCTION(cuLaunchCooperativeKernel, (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL))

/* --- the context's heaps, peers, streams, graphs ------------------------------------------- */

static void use_cuCtxSetLimit(fn_cuCtxSetLimit *call)
{
	if (!CALL(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MIB))
		must(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 8 * MIB), "cuCtxSetLimit");
}

static CUcontext peer_new(void)
{
	CUcontext context = NULL;

	must(cuDevicePrimaryCtxRetain(&context, OTHER_DEVICE), "cuDevicePrimaryCtxRetain");
	return context;
}

static void peer_end(void)
{
	must(cuDevicePrimaryCtxRelease_v2(OTHER_DEVICE), "cuDevicePrimaryCtxRelease");
}

static void use_cuCtxEnablePeerAccess(fn_cuCtxEnablePeerAccess *call)
{
	CUcontext peer = peer_new();

	if (!CALL(peer, 0))
		must(cuCtxDisablePeerAccess(peer), "cuCtxDisablePeerAccess");
	peer_end();
}

static void use_cuCtxDisablePeerAccess(fn_cuCtxDisablePeerAccess *call)
{
	CUcontext peer = peer_new();

	must(cuCtxEnablePeerAccess(peer, 0), "cuCtxEnablePeerAccess");
	if (CALL(peer))
		must(cuCtxDisablePeerAccess(peer), "cuCtxDisablePeerAccess");
	peer_end();
}

static void use_cuStreamCreate(fn_cuStreamCreate *call)
{
	CUstream stream = NULL;

	if (!CALL(&stream, 0))
		must(cuStreamDestroy_v2(stream), "cuStreamDestroy");
}

static void use_cuStreamCreateWithPriority(fn_cuStreamCreateWithPriority *call)
{
	CUstream stream = NULL;

	beneath("cuStreamCreate");
	if (!CALL(&stream, 0, 0))
		must(cuStreamDestroy_v2(stream), "cuStreamDestroy");
}

static void use_cuStreamDestroy_v2(fn_cuStreamDestroy_v2 *call)
{
	CUstream stream = NULL;

	must(cuStreamCreate(&stream, 0), "cuStreamCreate");
	if (CALL(stream))
		must(cuStreamDestroy_v2(stream), "cuStreamDestroy");
}

static void use_cuStreamDestroy(fn_cuStreamDestroy *call)
{
	beneath("cuStreamDestroy_v2");
	use_cuStreamDestroy_v2(call);
}

static CUgraph empty_graph(void)
{
	CUgraph graph = NULL;

	must(cuGraphCreate(&graph, 0), "cuGraphCreate");
	return graph;
}

static void use_cuGraphInstantiateWithFlags(fn_cuGraphInstantiateWithFlags *call)
{
	CUgraph graph = empty_graph();
	CUgraphExec exec = NULL;

	if (!CALL(&exec, graph, 0))
		must(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	must(cuGraphDestroy(graph), "cuGraphDestroy");
}

static void use_cuGraphInstantiateWithParams(fn_cuGraphInstantiateWithParams *call)
{
	CUgraph graph = empty_graph();
	CUgraphExec exec = NULL;

	if (!CALL(&exec, graph, NULL))
		must(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	must(cuGraphDestroy(graph), "cuGraphDestroy");
}

static void use_cuGraphExecDestroy(fn_cuGraphExecDestroy *call)
{
	CUgraph graph = empty_graph();
	CUgraphExec exec = NULL;

	must(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
	if (CALL(exec))
		must(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
	must(cuGraphDestroy(graph), "cuGraphDestroy");
}
