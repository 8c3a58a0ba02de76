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

static void put_sample(struct ledger *ledger, struct spool_scope *scope,
		       const struct used_sample *sample, int64_t rounding, int64_t residual)
{
	struct spool *spool = ledger->spool;
	struct spool_sum *sum = &scope->sums[METRIC_USED];
	bool first = !scope->used_samples;

	txn_set64(spool, &sum->now, sample->used);
	put_word(spool, &scope->rounding, rounding);
	put_word(spool, &scope->named, sample->named);
	put_word(spool, &scope->residual, residual);
	if (first || residual < scope->residual_low)
		put_word(spool, &scope->residual_low, residual);
	if (first || residual > scope->residual_high)
		put_word(spool, &scope->residual_high, residual);
	txn_add64(spool, &scope->used_samples, 1);
	txn_set32(spool, &scope->used_source, sample->source);
	if (sample->used <= sum->peak)
		return;
	txn_set64(spool, &sum->peak, sample->used);
	txn_set64(spool, &sum->peak_t, sample->t);
	put_word(spool, &scope->rounding_at_used, rounding);
	put_word(spool, &scope->named_at_used, sample->named);
	put_word(spool, &scope->residual_at_used, residual);
	keep_peak(spool, scope);
}

static void put_name(struct spool *spool, uint32_t index, const struct used_step *step, uint64_t t)
{
	struct spool_scope *scope = totals_scope(spool, index);
	struct spool_sum *sum = &scope->sums[METRIC_USED];
	uint64_t now = sum->now + (uint64_t)step->bytes;

	txn_set32(spool, &scope->used_kind, step->kind);
	txn_add64(spool, &scope->used_samples, 1);
	txn_set64(spool, &sum->now, now);
	if ((int64_t)now > (int64_t)sum->peak) {
		txn_set64(spool, &sum->peak, now);
		txn_set64(spool, &sum->peak_t, t);
	}
}

static void put_row(struct spool *spool, const struct spool_scope *scope,
		    const struct used_sample *sample, const struct used_step *step)
{
	uint64_t index = spool_count(spool, SPOOL_USED);
	struct spool_used *row = spool_at(spool, SPOOL_USED, index);

	*row = (struct spool_used){
		.t = sample->t,
		.used = sample->used,
		.reserved = scope->sums[METRIC_RESERVED].now,
		.rounding = scope->rounding,
		.named = scope->named,
		.residual = scope->residual,
		.bytes = step->bytes,
		.name = step->name,
		.kind = step->kind,
		.api = step->api,
		.stack = step->stack,
		.thread = step->thread,
		.device = sample->device,
	};
	txn_set64(spool, &spool->header->count[SPOOL_USED], index + 1);
}

void used_enter(struct ledger *ledger, const struct used_sample *sample,
		const struct used_step *step)
{
	struct spool *spool = ledger->spool;
	int64_t name = -1;
	int64_t device;
	/* What only moves the residual, others' memory say, leaves room for steps. */
	bool row = step && spool_count(spool, SPOOL_USED) <
				   (step->bytes ? USED_ROWS_MOST : USED_ROWS_MOST / 2);
	int64_t residual;
	int64_t rounding;

	if (ledger->error || sample->device >= GRANULES_DEVICES)
		return;
	device = ledger_scope(ledger, SCOPE_DEVICE, sample->device, 0);
	if (device >= 0 && step && step->bytes)
		name = ledger_scope(ledger, SCOPE_NAMED, sample->device, step->name);
	if (ledger->error ||
	    (row &&
	     ledger_fails(ledger, spool_need(spool, SPOOL_USED, spool_count(spool, SPOOL_USED)))))
		return;
	rounding = ledger->granules.rounding[sample->device];
	residual = used_unexplained(ledger, sample->device, sample->used) - sample->named;
	txn_begin(spool);
	if (name >= 0)
		put_name(spool, (uint32_t)name, step, sample->t);
	put_sample(ledger, totals_scope(spool, (uint32_t)device), sample, rounding, residual);
	if (row)
		put_row(spool, totals_scope(spool, (uint32_t)device), sample, step);
	else if (step)
		txn_add64(spool, &spool->header->used_dropped, 1);
	txn_commit(spool);
}
