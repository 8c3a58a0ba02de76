/* Virtual memory management: the words for handles and mappings. */

#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/driver.h"
#include "capture/life/api.h"
#include "capture/life/process_info.h"
#include "capture/torch/torch.h"
#include "ledger/vmm.h"

/* A new handle, of a device (NO_DEVICE: of the host). */
static void enter(struct span *span, uint64_t handle, uint64_t size, int device, uint8_t flags)
{
	enum space space = device >= 0 ? SPACE_DEVICE : SPACE_PINNED;
	struct event event;

	span_moved(span);
	span_describe_bare(span, &event);
	event.space = space;
	event.flags = flags;
	event.ptr = handle;
	event.size = size;
	event.device = (int16_t)device;
	facts_device(device);
	span_choose_birth(span, &event);
	record_lock();
	event.api = span_api(span);
	event.pool = size && !flags ? api_growing() : 0;
	if (!event.pool && device >= 0 && size && torch_owns(span_owner(&event)))
		event.pool = torch_pool();
	event.op = event.pool ? EVENT_RESERVE : EVENT_ALLOC;
	span_enter_memory(&event, NODE_HANDLE, 0);
	record_done();
	span_sample_used(span, device);
}

void span_create(struct span *span, int status, uint64_t handle, uint64_t size, int device)
{

	if (!span_no_event(status) && !span_is_told(span) && record_begin(true)) {
		if (status)
			span_failed(span, status, device >= 0 ? SPACE_DEVICE : SPACE_PINNED, size,
				    device, false);
		else if (span_counts(span, status))
			enter(span, handle, size, device, 0);
	}
}

/* It stands for a place in several devices' memory and has none of its own. */
void span_multicast(struct span *span, int status, uint64_t handle)
{

	if (!status && !span_is_told(span) && record_begin(true) && span_counts(span, status))
		enter(span, handle, 0, driver_device(), 0);
}

/* How large imported memory is no call tells before it is mapped. */
void span_import_handle(struct span *span, int status, uint64_t handle)
{
	bool known;

	if (status || span_is_told(span) || !record_begin(true) || !span_counts(span, status))
		return;
	record_lock();
	known = vmm_retain(record_ledger(), handle);
	record_unlock();
	if (!known)
		enter(span, handle, 0, driver_device(), EVENT_FOREIGN);
	span_moved(span);
}

void span_retain(struct span *span, int status, uint64_t handle, uint64_t ptr)
{

	if (!status && !span->moved && record_continue()) {
		record_lock();
		vmm_retain_mapped(record_ledger(), ptr, handle);
		record_unlock();
	}
}

void span_release(struct span *span, uint64_t handle)
{

	if (!record_continue())
		return;
	span_describe_bare(span, &span->event);
	span->event.ptr = handle;
	span_choose_end(span, &span->event, NODE_HANDLE);
	record_lock();
	span->event.api = span_api(span);
	vmm_release(record_ledger(), &span->event, &span->was);
	span->ended = span->was.kind != NODE_FREE;
	record_done();
	span_moved(span);
}

void span_released(struct span *span, int status)
{

	if (!span->ended || !status || !record_continue())
		return;
	record_lock();
	span->event.t = record_now();
	span->event.error = intern_text(record_intern(), "the release failed");
	vmm_unrelease(record_ledger(), &span->event, &span->was);
	record_done();
}

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
	vmm_map(record_ledger(), &event, handle);
	record_done();
	span_moved(span);
}

void span_unmap(struct span *span, int status, uint64_t ptr, uint64_t size)
{
	struct event event;

	/*
	 * After the real call, unlike a free: addresses are the program's to choose, so nobody maps
	 * here again before this wrapper has returned; and a failed unmap needs no undoing.
	 */
	if (status || !record_continue())
		return;
	span_describe(span, &event);
	event.ptr = ptr;
	event.size = size;
	record_lock();
	event.api = span_api(span);
	vmm_unmap(record_ledger(), &event);
	record_done();
	span_moved(span);
}
