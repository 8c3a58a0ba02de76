/* Who is asking the dynamic loader, and who makes a child. */
#include "capture/loader/loader.h"

#include "base/guest/own_stack.h"
#include "capture/loader/crowd.h"

atomic_bool loader_silent;
static struct crowd asking;
static _Thread_local struct crowd_self self;
static atomic_int forking;
static atomic_uint forks;                 /* so far */
static _Thread_local unsigned waited_for; /* the fork that this thread waited for in vain */

bool loader_nobody_forks(void)
{
	return !atomic_load(&forking);
}

static bool nobody_asks(void)
{
	return crowd_is_empty(&asking, &self);
}

/* Announced first and looked second, on both sides: one of two sees the other. */
void loader_enter_in(void **frame)
{
	if (!crowd_enter(&asking, &self, frame) || __builtin_expect(loader_nobody_forks(), 1))
		return;
	/* A fork that waits for what we hold, we being a handler in the middle of an update, is
	 * not over before the handler is, however often that asks. */
	if (waited_for == atomic_load(&forks))
		return;
	crowd_leave(&asking, &self, frame);
	crowd_await(loader_nobody_forks, LOADER_PATIENCE_MS);
	if (!loader_nobody_forks())
		waited_for = atomic_load(&forks);
	crowd_enter(&asking, &self, frame);
}

void loader_leave_in(void **frame)
{
	crowd_leave(&asking, &self, frame);
}

void loader_hold(void)
{
	atomic_fetch_add(&forks, 1);
	atomic_fetch_add(&forking, 1);
	crowd_await(nobody_asks, LOADER_PATIENCE_MS);
}

void loader_release(void)
{
	atomic_fetch_sub(&forking, 1);
}

void loader_forked(void)
{
	bool others = atomic_load(&asking.threads) > (self.shard != 0);

	if (!nobody_asks() || (loader_nobody_forks() && others))
		atomic_store(&loader_silent, true);
	crowd_forked(&asking, &self);
	if (!loader_nobody_forks())
		atomic_store(&forking, 0);
}

struct call {
	void (*work)(void *);
	void *argument;
};

static void call_inside(void *argument)
{
	const struct call *call = argument;

	loader_enter();
	call->work(call->argument);
	loader_leave();
}

void loader_call(void (*work)(void *), void *argument)
{
	struct call call = { work, argument };

	own_stack_call(call_inside, &call);
}

bool loader_used(void)
{
	return atomic_load(&asking.threads) != 0;
}
