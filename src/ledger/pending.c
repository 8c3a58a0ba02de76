/* Who may wait, and for how long. */
#include "ledger/pending.h"

#include "base/guest/hot.h"
#include "ledger/ledger_parts.h"
#include "ledger/pending_parts.h"

int64_t pending_headroom(const struct ledger *ledger)
{
	uint64_t least = INT64_MAX;

	for (unsigned i = 0; i < ledger->backlog.sums_n; i++) {
		const struct spool_sum *sum =
			&ledger->backlog.sums[i].scope.row->sums[METRIC_ALLOCATED];

		if (sum->peak - sum->now < least)
			least = sum->peak - sum->now;
	}
	return (int64_t)least;
}

/* One more sum that they move. False if its curve has no point for time t. */
static bool add_sum(struct ledger *ledger, const struct totals_scope *scope, uint64_t t)
{
	struct ledger_backlog *backlog = &ledger->backlog;
	struct backlog_sum *sum = &backlog->sums[backlog->sums_n];
	const struct timeline_pen *pen = ledger_pen(ledger, scope->row);

	*sum = (struct backlog_sum){ .scope = *scope };
	backlog->sums_n++;
	if (!scope->row->curve)
		return true;
	sum->point = pen->point;
	if (pen->until < backlog->until)
		backlog->until = pen->until;
	return pen->scope == scope->row && pen->state == scope->row->curve_state && t < pen->until;
}

HOT_CODE bool pending_find(struct ledger *ledger, const struct event *event)
{
	struct ledger_backlog *backlog = &ledger->backlog;
	uint64_t t = ledger->spool->header->t;
	const struct touched *touched = ledger_touch(ledger, event, 0);

	backlog->found = false;
	backlog->sums_n = 0;
	backlog->until = UINT64_MAX;
	if (!touched || !touched->pool.row || !touched->device.row)
		return false; /* there are more pools than can be told apart */
	backlog->allocated = touched->pool.row->sums[METRIC_ALLOCATED].now;
	backlog->reserved = touched->pool.row->sums[METRIC_RESERVED].now;
	backlog->found = add_sum(ledger, &touched->pool, t) && add_sum(ledger, &touched->device, t);
	backlog->headroom = pending_headroom(ledger);
	return backlog->found;
}

/* So many may wait as are sure to find room, also by who books them in a copy of the file. */
static bool make_run_room(struct ledger *ledger)
{
	struct spool *spool = ledger->spool;
	uint64_t left;
	int error = totals_room(spool, SPOOL_WAITING);

	if (!error)
		error = spool_need(spool, SPOOL_NODE,
				   spool_count(spool, SPOOL_NODE) + SPOOL_WAITING);
	if (ledger_fails(ledger, error))
		return false;
	left = journal_left(&ledger->journal);
	ledger->backlog.room = left < SPOOL_WAITING ? (unsigned)left : SPOOL_WAITING;
	return true;
}

/* With nothing that waits: from here on blocks like this one may. */
static bool open_for(struct ledger *ledger, const struct event *event)
{
	struct spool_backlog *backlog = pending_shared(ledger);

	ledger->backlog.room = 0;
	if (ledger->behind || !ledger_room(ledger, 1) || !pending_find(ledger, event) ||
	    !make_run_room(ledger))
		return false;
	backlog->pool = event->pool;
	backlog->api = event->api;
	backlog->device = event->device;
	ledger->backlog.generation = ledger_generation(ledger);
	return true;
}

static inline bool is_like(const struct spool_backlog *backlog, const struct event *event)
{
	return backlog->pool == event->pool && backlog->api == event->api &&
	       backlog->device == event->device;
}

static inline int64_t signed_size(const struct event *event)
{
	return event->op == EVENT_ALLOC ? (int64_t)event->size : -(int64_t)event->size;
}

/* Does it leave all peaks as they are, and is it what the pool says of itself? */
static inline bool is_quiet(const struct ledger_backlog *backlog, int64_t change,
			    const struct pending_told *told)
{
	return change <= backlog->headroom && -change <= (int64_t)backlog->allocated &&
	       backlog->allocated + (uint64_t)change == told->allocated &&
	       backlog->reserved == told->reserved;
}

static inline bool may_wait(const struct ledger *ledger, const struct event *event,
			    const struct pending_told *told)
{
	const struct ledger_backlog *backlog = &ledger->backlog;

	return backlog->waiting < backlog->room &&
	       backlog->generation == ledger_generation(ledger) && event->t < backlog->until &&
	       is_like(pending_shared(ledger), event) &&
	       is_quiet(backlog, signed_size(event), told);
}

static inline bool is_plain(const struct ledger *ledger, const struct event *event)
{
	return !(ledger->quiet | event->untold | event->sampled) && !event->flags &&
	       !event->stream && event->space == SPACE_DEVICE && event->device >= 0 &&
	       event->pool && (int64_t)event->size > 0 && !ledger->error;
}

HOT_CODE bool pending_put(struct ledger *ledger, const struct event *event,
			  const struct pending_told *told)
{
	struct spool_backlog *backlog = pending_shared(ledger);
	int64_t change = signed_size(event);
	bool plain = is_plain(ledger, event);

	if (__builtin_expect(!plain || !may_wait(ledger, event, told), 0)) {
		pending_settle(ledger);
		if (!plain || !open_for(ledger, event) || !may_wait(ledger, event, told))
			return false;
	}
	backlog->waiting[backlog->put % SPOOL_WAITING] = (struct spool_waiting){
		.t = event->t,
		.ptr = event->ptr,
		.size = change,
		.stack = event->stack,
		.thread = event->thread,
	};
	__atomic_store_n(&backlog->put, backlog->put + 1, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	ledger->backlog.waiting++;
	ledger->backlog.headroom -= change;
	ledger->backlog.allocated += (uint64_t)change;
	return true;
}

void pending_before(struct ledger *ledger, uint32_t stack)
{
	pending_shared(ledger)->before = stack + 1;
}

void pending_mend(struct ledger *ledger)
{
	const struct spool_backlog *backlog = pending_shared(ledger);

	ledger->backlog.room = 0;
	ledger->backlog.found = false;
	ledger->backlog.taking = false;
	ledger->backlog.waiting = (unsigned)waiting_count(backlog);
}
