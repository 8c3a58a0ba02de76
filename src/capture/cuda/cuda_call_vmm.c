/* Virtual memory management, and memory of other processes and libraries: handles and mappings. */
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/driver.h"
#include "ledger/vmm.h"

/* A handle of a device (NO_DEVICE: of the host). */
static struct span_memory handle_of(uint64_t handle, uint64_t size, int device)
{
	return (struct span_memory){ .kind = NODE_HANDLE,
				     .space = device >= 0 ? SPACE_DEVICE : SPACE_PINNED,
				     .placed = true,
				     .device = device,
				     .key = handle,
				     .size = size };
}

void span_create(struct span *span, int status, uint64_t handle, uint64_t size, int device)
{
	const struct span_memory memory = handle_of(handle, size, device);

	span_take(span, status, &memory);
}

/* It stands for a place in several devices' memory and has none of its own. */
void span_multicast(struct span *span, int status, uint64_t handle)
{
	if (!status)
		span_create(span, status, handle, 0, driver_device());
}

/* How large imported memory is no call tells before it is mapped. */
void span_import_handle(struct span *span, int status, uint64_t handle)
{
	struct span_memory memory = { .flags = EVENT_FOREIGN, .key = handle };
	bool known;

	if (!span_begins(span, status, &memory))
		return;
	record_lock();
	known = vmm_retain(record_ledger(), NODE_HANDLE, handle);
	record_unlock();
	span_moved(span);
	if (known)
		return;
	memory = handle_of(handle, 0, driver_device());
	memory.flags = EVENT_FOREIGN;
	span_enter_memory(span, &memory);
}

void span_retain(struct span *span, int status, uint64_t handle, uint64_t ptr)
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
void span_map(struct span *span, int status, uint64_t ptr, uint64_t size, uint64_t handle)
{
	struct event event;

	if (status || !record_continue())
		return;
	span_describe(span, &event);
	event.ptr = ptr;
	event.size = size;
	record_lock();
	event.api = span_api(span);
	if (handle)
		vmm_map(record_ledger(), &event, handle);
	else
		vmm_unmap(record_ledger(), &event);
	record_done();
	span_moved(span);
}

/* Opened anew, the address is the same, and it must be closed once more. */
void span_opened(struct span *span, int status, uint64_t ptr)
{
	struct span_memory memory = {
		.kind = NODE_ADDRESS, .space = SPACE_DEVICE, .flags = EVENT_FOREIGN, .key = ptr
	};
	bool again;

	if (!span_begins(span, status, &memory))
		return;
	record_lock();
	again = vmm_retain(record_ledger(), NODE_ADDRESS, ptr);
	record_unlock();
	span_moved(span);
	if (again)
		return;
	memory.size = driver_range(ptr);
	span_enter_memory(span, &memory);
}
