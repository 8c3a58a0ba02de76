/* An allocation that failed for want of memory, explained. */
#include "facts/oom/oom.h"

#include <errno.h>
#include <string.h>

#include "base/guest/table_rows.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "facts/oom/oom_parts.h"
#include "ledger/totals.h"

static const uint64_t MIB = 1 << 20;

/* --- what is known beside what was live --- */

static void find_card(struct oom *oom, const struct recording *recording)
{
	const struct trace_card *card = recording_card(recording, oom->row->device);

	if (!card)
		return;
	oom->card = card->name;
	oom->facts.total = card->total_bytes == TRACE_NONE ? 0 : card->total_bytes;
}

/* What a driver takes of a card for itself: its context, modules, heaps. */
static uint64_t own_share(uint64_t total)
{
	uint64_t most = 1536 * MIB;

	return total / 16 < most ? total / 16 : most;
}

/* What the driver said at its refusal, else what it said last before. */
static void find_left(struct oom_facts *facts, const struct spool_oom *row)
{
	uint64_t used = row->used;

	if (row->total) {
		facts->total = row->total;
		used = row->total - (row->left < row->total ? row->left : row->total);
	}
	if (!facts->total || !used || used > facts->total)
		return;
	facts->left = facts->total - used;
	if (facts->asked > facts->left)
		facts->lacked = facts->asked - facts->left;
	if (used > facts->reserved)
		facts->others = used - facts->reserved;
	if (facts->others > own_share(facts->total))
		facts->foreign = facts->others - own_share(facts->total);
}

/* What PyTorch's allocator asks the driver for to serve so much: CUDACachingAllocator.cpp. */
static uint64_t segment_for(uint64_t size)
{
	if (size <= MIB)
		return 2 * MIB;
	if (size < 10 * MIB)
		return 20 * MIB;
	return (size + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
}

/* The most that PyTorch has ever held was allowed; this was not. */
static void find_limit(struct oom_facts *facts, const struct recording *recording,
		       const struct spool_oom *row)
{
	facts->limit_min = facts->pooled;
	facts->limit_max = facts->pooled + segment_for(facts->asked);
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);
		const struct spool_sum *sum = &scope->sums[METRIC_RESERVED];

		if (scope->kind == SCOPE_POOL && scope->device == row->device &&
		    scope->name == row->pool && sum->peak_t <= row->t &&
		    sum->peak > facts->limit_min && sum->peak < facts->limit_max)
			facts->limit_min = sum->peak;
	}
}

static bool is_expandable(const struct recording *recording)
{
	for (uint32_t i = 0; (i = fact_find(recording->spool, "value", i));) {
		const char *value = fact_value(recording->spool, i);

		if (value && strstr(value, "expandable_segments:True"))
			return true;
	}
	return false;
}

static void find_facts(struct oom *oom, struct recording *recording)
{
	const struct spool_oom *row = oom->row;
	struct oom_facts *facts = &oom->facts;
	const char *api = spool_text(recording->spool, row->api);

	facts->device = row->device >= 0 ? (uint64_t)row->device : 0;
	facts->asked = row->size;
	facts->refused = row->refused;
	facts->host = row->device < 0;
	facts->torch = api && !strcmp(api, "torch");
	facts->python = fact_find(recording->spool, "python", 0) != 0;
	facts->expandable = is_expandable(recording);
	facts->allocated = row->allocated;
	facts->reserved = row->reserved;
	recording_line(recording, row->stack, facts->line, OOM_WORDS);
	if (facts->host)
		return;
	find_card(oom, recording);
	find_left(facts, row);
	if (!facts->torch)
		return;
	facts->pooled = row->pool_reserved;
	if (row->pool_reserved > row->pool_allocated)
		facts->cached = row->pool_reserved - row->pool_allocated;
	find_limit(facts, recording, row);
}

/* --- the tables --- */

const char *oom_reason_name(enum oom_reason reason)
{
	static const char names[][16] = {
#define REASON(name, condition, text) WHOLE(#name),
#include "facts/oom/oom_reasons.def"
#undef REASON
	};

	return names[reason];
}

const char *oom_reason_text(enum oom_reason reason)
{
	switch (reason) {
#define REASON(name, condition, text) \
	case OOM_##name:              \
		return text;
#include "facts/oom/oom_reasons.def"
#undef REASON
	case OOM_REASONS:
		break;
	}
	return "";
}

const char *oom_advice_name(enum oom_advice advice)
{
	static const char names[][16] = {
#define ADVICE(name, condition, bytes, text) WHOLE(#name),
#include "facts/oom/oom_advice.def"
#undef ADVICE
	};

	return names[advice];
}

