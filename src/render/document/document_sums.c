/* The document's sums: summary, peaks with their composition, timeline. */
#include <stdlib.h>
#include <string.h>

#include "ledger/timeline.h"
#include "ledger/totals.h"
#include "render/document/document_sections.h"

static const struct spool_scope *scope_at(const struct filler *filler, uint64_t i)
{
	return totals_scope(filler->spool, (uint32_t)i);
}

static const char *name_of(const struct filler *filler, const struct spool_scope *scope)
{
	const char *name = spool_text(filler->spool, scope->name);

	return name ? name : "";
}

static void fill_sum(struct trace_sum *to, const struct spool_sum *sum)
{
	to->peak_bytes = sum->peak;
	to->peak_t = sum->peak_t;
	to->exit_bytes = sum->now;
}

/* Of `used`: who was asked, and what it was made of. */
static void fill_used(const struct filler *filler, struct trace_sum *to,
		      const struct spool_scope *device)
{
	const struct spool_sum *sum = &device->sums[METRIC_USED];

	if (!sum->peak)
		return;
	fill_sum(to, sum);
	to->source = filler_name(filler, device->used_source);
	to->samples = device->used_samples;
	to->at_peak = (struct trace_explained){
		device->at_used[METRIC_RESERVED],
		device->rounding_at_used,
		device->named_at_used,
		device->residual_at_used,
	};
	to->at_exit = (struct trace_explained){
		sum->now - (uint64_t)(device->rounding + device->named + device->residual),
		device->rounding,
		device->named,
		device->residual,
	};
	to->residual_min_bytes = device->residual_low;
	to->residual_max_bytes = device->residual_high;
}

static size_t count_scopes(const struct filler *filler, int device, enum scope_kind kind)
{
	size_t count = 0;

	for (uint32_t i = 0; i < filler->recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(filler, i);

		count += scope->kind == (uint32_t)kind && scope->device == device;
	}
	return count;
}

/* Pools or owners of a device, one shape. */
static struct trace_part *fill_parts(struct filler *filler, int device, enum scope_kind kind,
				     size_t *count)
{
	size_t most = count_scopes(filler, device, kind);
	struct trace_part *parts = filler_items(filler, most, ROWS_part);

	for (uint32_t i = 0; parts && i < filler->recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(filler, i);
		struct trace_part *part = &parts[*count];

		if (scope->kind != (uint32_t)kind || scope->device != device)
			continue;
		++*count;
		part->name = name_of(filler, scope);
		fill_sum(&part->allocated, &scope->sums[METRIC_ALLOCATED]);
		fill_sum(&part->reserved, &scope->sums[METRIC_RESERVED]);
		part->at_used_peak.allocated_bytes = scope->at_used[METRIC_ALLOCATED];
		part->at_used_peak.reserved_bytes = scope->at_used[METRIC_RESERVED];
		part->allocations = scope->allocations;
		part->frees = scope->frees;
	}
	return parts;
}

static void fill_named(struct filler *filler, struct trace_device *device)
{
	device->named =
		filler_items(filler, count_scopes(filler, device->device, SCOPE_NAMED), ROWS_name);
	for (uint32_t i = 0; device->named && i < filler->recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(filler, i);

		if (scope->kind != SCOPE_NAMED || scope->device != device->device)
			continue;
		device->named[device->named_n++] = (struct trace_name){
			.name = filler_name(filler, scope->name),
			.kind = filler_name(filler, scope->used_kind),
			.bytes = (int64_t)scope->sums[METRIC_USED].now,
			.at_used_peak_bytes = (int64_t)scope->at_used[METRIC_USED],
			.steps = scope->used_samples,
		};
	}
}

/* Name and size of a device, which the facts tell. */
static void fill_card(const struct filler *filler, struct trace_device *device)
{
	const struct recording *recording = filler->recording;

	for (uint32_t i = 0; (i = recording_fact(recording, "device", i));) {
		const char *ordinal = recording_value(recording, i);
		const char *total =
			recording_value(recording, recording_fact(recording, "total_bytes", i));

		if ((ordinal ? atoi(ordinal) : 0) != device->device)
			continue;
		device->name = recording_value(recording, recording_fact(recording, "name", i));
		if (total && strspn(total, "0123456789") == strlen(total))
			device->total_bytes = strtoull(total, NULL, 10);
		return;
	}
}

static void fill_device(struct filler *filler, const struct spool_scope *scope,
			struct trace_device *device)
{
	device->device = scope->device;
	fill_card(filler, device);
	fill_sum(&device->allocated, &scope->sums[METRIC_ALLOCATED]);
	fill_sum(&device->reserved, &scope->sums[METRIC_RESERVED]);
	fill_used(filler, &device->used, scope);
	device->allocations = scope->allocations;
	device->frees = scope->frees;
	device->ooms = scope->ooms;
	device->retries = scope->retries;
	fill_named(filler, device);
	device->pools = fill_parts(filler, scope->device, SCOPE_POOL, &device->pools_n);
	device->owners = fill_parts(filler, scope->device, SCOPE_OWNER, &device->owners_n);
}

/* The device scope with the smallest ordinal above `after`, NULL for none. */
static const struct spool_scope *next_device(const struct filler *filler, int after)
{
	const struct spool_scope *next = NULL;

	for (uint32_t i = 0; i < filler->recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(filler, i);

		if (scope->kind == SCOPE_DEVICE && scope->device > after &&
		    (!next || scope->device < next->device))
			next = scope;
	}
	return next;
}

