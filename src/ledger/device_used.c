#include "ledger/device_used.h"

#include <string.h>
#include <sys/param.h>

#include "base/guest/hot.h"
#include "ledger/ledger_parts.h"
#include "spool/txn.h"

/* --- the driver's rounding of allocations --- */

static const uint64_t SHARED_MOST = 1ull << 20;

/* Adds an allocation to a granule's count, or removes it. True if no other touches the granule. */
static bool share(struct granules *granules, int device, uint64_t number, bool born)
{
	uint64_t key = (uint64_t)device << 48 | number;

	/* The last key is cached, because small allocations use the same few granules. */
	if (!granules->last_one || granules->last != key) {
		if (!map_value(&granules->shared, key) && !map_put(&granules->shared, key, 1))
			return false;
		granules->last = key;
		granules->last_one = map_value(&granules->shared, key);
	}
	if (born)
		return (*granules->last_one)++ == 1;
	return *granules->last_one > 1 && --*granules->last_one == 1;
}

/* Returns the number of granules that only this node uses: those at its ends may be shared. */
static uint64_t own_granules(struct granules *granules, const struct spool_node *node, bool born)
{
	uint64_t first = node->address >> GRANULE_SHIFT;
	uint64_t last = (node->address + (node->size ? node->size - 1 : 0)) >> GRANULE_SHIFT;
	uint64_t count = share(granules, node->device, first, born);

	if (last > first)
		count += last - first - 1 + share(granules, node->device, last, born);
	return count;
}

HOT_CODE void granules_count(struct granules *granules, const struct spool_node *node, bool born)
{
	bool array = node->kind == NODE_ARRAY;
	uint64_t bytes;

	if (!(array || (node->kind == NODE_ADDRESS && node->space == SPACE_DEVICE)) ||
	    node->device < 0 || node->device >= GRANULES_DEVICES || (node->flags & NODE_FOREIGN) ||
	    live_is_ordered(node))
		return;
	/* Not counted: small arrays share granules, but the driver reports no array's address. */
	if (array && node->size <= SHARED_MOST)
		return;
	bytes = array ? (node->size + GRANULE - 1) & ~(GRANULE - 1ull)
		      : own_granules(granules, node, born) * GRANULE;
	bytes -= node->size; /* negative if another node already counts the granule */
	granules->rounding[node->device] += born ? (int64_t)bytes : -(int64_t)bytes;
}

void granules_clear(struct granules *granules)
{
	map_clear(&granules->shared);
	memset(granules, 0, sizeof(*granules));
}

/* --- samples of `used` --- */

uint64_t used_reserved(const struct ledger *ledger, int device)
{
	const struct spool *spool = ledger->spool;
	int64_t scope = spool ? totals_scope_known(spool, SCOPE_DEVICE, device, 0) : -1;

	return scope < 0 ? 0 : totals_scope(spool, (uint32_t)scope)->sums[METRIC_RESERVED].now;
}

int64_t used_unexplained(const struct ledger *ledger, int device, uint64_t used)
{
	return (int64_t)(used - used_reserved(ledger, device)) -
	       (device < GRANULES_DEVICES ? ledger->granules.rounding[device] : 0);
}

/* Stores the current sums of the device, its pools and libraries at a new peak of its `used`. */
static void keep_peak(struct spool *spool, const struct spool_scope *device)
{
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		struct spool_scope *scope = totals_scope(spool, i);

		if (scope->device != device->device)
			continue;
		for (unsigned metric = 0; metric < METRICS; metric++) {
			if (scope->at_used[metric] != scope->sums[metric].now)
				txn_set64(spool, &scope->at_used[metric], scope->sums[metric].now);
		}
	}
}

static void put_word(struct spool *spool, int64_t *word, int64_t value)
{
	if (*word != value)
		txn_set64(spool, (txn_word *)word, (uint64_t)value);
}

static void put_used(struct spool *spool, struct spool_scope *scope,
		     const struct spool_used *sample)
{
	struct spool_sum *sum = &scope->sums[METRIC_USED];

	txn_set64(spool, &sum->now, sample->used);
	put_word(spool, &scope->rounding, sample->rounding);
	put_word(spool, &scope->named, sample->named);
	put_word(spool, &scope->residual, sample->residual);
	if (sample->used <= sum->peak)
		return;
	txn_set64(spool, &sum->peak, sample->used);
	txn_set64(spool, &sum->peak_t, sample->t);
	put_word(spool, &scope->rounding_at_used, sample->rounding);
	put_word(spool, &scope->named_at_used, sample->named);
	put_word(spool, &scope->residual_at_used, sample->residual);
	keep_peak(spool, scope);
}

