/*
 * Records as freed the memory that the driver frees by itself when a context ends.
 *
 * Stream-ordered memory survives (cuda_runtime_api.h, cudaDeviceReset), and so do handles of
 * cuMemCreate, which belong to no context. The end of a context is recorded after the real call, as
 * only then is it known whether a release has ended the context, and which memory still exists.
 *
 * Contexts that end while the process exits are not recorded: a runtime may release its contexts
 * during exit, and "live at exit" means the memory that the program itself did not free.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/device_usage.h"
#include "capture/cuda/driver.h"
#include "capture/cupti/cupti.h"

/* The primary context of each device, 0 until a call that retains it was seen. */
static _Atomic uint64_t primary[DRIVER_DEVICES];

atomic_bool cuda_call_exiting;

static void note_exit(void)
{
	atomic_store(&cuda_call_exiting, true);
}

/* Exit handlers run in the reverse order of their registration. note_exit() is registered when the
 * first context is made, so it runs before a handler that the CUDA runtime registered earlier. */
static void watch_exit(void)
{
	static atomic_bool watching;

	if (!atomic_exchange(&watching, true))
		atexit(note_exit);
}

/* True if the memory of this ledger entry still exists after its context was destroyed. */
static bool outlives(const struct spool_node *node)
{
	return node->kind == NODE_ADDRESS && !(node->flags & NODE_FOREIGN) &&
	       driver_range(node->address) == node->size;
}

static void end_one(const struct event *like, uint32_t id, const struct spool_node *was)
{
	const struct spool_node *node;
	struct event event = *like;

	record_lock();
	node = live_node(record_spool(), id);
	/* Another thread may have freed the memory since end_all() released the lock. */
	if (node->kind == was->kind && node->address == was->address && node->t == was->t)
		ledger_leave_node(record_ledger(), &event, id);
	record_done();
}

static void end_all(struct cuda_call *span, uint64_t context)
{
	struct spool_node node;
	struct event event;
	uint32_t id = 0;

	driver_contexts_changed();
	span->ended_context = context;
	usage_forget_seen();
	cuda_call_describe(span, &event);
	cuda_call_moved(span);
	for (;;) {
		record_lock();
		event.api = cuda_call_api(span);
		id = ledger_next_of_context(record_ledger(), id, context);
		if (id)
			node = *live_node(record_spool(), id);
		record_unlock();
		if (!id)
			break;
		if (!outlives(&node))
			end_one(&event, id, &node);
	}
	cuda_call_sample_used(span, driver_device());
}

void cuda_call_context_made(struct cuda_call *span, int status)
{
	watch_exit();
	driver_contexts_changed();
	if (!status)
		cupti_context_made();
	cuda_call_sampled(span, status);
}

void cuda_call_context_ended(struct cuda_call *span, int status, uint64_t context)
{
	if (!status && context && !span->moved && !atomic_load(&cuda_call_exiting) &&
	    record_continue())
		end_all(span, context);
}

void cuda_call_primary_retained(struct cuda_call *span, int status, uint64_t context, int device)
{
	if (status)
		return;
	watch_exit();
	if (device >= 0 && device < DRIVER_DEVICES &&
	    atomic_exchange(&primary[device], context) != context) {
		driver_contexts_changed();
		cupti_context_made();
	}
	cuda_call_sampled(span, status);
}

/* The device's primary context. If no retain of it was seen: this thread's current context if that
 * is on the device, else 0. */
static uint64_t primary_of(const struct cuda_call *span, int device)
{
	uint64_t known = device >= 0 && device < DRIVER_DEVICES ? atomic_load(&primary[device]) : 0;

	return known || device != span->device ? known : span->context;
}

void cuda_call_primary_ended(struct cuda_call *span, int status, int device)
{
	cuda_call_context_ended(span, status, primary_of(span, device));
}

/* The driver counts retains and releases: only the last release ends the context. */
void cuda_call_primary_released(struct cuda_call *span, int status, int device)
{
	if (!status && !driver_primary_active(device))
		cuda_call_primary_ended(span, status, device);
}

/* cudaDeviceReset resets the current device, but does nothing if the thread's context is not the
 * device's primary context (cuda_runtime_api.h). */
void cuda_call_reset_done(struct cuda_call *span, int status)
{
	if (span->device >= 0 && primary_of(span, span->device) == span->context)
		cuda_call_primary_ended(span, status, span->device);
}