static void fill_spaces(struct filler *filler, struct trace_summary *summary)
{
	summary->spaces = filler_items(filler, filler->recording->scopes, ROWS_space);
	for (uint32_t i = 0; summary->spaces && i < filler->recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(filler, i);
		struct trace_space *space = &summary->spaces[summary->spaces_n];

		if (scope->kind != SCOPE_SPACE || !space_name(scope->name))
			continue;
		summary->spaces_n++;
		space->space = space_name(scope->name);
		fill_sum(&space->allocated, &scope->sums[METRIC_ALLOCATED]);
		space->allocations = scope->allocations;
		space->frees = scope->frees;
	}
}

static bool fill_summary(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_scope *scope = NULL;
	struct trace_summary *summary = item;
	size_t most = 0;

	(void)i;
	while ((scope = next_device(filler, scope ? scope->device : NO_DEVICE)))
		most++;
	summary->devices = filler_items(filler, most, ROWS_device);
	while (summary->devices && (scope = next_device(filler, scope ? scope->device : NO_DEVICE)))
		fill_device(filler, scope, &summary->devices[summary->devices_n++]);
	fill_spaces(filler, summary);
	return true;
}

void document_summary(struct filler *filler)
{
	document_member(filler, "summary", fill_summary, NULL);
}

/* --- peaks --- */

static const char *pool_of(const struct filler *filler, const struct spool_scope *scope)
{
	return scope->kind == SCOPE_POOL ? spool_text(filler->spool, scope->name) : NULL;
}

static void fill_shares(struct filler *filler, uint32_t sum, struct trace_peak *peak)
{
	const struct recording *recording = filler->recording;
	uint32_t first = recording->first[sum];
	uint32_t end = first;

	/* Sorted: behind the last one the rest held nothing then. */
	while (end < recording->first[sum + 1] && recording->shares[end].at_peak)
		end++;
	peak->stacks = filler_room(filler, end - first, sizeof(*peak->stacks));
	for (uint32_t i = first; peak->stacks && i < end; i++) {
		const struct recording_share *share = &recording->shares[i];

		peak->stacks[peak->stacks_n++] = (struct trace_share){
			.stack = share->stack,
			.bytes = share->at_peak,
			.count = share->at_peak_count,
			.estimated_bytes = filler->spool->header->sample ? share->estimated_at_peak
									 : TRACE_NONE,
		};
	}
}

/* Two of each scope: allocated, then reserved. */
static bool fill_peak(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_scope *scope = scope_at(filler, i / 2);
	enum metric metric = i % 2 ? METRIC_RESERVED : METRIC_ALLOCATED;
	struct trace_peak *peak = item;

	if (scope->device < 0 || (scope->kind != SCOPE_DEVICE && scope->kind != SCOPE_POOL) ||
	    !scope->sums[metric].peak)
		return false;
	peak->device = scope->device;
	peak->pool = pool_of(filler, scope);
	peak->metric = metric == METRIC_RESERVED ? TRACE_RESERVED : TRACE_ALLOCATED;
	peak->t = scope->sums[metric].peak_t;
	peak->bytes = scope->sums[metric].peak;
	fill_shares(filler, (uint32_t)(i / 2) * METRICS + metric, peak);
	return true;
}

void document_peaks(struct filler *filler)
{
	document_list(filler, "peaks", 2 * (uint64_t)filler->recording->scopes, fill_peak, NULL);
}

/* --- timeline --- */

static void put_moment(struct trace_curve *curve, const uint64_t moment[4])
{
	curve->t[curve->t_n++] = moment[0];
	curve->allocated[curve->allocated_n++] = moment[1];
	curve->reserved[curve->reserved_n++] = moment[2];
	curve->used[curve->used_n++] = moment[3] ? moment[3] : TRACE_NONE;
}

/* The up to three moments of a stretch in order of time, no moment twice. */
static void put_point(struct trace_curve *curve, const struct spool_point *point)
{
	uint64_t three[3][4] = {
		{ point->top.t, point->top.allocated, point->top.reserved, 0 },
		{ point->high.t, point->high.allocated, point->high.reserved, 0 },
		{ point->last.t, point->last.allocated, point->last.reserved, point->used },
	};
	unsigned swap = three[0][0] > three[1][0];
	const uint64_t *order[3] = { three[swap], three[!swap], three[2] };

	for (unsigned i = 0; i < 3; i++) {
		if (i < 2 && !memcmp(order[i], order[i + 1], 3 * sizeof(uint64_t)))
			continue;
		put_moment(curve, order[i]);
	}
}

static bool fill_curve(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_scope *scope = scope_at(filler, i);
	static const uint64_t zero[4];
	/* Curves are drawn one event late: the last state is the sums themselves. */
	const uint64_t end[4] = { filler->spool->header->t, scope->sums[METRIC_ALLOCATED].now,
				  scope->sums[METRIC_RESERVED].now, scope->sums[METRIC_USED].now };
	struct trace_curve *curve = item;
	unsigned points;
	uint64_t *columns;
	size_t most;

	if (scope->device < 0 || !scope->curve ||
	    (scope->kind != SCOPE_DEVICE && scope->kind != SCOPE_POOL))
		return false;
	points = curve_points(filler->spool, scope);
	most = 3 * (size_t)points + 2;
	columns = filler_room(filler, 4 * most, sizeof(*columns));
	if (!columns)
		return false;
	curve->device = scope->device;
	curve->pool = pool_of(filler, scope);
	curve->t = columns;
	curve->allocated = columns + most;
	curve->reserved = columns + 2 * most;
	curve->used = columns + 3 * most;
	put_moment(curve, zero);
	for (unsigned k = 0; k < points; k++)
		put_point(curve, curve_point(filler->spool, scope, k));
	put_moment(curve, end);
	return true;
}

void document_timeline(struct filler *filler)
{
	document_list(filler, "timeline", filler->recording->scopes, fill_curve, NULL);
}
