/*
 * Multicast objects: a handle that stands for the same place in several devices' memory. It has no
 * memory of its own; what is bound to it is held by its own handle.
 */
#include "fake.h"

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop)
{
	CUresult status = call_begin();
	struct allocation *object = NULL;

	if (status == CUDA_SUCCESS &&
	    (!handle || !prop || !prop->numDevices || !prop->size || prop->size % GRANULE))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		object = allocation_import(device_at(0), prop->size, NULL);
		status = object ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS)
		*handle = allocation_handle(object);
	return call_end(status);
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (!allocation_of(handle) || !device_at(device)))
		status = CUDA_ERROR_INVALID_VALUE;
	return call_end(status);
}

static bool fits(const struct allocation *memory, uint64_t offset, uint64_t size)
{
	return memory && size && size <= allocation_size(memory) &&
	       offset <= allocation_size(memory) - size;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
			    CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size,
			    unsigned long long flags)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (!fits(allocation_of(handle), offset, size) ||
				       !fits(allocation_of(memory), memory_offset, size) || flags))
		status = CUDA_ERROR_INVALID_VALUE;
	return call_end(status);
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset, CUdeviceptr ptr,
			     size_t size, unsigned long long flags)
{
	CUresult status = call_begin();
	const struct block *block = NULL;

	if (status == CUDA_SUCCESS) {
		block = block_around(memory_blocks(), ptr);
		if (!fits(allocation_of(handle), offset, size) || !block || !block->mapping ||
		    flags)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	return call_end(status);
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
			   size_t size)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS &&
	    (!fits(allocation_of(handle), offset, size) || !device_at(device)))
		status = CUDA_ERROR_INVALID_VALUE;
	return call_end(status);
}
