/*
 * Contexts of the simulated driver: what a thread works in, and what ends with it.
 *
 * A context object is never freed: programs may keep a handle longer than its context lives, and
 * must be told so, not crash.
 */
#include "fake.h"

#include <stdlib.h>

#define STACK_MAX 16

static struct context *contexts;

static _Thread_local struct {
	struct context *entries[STACK_MAX];
	int depth;
} stack;

static CUcontext handle_of(struct context *context)
{
	return (CUcontext)(void *)context;
}

static struct context *context_of(CUcontext handle)
{
	struct context *context = contexts;

	while (context && handle_of(context) != handle)
		context = context->next;
	return context;
}

static struct context *top(void)
{
	return stack.depth ? stack.entries[stack.depth - 1] : NULL;
}

CUresult context_current(struct context **context)
{
	*context = top();
	if (!*context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(*context)->alive) {
		*context = NULL;
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	}
	return CUDA_SUCCESS;
}

static CUresult context_start(struct context *context)
{
	if (context->alive)
		return CUDA_SUCCESS;
	if (!device_take(context->device, settings()->context_bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->alive = true;
	limits_begin(context);
	return CUDA_SUCCESS;
}

/* Stream-ordered and VMM memory have no context in their blocks: they stay. */
static void context_end(struct context *context)
{
	if (!context->alive)
		return;
	while (context->blocks)
		memory_end(context->blocks);
	externals_end(context);
	modules_end(context);
	limits_end(context);
	device_give(context->device, settings()->context_bytes);
	context->alive = false;
}

static CUresult context_new(struct context **made, struct device *device)
{
	struct context *context = calloc(1, sizeof(*context));

	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->device = device;
	context->next = contexts;
	contexts = context;
	*made = context;
	return CUDA_SUCCESS;
}

/* --- primary contexts ---------------------------------------------------------------------- */

static CUresult primary_retain(CUcontext *handle, struct device *device)
{
	CUresult status = CUDA_SUCCESS;

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device->primary)
		status = context_new(&device->primary, device);
	if (status == CUDA_SUCCESS)
		status = context_start(device->primary);
	if (status != CUDA_SUCCESS)
		return status;
	device->primary->retained++;
	*handle = handle_of(device->primary);
	return CUDA_SUCCESS;
}

static CUresult primary_release(struct device *device)
{
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device->primary || !device->primary->retained)
		return CUDA_SUCCESS;
	if (!--device->primary->retained)
		context_end(device->primary);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS)
		status = primary_retain(context, device_at(device));
	return call_end(status);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS)
		status = primary_release(device_at(device));
	return call_end(status);
}

/* Ends it however often it was retained; the next retain begins it anew. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS && device_at(device)->primary) {
		context_end(device_at(device)->primary);
		device_at(device)->primary->retained = 0;
	}
	return call_end(status);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS) {
		*flags = 0;
		*active = device_at(device)->primary && device_at(device)->primary->alive;
	}
	return call_end(status);
}

/* --- other contexts ------------------------------------------------------------------------ */

static CUresult create(CUcontext *handle, CUdevice ordinal)
{
	struct device *device = device_at(ordinal);
	struct context *context;
	CUresult status;

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!handle || stack.depth == STACK_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	status = context_new(&context, device);
	if (status == CUDA_SUCCESS)
		status = context_start(context);
	if (status != CUDA_SUCCESS)
		return status;
	stack.entries[stack.depth++] = context;
	*handle = handle_of(context);
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	CUresult status = call_begin();

	(void)flags;
	if (status == CUDA_SUCCESS)
		status = create(context, device);
	return call_end(status);
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinities, int count,
			unsigned int flags, CUdevice device)
{
	CUresult status = call_begin();

	(void)affinities;
	(void)count;
	(void)flags;
	if (status == CUDA_SUCCESS)
		status = create(context, device);
	return call_end(status);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
			CUdevice device)
{
	CUresult status = call_begin();

	(void)params;
	(void)flags;
	if (status == CUDA_SUCCESS)
		status = create(context, device);
	return call_end(status);
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
	CUresult status = call_begin();
	struct context *context = status == CUDA_SUCCESS ? context_of(handle) : NULL;

	if (status == CUDA_SUCCESS && (!context || context == context->device->primary))
		status = CUDA_ERROR_INVALID_CONTEXT;
	else if (status == CUDA_SUCCESS && !context->alive)
		status = CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (status == CUDA_SUCCESS) {
		if (top() == context)
			stack.depth--;
		context_end(context);
	}
	return call_end(status);
}

/* --- the calling thread's ------------------------------------------------------------------ */

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
	CUresult status = call_begin();
	struct context *context = status == CUDA_SUCCESS ? context_of(handle) : NULL;

	if (status == CUDA_SUCCESS && (!context || stack.depth == STACK_MAX))
		status = CUDA_ERROR_INVALID_CONTEXT;
	if (status == CUDA_SUCCESS)
		stack.entries[stack.depth++] = context;
	return call_end(status);
}

CUresult cuCtxPopCurrent_v2(CUcontext *handle)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !stack.depth)
		status = CUDA_ERROR_INVALID_CONTEXT;
	if (status == CUDA_SUCCESS) {
		if (handle)
			*handle = handle_of(top());
		stack.depth--;
	}
	return call_end(status);
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
	CUresult status = call_begin();
	struct context *context = status == CUDA_SUCCESS && handle ? context_of(handle) : NULL;

	if (status == CUDA_SUCCESS && handle && !context)
		status = CUDA_ERROR_INVALID_CONTEXT;
	if (status == CUDA_SUCCESS) {
		if (stack.depth)
			stack.depth--;
		if (context)
			stack.entries[stack.depth++] = context;
	}
	return call_end(status);
}

CUresult cuCtxGetCurrent(CUcontext *handle)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS)
		*handle = handle_of(top());
	return call_end(status);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS)
		*device = context->device->ordinal;
	return call_end(status);
}

CUresult cuCtxSynchronize(void)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS)
		pools_synchronize();
	return call_end(status);
}