const char *oom_advice_text(enum oom_advice advice)
{
	switch (advice) {
#define ADVICE(name, condition, bytes, text) \
	case OOM_ADVICE_##name:              \
		return text;
#include "facts/oom/oom_advice.def"
#undef ADVICE
	case OOM_ADVICES:
		break;
	}
	return "";
}

static enum oom_reason reason_of(const struct oom_facts *f)
{
#define REASON(name, condition, text) \
	if (condition)                \
		return OOM_##name;
#include "facts/oom/oom_reasons.def"
#undef REASON
}

static void advise(struct oom *oom)
{
	const struct oom_facts *f = &oom->facts;
	enum oom_reason r = oom->reason;
	const struct {
		bool applies;
		uint64_t bytes;
	} rows[] = {
#define ADVICE(name, condition, bytes, text) { (condition), (bytes) },
#include "facts/oom/oom_advice.def"
#undef ADVICE
	};

	for (unsigned i = 0; i < OOM_ADVICES && oom->advice_n < OOM_ADVICE_MOST; i++) {
		if (!rows[i].applies)
			continue;
		oom->advice[oom->advice_n] = (enum oom_advice)i;
		oom->advice_bytes[oom->advice_n++] = rows[i].bytes;
	}
}

/* --- the pass over the events --- */

struct finder {
	struct ooms *ooms;
	struct recording *recording;
	uint64_t moments[SPOOL_OOMS];
};

static int at_moment(void *context, const struct census *census, uint64_t seq)
{
	struct finder *finder = context;
	int error = 0;

	for (size_t i = 0; census && !error && i < finder->ooms->count; i++) {
		struct oom *oom = &finder->ooms->list[i];

		/* Of two in a signal handler's recording the numbers may be one. */
		if (oom->row->seq == seq && !oom->known && oom->row->device >= 0)
			error = oom_then(oom, finder->recording, census);
	}
	return error;
}

/* As much as was asked for was had later: by then the program had made room. */
static void at_event(void *context, const struct event *event)
{
	struct finder *finder = context;

	if (event->op != EVENT_ALLOC)
		return;
	for (size_t i = 0; i < finder->ooms->count; i++) {
		struct oom *oom = &finder->ooms->list[i];

		if (event->seq > oom->row->seq && event->device == oom->row->device &&
		    event->space == oom->row->space && event->size >= oom->row->size)
			oom->survived = true;
	}
}

static void find_after(struct oom *oom, const struct recording *recording)
{
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device == oom->row->device &&
		    scope->allocations > oom->row->allocations)
			oom->after = scope->allocations - oom->row->allocations;
	}
	oom->survived |= oom->after >= OOM_GOES_ON || recording->spool->header->status == 1;
}

static int by_time(const void *a, const void *b)
{
	const struct oom *x = a;
	const struct oom *y = b;

	return x->row->seq < y->row->seq ? -1 : x->row->seq > y->row->seq;
}

static int list_rows(struct ooms *ooms, struct recording *recording)
{
	uint64_t rows = spool_count(recording->spool, SPOOL_OOM);

	ooms->count = rows < SPOOL_OOMS ? (size_t)rows : SPOOL_OOMS;
	ooms->all = recording->spool->header->ooms;
	if (!ooms->count)
		return 0;
	ooms->list = arena_alloc(&recording->arena, ooms->count * sizeof(*ooms->list));
	if (!ooms->list)
		return -ENOMEM;
	for (size_t i = 0; i < ooms->count; i++)
		ooms->list[i].row = spool_at(recording->spool, SPOOL_OOM, i);
	sort_rows(ooms->list, ooms->count, sizeof(*ooms->list), by_time);
	return 0;
}

static void conclude(struct oom *oom, const struct recording *recording)
{
	struct oom_facts *facts = &oom->facts;

	facts->beside = facts->reserved > facts->pooled ? facts->reserved - facts->pooled : 0;
	find_after(oom, recording);
	oom->reason = reason_of(facts);
	advise(oom);
}

int ooms_find(struct ooms *ooms, struct recording *recording)
{
	struct finder finder = { .ooms = ooms, .recording = recording };
	const struct census_visitor visitor = { &finder, at_moment, at_event };
	int error;

	*ooms = (struct ooms){ 0 };
	error = list_rows(ooms, recording);
	if (error || !ooms->count)
		return error;
	for (size_t i = 0; i < ooms->count; i++) {
		find_facts(&ooms->list[i], recording);
		finder.moments[i] = ooms->list[i].row->seq;
	}
	error = census_take(recording->spool, finder.moments, ooms->count, &visitor);
	for (size_t i = 0; i < ooms->count; i++)
		conclude(&ooms->list[i], recording);
	return error;
}
