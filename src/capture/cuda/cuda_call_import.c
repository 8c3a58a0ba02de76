/* Memory of another process or library: listed, and counts 0, for it is its exporter's. */

#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/driver.h"
#include "ledger/vmm.h"

void span_import(struct span *span, int status, enum node_kind kind, enum space space, uint64_t key,
		 uint64_t size)
{
	const struct span_memory memory = {
		.kind = kind, .space = space, .key = key, .size = size, .flags = EVENT_FOREIGN
	};

	if (!status)
		span_take(span, status, &memory);
}

/* Opened anew, the address is the same, and it must be closed once more. */
void span_opened(struct span *span, int status, uint64_t ptr)
{
	bool again;

	if (status || !ptr || span_is_told(span) || !record_begin(true))
		return;
	record_lock();
	again = vmm_import_again(record_ledger(), ptr);
	record_unlock();
	if (again)
		span_moved(span);
	else
		span_import(span, status, NODE_ADDRESS, SPACE_DEVICE, ptr, driver_range(ptr));
}

void span_close(struct span *span, uint64_t ptr)
{

	if (!ptr || !span_acts(span) || !record_continue())
		return;
	span_describe_bare(span, &span->event);
	span->event.ptr = ptr;
	span_choose_end(span, &span->event, NODE_ADDRESS);
	record_lock();
	span->event.api = span_api(span);
	vmm_import_close(record_ledger(), &span->event, &span->was);
	span->ended = span->was.kind != NODE_FREE;
	record_done();
	if (span->ended)
		span_moved(span);
}

void span_closed(struct span *span, int status)
{

	if (!span->ended || !status || !record_continue())
		return;
	record_lock();
	span->event.t = record_now();
	span->event.error = intern_text(record_intern(), "the close failed");
	vmm_import_unclose(record_ledger(), &span->event, &span->was);
	record_done();
}
