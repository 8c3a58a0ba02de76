/*
 * Finds the hooked call inside which the present call is made, if both are on the same stack.
 *
 * The last call that a thread entered may be on another stack, which is suspended or gone for good.
 * A call uses another call's span (its record) only if both are on one stack: then the outer span
 * outlives the inner call.
 */
#include <errno.h>

#include "base/guest/hot.h"
#include "base/guest/safe_read.h"
#include "base/guest/thread_stack.h"
#include "capture/cuda/cuda_call.h"
#include "capture/cuda/device_usage.h"
#include "capture/stack/unwind.h"

/*
 * Frames less than NEAR bytes apart are taken to be on one stack. A signal handler's frame is
 * farther away, beyond a signal frame of at least 1.5 KiB and other frames. A runtime call's frame
 * and its driver call's are at most 0.8 KiB apart, or 1.1 KiB when the first context is made.
 */
enum { NEAR = 2048, PAGE = 4096, FRAME_MOST = 4096 };

HOT_THREAD _Thread_local struct cuda_call_top cuda_call_top;
atomic_bool cuda_call_apart;

/* A signal handler that interrupts these writes finds one complete call, or none. */
static inline void put_top(struct cuda_call *span, void **frame, void *caller, enum hook_id hook)
{
	cuda_call_top.span = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	cuda_call_top.frame = frame;
	cuda_call_top.caller = caller;
	cuda_call_top.hook = hook;
	atomic_signal_fence(memory_order_seq_cst);
	cuda_call_top.span = span;
}

/* True if no longjmp has left the call: its frame still has its return address and its span. */
static inline bool stands(const struct cuda_call_top *top, bool readable)
{
	void *word = NULL;

	if (readable)
		word = top->frame[1];
	else if (!peek(&word, top->frame + 1, sizeof(word)))
		return false;
	return word == top->caller && (uintptr_t)top->frame - (uintptr_t)top->span < FRAME_MOST;
}

/* The slow part of outer_of(). Clears *top if a longjmp has left the call that *top describes. */
static __attribute__((noinline)) struct cuda_call *judge(struct cuda_call_top *top, void **frame,
							 bool usual)
{
	bool near = (uintptr_t)top->frame - (uintptr_t)frame - 1 < NEAR;
	bool own = thread_stack_has(top->frame + 1) && thread_stack_has(frame);
	enum unwind_found found;
	int saved = errno;

	if ((own && top->frame <= frame) || !stands(top, own)) {
		top->span = NULL;
		usage_unwound();
		return NULL;
	}
	if (near && usual)
		return top->span;
	/* If this thread holds the recorder's lock, a signal handler made the call. A stack walk
	 * takes the loader's lock, whose owner may be waiting for the recorder's: a deadlock. */
	if (record_inside())
		return NULL;
	found = unwind_until(top->caller);
	errno = saved;
	if (found == UNWIND_SIGNAL) /* a signal handler made the call: it is not nested */
		return NULL;
	if (near || (own && found == UNWIND_CAME))
		return top->span;
	atomic_store(&cuda_call_apart, true);
	usage_unwound();
	return NULL;
}

/* Returns the outer call or NULL. The common case, a driver call with its frame near a runtime
 * call's, needs no stack walk: if a signal handler made the driver call, no sum becomes wrong. */
static inline struct cuda_call *outer_of(struct cuda_call_top *top, enum hook_id hook, void **frame)
{
	bool usual = hooks[hook].api == DRV && hooks[top->hook].api == RT;
	bool near = (uintptr_t)top->frame - (uintptr_t)frame - 1 < NEAR;
	bool same_page = ((uintptr_t)(top->frame + 1) ^ (uintptr_t)frame) < PAGE;

	if (__builtin_expect(usual && near &&
				     (same_page || (thread_stack_has(frame) &&
						    thread_stack_has(top->frame + 1))) &&
				     stands(top, true),
			     1))
		return top->span;
	return judge(top, frame, usual);
}

HOT_CODE void cuda_call_enter(struct cuda_call *span, enum hook_id hook, void *caller, void **frame)
{
	struct cuda_call *outer = cuda_call_top.span;

	overhead_enter(!outer);
	watch_path(hooks[hook].name);
	span->before.span = outer;
	if (outer) {
		span->before = cuda_call_top;
		outer = outer_of(&span->before, hook, frame);
	}
	span->outer = outer;
	span->caller = caller;
	span->frame = frame;
	span->stream = 0;
	span->hook = (uint16_t)hook;
	span->driver_seen = span->moved = span->capturing = span->ended = span->unknown = false;
	span->moving = span->stepping = false;
	if (hooks[hook].api == DRV && hook >= HOOK_FIRST_MEMORY) {
		if (hook < HOOK_FIRST_STEP) {
			span->moving = true;
			usage_move();
		}
		for (; outer; outer = outer->outer)
			outer->driver_seen = true;
	}
	put_top(span, frame, caller, hook);
}

HOT_CODE void cuda_call_leave(struct cuda_call *span)
{
	const struct cuda_call_top *before = &span->before;

	if (before->span)
		put_top(before->span, before->frame, before->caller, before->hook);
	else
		cuda_call_top.span = NULL;
	if (span->moving)
		usage_moved();
	if (span->stepping)
		usage_abandon();
	overhead_leave(SPOOL_COST_DRIVER, !cuda_call_top.span, span->moved);
	watch_path(NULL);
}

void cuda_call_forked(void)
{
	struct cuda_call now = { 0 };

	/* peek() reads without a fault: an outer call's stack may no longer be mapped. */
	for (struct cuda_call_top top = cuda_call_top; top.span; top = now.before) {
		if (!stands(&top, false) || !peek(&now, top.span, sizeof(now)) ||
		    now.frame != top.frame || now.caller != top.caller)
			return;
		top.span->moved = true;
		top.span->ended = top.span->unknown = false;
	}
}
