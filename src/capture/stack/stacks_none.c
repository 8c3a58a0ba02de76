/* What stands for a stack that is not taken. */
#include <stdatomic.h>

#include "base/text/text.h"
#include "capture/recorder/record.h"
#include "capture/stack/modules.h"
#include "capture/stack/stacks.h"
#include "codec/event.h"

/* The owner that the caller's address tells: false if only a walk can. */
static bool caller_owner(void *caller, uint32_t *owner)
{
	const struct module *module = modules_find((uint64_t)caller - 1);

	*owner = 0;
	if (!module || module->runtime || modules_stale())
		return false;
	if (module->path)
		*owner = intern_text(record_intern(),
				     text_base(spool_text(record_spool(), module->path)));
	return true;
}

static uint32_t none_of(enum stacks_reason reason, enum space space, uint32_t owner)
{
	static const char names[][24] = {
		[STACKS_STOPPED] = PSEUDO_NOT_RECORDED,
		[STACKS_FILTERED] = "[filtered out]",
		[STACKS_NO_SAMPLE] = PSEUDO_NOT_SAMPLED,
	};

	if (reason == STACKS_STOPPED && space == SPACE_DEVICE && !owner)
		return 0;
	return intern_pseudo_stack(record_intern(), names[reason], owner, space);
}

/* Those without an owner stand for most calls of all. */
static _Atomic uint32_t nones[STACKS_REASONS][SPACES];

static uint32_t none_at_all(enum stacks_reason reason, enum space space)
{
	uint32_t id = atomic_load_explicit(&nones[reason][space], memory_order_relaxed);

	if (id)
		return id;
	record_lock();
	id = none_of(reason, space, 0);
	record_unlock();
	atomic_store_explicit(&nones[reason][space], id, memory_order_relaxed);
	return id;
}

uint32_t stacks_none(enum stacks_reason reason, enum space space, void *caller, void *const *frame)
{
	uint32_t owner;
	bool told;
	uint32_t id;

	if (!caller)
		return none_at_all(reason, space);
	record_lock();
	told = caller_owner(caller, &owner);
	record_unlock();
	id = told ? 0 : stacks_capture(caller, frame, true);
	record_lock();
	if (id) {
		const struct spool_stack *row = spool_at(record_spool(), SPOOL_STACK, id);

		owner = row->owner;
	}
	id = none_of(reason, space, owner);
	record_unlock();
	return id;
}

void stacks_none_forked(void)
{
	for (int i = 0; i < STACKS_REASONS * SPACES; i++)
		atomic_store(&nones[i / SPACES][i % SPACES], 0);
}
