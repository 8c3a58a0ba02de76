/* Explains each allocation that failed for lack of memory: finds facts, the reason, and advice. */
#include "facts/oom/oom.h"

#include <errno.h>
#include <string.h>

#include "base/mem/sort.h"
#include "ledger/totals.h"

static const uint64_t MIB = 1 << 20;

/* --- facts that do not depend on the live blocks --- */

static void find_card(struct oom *oom, const struct spool_model *recording)
{
	const struct trace_card *card = trace_card(recording->trace, oom->row.device);

	if (!card)
		return;
	oom->card = card->name;
	oom->facts.total = card->total_bytes == TRACE_NONE ? 0 : card->total_bytes;
}

/* Estimates the bytes that the driver itself uses on a GPU: for contexts, modules, heaps. */
static uint64_t own_share(uint64_t total)
{
	uint64_t most = 1536 * MIB;

	return total / 16 < most ? total / 16 : most;
}

/* Finds the GPU's free bytes: as the driver reported at the failure, else by the last sample. */
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

/* Returns the size of the segment that PyTorch requests for a block (CUDACachingAllocator.cpp). */
static uint64_t segment_for(uint64_t size)
{
	if (size <= MIB)
		return 2 * MIB;
	if (size < 10 * MIB)
		return 20 * MIB;
	return (size + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
}

/* Bounds PyTorch's own limit: at least the earlier peak of its pool, and less than the pool's bytes
 * plus those of the segment that PyTorch did not request because of the limit. */
static void find_limit(struct oom_facts *facts, const struct spool_model *recording,
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

static bool is_expandable(const struct spool_model *recording)
{
	for (uint32_t i = 0; (i = fact_find(recording->spool, "value", i));) {
		const char *value = fact_value(recording->spool, i);

		if (value && strstr(value, "expandable_segments:True"))
			return true;
	}
	return false;
}

static void find_facts(struct oom *oom, struct spool_model *recording)
{
	const struct spool_oom *row = &oom->row;
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
	spool_model_line(recording, row->stack, facts->line, OOM_WORDS);
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

enum oom_reason {
#define REASON(name, condition, text) OOM_##name,
#include "facts/oom/oom_reasons.def"
};

static enum oom_reason find_reason(struct oom *oom)
{
	const struct oom_facts *f = &oom->facts;

#define REASON(name, condition, text)      \
	if (condition) {                   \
		oom->told->reason = #name; \
		oom->why = text;           \
		return OOM_##name;         \
	}
#include "facts/oom/oom_reasons.def"
}

static void advise(struct oom *oom, enum oom_reason r)
{
	const struct oom_facts *f = &oom->facts;
	struct trace_oom *told = oom->told;

#define ADVICE(name, condition, frees, what)                 \
	if (told->advice_n < OOM_ADVICE_MOST && (condition)) \
		told->advice[told->advice_n++] =             \
			(struct trace_oom_advice){ .rule = #name, .bytes = frees, .text = what };
#include "facts/oom/oom_advice.def"
#undef ADVICE
}

struct oom_finder {
	struct oom *ooms;
	struct spool_model *recording;
};

static int at_moment(void *context, const struct census *census, uint64_t seq)
{
	struct oom_finder *finder = context;
	int error = 0;

	for (size_t i = 0; !error && i < finder->recording->trace->ooms_n; i++) {
		struct oom *oom = &finder->ooms[i];

		/* Two failures may share an event number, if a signal handler recorded one. */
		if (oom->row.seq == seq && !oom->known && oom->row.device >= 0)
			error = oom_then(oom, finder->recording, census);
	}
	return error;
}

/* If an allocation of at least the failed size succeeds later, the program survived the failure. */
static void at_event(void *context, const struct event *event)
{
	struct oom_finder *finder = context;

	if (event->op != EVENT_ALLOC)
		return;
	for (size_t i = 0; i < finder->recording->trace->ooms_n; i++) {
		struct oom *oom = &finder->ooms[i];

		if (event->seq > oom->row.seq && event->device == oom->row.device &&
		    event->space == oom->row.space && event->size >= oom->row.size)
			oom->told->survived = true;
	}
}

static void find_after(struct oom *oom, const struct spool_model *recording)
{
	struct trace_oom *told = oom->told;

	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device == oom->row.device &&
		    scope->allocations > oom->row.allocations)
			told->allocations_after = scope->allocations - oom->row.allocations;
	}
	told->survived |=
		told->allocations_after >= OOM_GOES_ON || recording->spool->header->status == 1;
}

static struct oom *list_rows(struct spool_model *recording)
{
	static const struct sort_key by_seq[] = { SORT_UP(struct oom, row.seq), { 0 } };
	uint64_t rows = spool_count(recording->spool, SPOOL_OOM);
	size_t count = rows < SPOOL_OOMS ? (size_t)rows : SPOOL_OOMS;
	struct oom *ooms = spool_model_room(recording, count, sizeof(*ooms));
	struct trace *trace = recording->trace;

	trace->ooms = spool_model_items(recording, count, ROWS_oom);
	if (recording->error || !count)
		return NULL;
	for (size_t i = 0; i < count; i++)
		ooms[i].row = *(const struct spool_oom *)spool_at(recording->spool, SPOOL_OOM, i);
	sort_rows(ooms, count, sizeof(*ooms), by_seq);
	for (size_t i = 0; i < count; i++)
		ooms[i].told = &trace->ooms[trace->ooms_n++];
	return ooms;
}

const char *oom_name(const struct spool_model *recording, uint32_t text)
{
	const char *name = spool_text(recording->spool, text);

	return name && name[0] ? name : NULL;
}

static uint64_t known(uint64_t value, bool is)
{
	return is ? value : TRACE_NONE;
}

static void tell(struct oom *oom, const struct spool_model *recording)
{
	const struct spool_oom *row = &oom->row;
	const struct oom_facts *facts = &oom->facts;
	struct trace_oom *told = oom->told;
	bool card = facts->left || facts->others;

	told->seq = row->seq;
	told->t = row->t;
	told->device = row->device >= 0 ? row->device : -1;
	told->space = space_name(row->space);
	told->pool = oom_name(recording, row->pool);
	told->api = oom_name(recording, row->api);
	told->thread = row->thread;
	told->stack = row->stack < recording->stacks ? row->stack : 0;
	told->size = row->size;
	told->refused_bytes = known(row->refused, row->refused);
	told->free_bytes = known(facts->left, card);
	told->total_bytes = known(facts->total, facts->total);
	told->others_bytes = known(facts->others, card);
	told->allocated = known(row->allocated, row->device >= 0);
	told->reserved = known(row->reserved, row->device >= 0);
	told->cached = known(facts->cached, facts->pooled);
}

static void conclude(struct oom *oom, struct spool_model *recording)
{
	struct oom_facts *facts = &oom->facts;
	enum oom_reason reason;

	facts->beside = facts->reserved > facts->pooled ? facts->reserved - facts->pooled : 0;
	tell(oom, recording);
	find_after(oom, recording);
	reason = find_reason(oom);
	if (reason == OOM_limit) {
		oom->told->limit_min_bytes = facts->limit_min;
		oom->told->limit_max_bytes = facts->limit_max;
	}
	oom->told->advice =
		spool_model_room(recording, OOM_ADVICE_MOST, sizeof(*oom->told->advice));
	if (oom->told->advice)
		advise(oom, reason);
}

struct oom *spool_model_find_ooms(struct spool_model *recording)
{
	struct oom_finder finder = { .ooms = list_rows(recording), .recording = recording };
	const struct live_at_visitor visitor = { &finder, at_moment, at_event };
	size_t count = finder.ooms ? recording->trace->ooms_n : 0;

	for (size_t i = 0; i < count; i++)
		find_facts(&finder.ooms[i], recording);
	if (count && live_at_take(recording->spool, &visitor))
		recording->error = -ENOMEM;
	for (size_t i = 0; i < count; i++)
		conclude(&finder.ooms[i], recording);
	return finder.ooms;
}