void used_follow(struct ledger *ledger, struct spool_scope *device, uint64_t t)
{
	struct spool_used now = { .t = t, .named = device->named, .residual = device->residual };
	int64_t explained = (int64_t)device->sums[METRIC_USED].now - now.residual;
	int64_t grown;

	ledger->granules.moved[(unsigned)device->device % GRANULES_DEVICES] = 0;
	if (!device->used_samples)
		return;
	now.rounding = ledger->granules.rounding[device->device];
	now.used = device->sums[METRIC_RESERVED].now + (uint64_t)(now.rounding + now.named);
	grown = (int64_t)now.used - explained;
	/* Growth may fill memory that the residual already counts: first reduces the residual. */
	if (grown > 0)
		now.residual = MAX(now.residual - grown, MIN(now.residual, 0));
	now.used += (uint64_t)now.residual;
	put_used(ledger->spool, device, &now);
}

void used_settle(struct ledger *ledger)
{
	for (uint32_t i = 0; !ledger->error && i < spool_count(ledger->spool, SPOOL_SCOPE); i++) {
		struct spool_scope *scope = totals_scope(ledger->spool, i);

		if (scope->kind != SCOPE_DEVICE)
			continue;
		txn_begin(ledger->spool);
		used_follow(ledger, scope, ledger->spool->header->t);
		txn_commit(ledger->spool);
	}
}

static void put_sample(struct spool *spool, struct spool_scope *scope,
		       const struct spool_used *sample, uint32_t source)
{
	bool first = !scope->used_samples;

	if (first || sample->residual < scope->residual_low)
		put_word(spool, &scope->residual_low, sample->residual);
	if (first || sample->residual > scope->residual_high)
		put_word(spool, &scope->residual_high, sample->residual);
	txn_add64(spool, &scope->used_samples, 1);
	txn_set32(spool, &scope->used_source, source);
	put_used(spool, scope, sample);
}

static void put_name(struct spool *spool, struct spool_scope *scope,
		     const struct spool_used *sample)
{
	struct spool_sum *sum = &scope->sums[METRIC_USED];
	uint64_t now = sum->now + (uint64_t)sample->bytes;

	txn_set32(spool, &scope->used_kind, sample->kind);
	txn_add64(spool, &scope->used_samples, 1);
	txn_set64(spool, &sum->now, now);
	if ((int64_t)now > (int64_t)sum->peak) {
		txn_set64(spool, &sum->peak, now);
		txn_set64(spool, &sum->peak_t, sample->t);
	}
}

void used_enter(struct ledger *ledger, const struct spool_used *sample, uint32_t source, bool step)
{
	struct spool *spool = ledger->spool;
	uint64_t rows = spool_count(spool, SPOOL_USED);
	/* Samples after calls that only changed the residual get at most half of the rows. */
	bool kept = step && rows < (sample->bytes ? USED_ROWS_MOST : USED_ROWS_MOST / 2);
	struct spool_used row = *sample;
	int64_t device;
	int64_t name = -1;

	if (ledger->error || sample->device >= GRANULES_DEVICES)
		return;
	device = ledger_scope(ledger, SCOPE_DEVICE, sample->device, 0);
	if (device >= 0 && step && sample->bytes)
		name = ledger_scope(ledger, SCOPE_NAMED, sample->device, sample->name);
	if (ledger->error || (kept && ledger_fails(ledger, spool_need(spool, SPOOL_USED, rows))))
		return;
	ledger->granules.moved[sample->device] = 0;
	row.reserved = used_reserved(ledger, sample->device);
	row.rounding = ledger->granules.rounding[sample->device];
	row.residual = used_unexplained(ledger, sample->device, sample->used) - sample->named;
	txn_begin(spool);
	if (name >= 0)
		put_name(spool, totals_scope(spool, (uint32_t)name), sample);
	put_sample(spool, totals_scope(spool, (uint32_t)device), &row, source);
	if (kept) {
		*(struct spool_used *)spool_at(spool, SPOOL_USED, rows) = row;
		txn_set64(spool, &spool->header->count[SPOOL_USED], rows + 1);
	} else if (step) {
		txn_add64(spool, &spool->header->used_dropped, 1);
	}
	txn_commit(spool);
}
