/* Virtual memory management, and memory of other processes and libraries: handles and mappings. */
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/driver.h"
#include "ledger/vmm.h"

/* A handle of a device (NO_DEVICE: of the host). */
static struct cuda_call_memory handle_of(uint64_t handle, uint64_t size, int device)
{
	return (struct cuda_call_memory){ .kind = NODE_HANDLE,
					  .space = device >= 0 ? SPACE_DEVICE : SPACE_PINNED,
					  .placed = true,
					  .device = device,
					  .key = handle,
					  .size = size };
}

void cuda_call_create(struct cuda_call *span, int status, uint64_t handle, uint64_t size,
		      int device)
{
	const struct cuda_call_memory memory = handle_of(handle, size, device);

	cuda_call_take(span, status, &memory);
}

/* It stands for a place in several devices' memory and has none of its own. */
void cuda_call_multicast(struct cuda_call *span, int status, uint64_t handle)
{
	if (!status)
		cuda_call_create(span, status, handle, 0, driver_device());
}

/* Opened anew, memory of others has the same handle or address, and must be closed once more. The
 * size behind a handle is not known before it is mapped. */
void cuda_call_import(struct cuda_call *span, int status, enum node_kind kind, uint64_t key)
{
	struct cuda_call_memory memory = {
		.kind = kind, .space = SPACE_DEVICE, .flags = EVENT_FOREIGN, .key = key
	};
	bool again;

	if (!cuda_call_begins(span, status, &memory))
		return;
	record_lock();
	again = vmm_retain(record_ledger(), kind, key);
	record_unlock();
	cuda_call_moved(span);
	if (again)
		return;
	if (kind == NODE_ADDRESS)
		memory.size = driver_range(key);
	else
		memory = handle_of(key, 0, driver_device());
	memory.flags = EVENT_FOREIGN;
	cuda_call_enter_memory(span, &memory);
}

void cuda_call_retain(struct cuda_call *span, int status, uint64_t handle, uint64_t ptr)
{
	if (status || span->moved || !record_continue())
		return;
	record_lock();
	vmm_retain_mapped(record_ledger(), ptr, handle);
	record_unlock();
}

/*
 * After the real call, unlike a free: addresses are the program's to choose, so nobody maps here
 * again before this wrapper has returned; and a failed unmap needs no undoing.
 */
void cuda_call_map(struct cuda_call *span, int status, uint64_t ptr, uint64_t size, uint64_t handle)
{
	struct event event;

	if (status || !record_continue())
		return;
	cuda_call_describe(span, &event);
	event.ptr = ptr;
	event.size = size;
	record_lock();
	event.api = cuda_call_api(span);
	if (handle)
		vmm_map(record_ledger(), &event, handle);
	else
		vmm_unmap(record_ledger(), &event);
	record_done();
	cuda_call_moved(span);
}
