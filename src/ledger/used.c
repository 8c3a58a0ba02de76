/* What the driver says is occupied, and what explains it. */
#include "ledger/used.h"

#include "ledger/ledger_parts.h"
#include "spool/txn.h"

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

/* What everything on the device is, at a new peak. */
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

static void put_sample(struct spool *spool, struct spool_scope *scope,
		       const struct spool_used *sample, uint32_t source)
{
	struct spool_sum *sum = &scope->sums[METRIC_USED];
	bool first = !scope->used_samples;

	txn_set64(spool, &sum->now, sample->used);
	put_word(spool, &scope->rounding, sample->rounding);
	put_word(spool, &scope->named, sample->named);
	put_word(spool, &scope->residual, sample->residual);
	if (first || sample->residual < scope->residual_low)
		put_word(spool, &scope->residual_low, sample->residual);
	if (first || sample->residual > scope->residual_high)
		put_word(spool, &scope->residual_high, sample->residual);
	txn_add64(spool, &scope->used_samples, 1);
	txn_set32(spool, &scope->used_source, source);
	if (sample->used <= sum->peak)
		return;
	txn_set64(spool, &sum->peak, sample->used);
	txn_set64(spool, &sum->peak_t, sample->t);
	put_word(spool, &scope->rounding_at_used, sample->rounding);
	put_word(spool, &scope->named_at_used, sample->named);
	put_word(spool, &scope->residual_at_used, sample->residual);
	keep_peak(spool, scope);
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
	/* What only moves the residual, others' memory say, leaves room for steps. */
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
