/* Chooses which calls become events (MEMTRACE_FILTER) and which get a stack (MEMTRACE_SAMPLE). */
#include "capture/stack/stacks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem/hash.h"
#include "base/settings/filter.h"
#include "base/settings/opt.h"
#include "base/settings/sample.h"
#include "capture/stack/modules.h"

#define MOST ((uint64_t)1 << 40) /* longest sampling interval, in bytes: more than a device has */

HOT_DATA bool sampling_asks;

static struct filter filter;
uint64_t sampling_interval;
static _Thread_local struct sample sample;

void sampling_init(void)
{
	sampling_interval = opt_count(OPT_ID_sample);
	if (sampling_interval > MOST)
		sampling_interval = MOST;
	if (opt_given(OPT_ID_filter))
		filter_parse(opt_text(OPT_ID_filter), &filter);
	sampling_asks = opt_given(OPT_ID_filter) || sampling_interval;
}

/* --- pseudo-stacks in place of a stack that is not taken --- */

/* Sets *owner (a text id) to the library at `caller`. False if only a walk can find the owner. */
static bool caller_owner(void *caller, uint32_t *owner)
{
	const struct module *module = modules_find((uint64_t)caller - 1);
	bool told = module && !module->runtime && !modules_stale();

	*owner = told ? modules_owner(module) : 0;
	return told;
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

/* By reason and space: number of the pseudo-stack without an owner, 0 if not made yet. */
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
	if (id)
		owner = record_stack(id)->owner;
	id = none_of(reason, space, owner);
	record_unlock();
	return id;
}

void sampling_forked(void)
{
	memset((void *)nones, 0, sizeof(nones));
}

/* --- whether the stack is taken and the event is written --- */

static void know(struct filter_facts *facts, const struct event *event)
{
	facts->known |= 1u << FILTER_size | 1u << FILTER_device;
	facts->number[FILTER_size] = event->size;
	facts->number[FILTER_device] =
		event->device < 0 ? UINT64_MAX : (uint64_t)(uint16_t)event->device;
}

/* True if MEMTRACE_FILTER excludes the event by what is known without the event's stack. */
static bool surely_not(const struct event *event, const struct sampling_call *call)
{
	struct filter_facts facts = { .known = 0 };

	know(&facts, event);
	if (call->unknown_device)
		facts.known &= ~(1u << FILTER_device);
	if (call->pool) {
		facts.known |= 1u << FILTER_pool;
		facts.name[FILTER_pool] = call->pool;
	}
	return filter_ask(&filter, &facts) == FILTER_NO;
}

bool sampling_wants_birth(struct event *event, const struct sampling_call *call)
{
	enum stacks_reason reason;
	uint64_t seed = 0;

	if (sampling_interval && !sample.chance) /* each thread in each run gets a different seed */
		seed = hash_mix(record_thread(), record_now());
	event->untold = filter.count && surely_not(event, call);
	if (record_quiet()) {
		reason = STACKS_STOPPED;
	} else if (event->untold) {
		reason = STACKS_FILTERED;
	} else if (sampling_interval &&
		   !sample_take(&sample, seed, event->size, sampling_interval)) {
		reason = STACKS_NO_SAMPLE;
	} else {
		event->sampled = sampling_interval != 0;
		return true;
	}
	event->stack =
		stacks_none(reason, event->space, call->driver ? call->caller : NULL, call->frame);
	return false;
}

/* True if MEMTRACE_FILTER excluded the block's allocation: its free is not written either. */
static bool born_untold(const struct event *event, enum node_kind kind, const char *pool)
{
	uint32_t id;
	bool untold;

	record_lock();
	id = live_find(record_spool(), kind, record_text(pool), event->ptr);
	untold = id && live_node(record_spool(), id)->flags & NODE_UNTOLD;
	record_unlock();
	return untold;
}

bool sampling_wants_end(struct event *event, enum node_kind kind, const struct sampling_call *call)
{
	if (record_quiet())
		event->stack = 0;
	else if (filter.count && born_untold(event, kind, call->pool))
		event->stack = stacks_none(STACKS_FILTERED, event->space, NULL, NULL);
	else if (sampling_interval)
		event->stack = stacks_none(STACKS_NO_SAMPLE, event->space, NULL, NULL);
	else
		return true;
	return false;
}

HOT_CODE void sampling_told(struct event *event)
{
	const struct spool *spool = record_spool();
	struct filter_facts facts = { .known = 1u << FILTER_pool | 1u << FILTER_owner };

	if (!filter.count || event->untold)
		return;
	know(&facts, event);
	facts.name[FILTER_pool] = spool_text(spool, event->pool);
	facts.name[FILTER_owner] = spool_text(spool, record_stack(event->stack)->owner);
	event->untold = filter_ask(&filter, &facts) != FILTER_YES;
}
