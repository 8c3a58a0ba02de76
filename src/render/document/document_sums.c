/* Fills the trace's summary, its peaks with their stacks, its timeline, and used[]. */
#include <string.h>

#include "ledger/timeline.h"
#include "ledger/totals.h"
#include "render/document/document.h"

static const char *scope_text(const struct spool_model *recording, const struct spool_scope *scope)
{
	const char *name = spool_text(recording->spool, scope->name);

	return name ? name : "";
}

static void fill_sum(struct trace_sum *to, const struct spool_sum *sum)
{
	to->peak_bytes = sum->peak;
	to->peak_t = sum->peak_t;
	to->exit_bytes = sum->now;
}

static void fill_used(const struct spool_model *recording, struct trace_sum *to,
		      const struct spool_scope *device)
{
	const struct spool_sum *sum = &device->sums[METRIC_USED];

	if (!sum->peak)
		return;
	fill_sum(to, sum);
	to->source = spool_text(recording->spool, device->used_source);
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

/* Returns the first scope (a pool ...) of the kind and device from index *at on, and moves *at
 * past it; NULL if there is none. */
static const struct spool_scope *next_scope(const struct spool_model *recording, int device,
					    enum scope_kind kind, uint32_t *at)
{
	while (*at < recording->scopes) {
		const struct spool_scope *scope = totals_scope(recording->spool, (*at)++);

		if (scope->kind == (uint32_t)kind && scope->device == device)
			return scope;
	}
	return NULL;
}

static size_t count_scopes(const struct spool_model *recording, int device, enum scope_kind kind)
{
	size_t count = 0;

	for (uint32_t at = 0; next_scope(recording, device, kind, &at);)
		count++;
	return count;
}

static struct trace_part *fill_parts(struct spool_model *recording, int device,
				     enum scope_kind kind, size_t *count)
{
	size_t most = count_scopes(recording, device, kind);
	struct trace_part *parts = spool_model_items(recording, most, ROWS_part);
	const struct spool_scope *scope;

	for (uint32_t at = 0; parts && (scope = next_scope(recording, device, kind, &at));) {
		struct trace_part *part = &parts[(*count)++];

		part->name = scope_text(recording, scope);
		fill_sum(&part->allocated, &scope->sums[METRIC_ALLOCATED]);
		fill_sum(&part->reserved, &scope->sums[METRIC_RESERVED]);
		part->at_used_peak.allocated_bytes = scope->at_used[METRIC_ALLOCATED];
		part->at_used_peak.reserved_bytes = scope->at_used[METRIC_RESERVED];
		part->allocations = scope->allocations;
		part->frees = scope->frees;
	}
	return parts;
}

static void fill_named(struct spool_model *recording, struct trace_device *device)
{
	const struct spool_scope *scope;

	device->named = spool_model_items(
		recording, count_scopes(recording, device->device, SCOPE_NAMED), ROWS_name);
	for (uint32_t at = 0;
	     device->named && (scope = next_scope(recording, device->device, SCOPE_NAMED, &at));)
		device->named[device->named_n++] = (struct trace_name){
			.name = spool_text(recording->spool, scope->name),
			.kind = spool_text(recording->spool, scope->used_kind),
			.bytes = (int64_t)scope->sums[METRIC_USED].now,
			.at_used_peak_bytes = (int64_t)scope->at_used[METRIC_USED],
			.steps = scope->used_samples,
		};
}

static void fill_device(struct spool_model *recording, const struct spool_scope *scope,
			struct trace_device *device)
{
	const struct trace_card *card = trace_card(recording->trace, scope->device);

	device->device = scope->device;
	if (card) {
		device->name = card->name;
		device->total_bytes = card->total_bytes;
	}
	fill_sum(&device->allocated, &scope->sums[METRIC_ALLOCATED]);
	fill_sum(&device->reserved, &scope->sums[METRIC_RESERVED]);
	fill_used(recording, &device->used, scope);
	device->allocations = scope->allocations;
	device->frees = scope->frees;
	device->ooms = scope->ooms;
	device->retries = scope->retries;
	fill_named(recording, device);
	device->pools = fill_parts(recording, scope->device, SCOPE_POOL, &device->pools_n);
	device->owners = fill_parts(recording, scope->device, SCOPE_OWNER, &device->owners_n);
}

/* Returns the scope of the device with the smallest number above `after`; NULL if there is none. */
static const struct spool_scope *next_device(const struct spool_model *recording, int after)
{
	const struct spool_scope *next = NULL;

	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device > after &&
		    (!next || scope->device < next->device))
			next = scope;
	}
	return next;
}

static void fill_spaces(struct spool_model *recording, struct trace_summary *summary)
{
	summary->spaces = spool_model_items(recording, recording->scopes, ROWS_space);
	for (uint32_t i = 0; summary->spaces && i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);
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

void document_summary(struct spool_model *recording)
{
	struct trace_summary *summary = &recording->trace->summary;
	const struct spool_scope *scope = NULL;

	summary->devices = spool_model_items(recording, recording->scopes, ROWS_device);
	while (summary->devices &&
	       (scope = next_device(recording, scope ? scope->device : NO_DEVICE)))
		fill_device(recording, scope, &summary->devices[summary->devices_n++]);
	fill_spaces(recording, summary);
}

/* --- peaks --- */

/* True for a device or a pool: only these scopes have curves and peaks. */
static bool has_curve(const struct spool_scope *scope)
{
	return scope->device >= 0 && (scope->kind == SCOPE_DEVICE || scope->kind == SCOPE_POOL);
}

static const char *pool_of(const struct spool_model *recording, const struct spool_scope *scope)
{
	return scope->kind == SCOPE_POOL ? spool_text(recording->spool, scope->name) : NULL;
}

/* Fills peaks[] with each sum's peak (a device's or pool's); sets peak_of[sum] to 1 + its index. */
static void list_peaks(struct spool_model *recording, uint32_t *peak_of)
{
	struct trace *trace = recording->trace;

	for (uint32_t sum = 0; sum < recording->scopes * METRICS; sum++) {
		const struct spool_scope *scope = totals_scope(recording->spool, sum / METRICS);
		enum metric metric = sum % METRICS;

		if (metric == METRIC_USED || !has_curve(scope) || !scope->sums[metric].peak)
			continue;
		trace->peaks[trace->peaks_n] = (struct trace_peak){
			.device = scope->device,
			.pool = pool_of(recording, scope),
			.metric = metric == METRIC_RESERVED ? TRACE_RESERVED : TRACE_ALLOCATED,
			.t = scope->sums[metric].peak_t,
			.bytes = scope->sums[metric].peak,
		};
		peak_of[sum] = (uint32_t)++trace->peaks_n;
	}
}

/* Takes a cell: the bytes of a stack in one sum, whose peak is `peak` (NULL: none). The first pass
 * adds them to the stack's totals and counts the peak's stacks; the second fills peak->stacks[]. */
static void see_cell(struct spool_model *recording, uint32_t stack, const struct spool_cell *cell,
		     struct trace_peak *peak, bool first)
{
	const struct spool_scope *scope = totals_scope(recording->spool, cell->sum / METRICS);
	const struct spool_sum *sum = &scope->sums[cell->sum % METRICS];
	struct trace_stack *held = &recording->trace->stacks[stack];
	struct trace_share share = { .stack = stack, .live = cell->live };

	share.bytes = totals_at_peak(sum, cell, &share.count);
	share.estimated_bytes = totals_estimated_at_peak(sum, cell);
	/* Arrays are in the sums of their device and of SPACE_ARRAY, so the latter are skipped. */
	if (first && cell->sum % METRICS == METRIC_ALLOCATED &&
	    (scope->kind == SCOPE_DEVICE ||
	     (scope->kind == SCOPE_SPACE && scope->name != SPACE_ARRAY))) {
		held->live_bytes += cell->live;
		held->live_count += cell->live_count;
		held->peak_bytes += share.bytes;
		held->peak_count += share.count;
		held->estimated_live_bytes += cell->estimated;
		held->estimated_peak_bytes += share.estimated_bytes;
	}
	if (!peak || !share.bytes)
		return;
	if (!recording->spool->header->sample)
		share.estimated_bytes = TRACE_NONE;
	if (first)
		peak->count += share.count;
	else
		peak->stacks[peak->stacks_n] = share;
	peak->stacks_n++;
}

/* Calls see_cell() for each stack's list of cells; cuts off an endless list of a damaged spool. */
static void see_cells(struct spool_model *recording, const uint32_t *peak_of, bool first)
{
	uint64_t cells = spool_count(recording->spool, SPOOL_CELL);
	uint64_t seen = 0;

	for (uint32_t i = 0; i < recording->stacks; i++) {
		uint32_t id = spool_model_stack(recording, i)->cell;

		while (id && id <= cells && seen++ < cells) {
			const struct spool_cell *cell =
				spool_at(recording->spool, SPOOL_CELL, id - 1);
			uint32_t peak =
				cell->sum < recording->scopes * METRICS ? peak_of[cell->sum] : 0;

			if (cell->sum < recording->scopes * METRICS)
				see_cell(recording, i, cell,
					 peak ? &recording->trace->peaks[peak - 1] : NULL, first);
			id = cell->next;
		}
		recording->damaged |= id > cells || seen > cells;
	}
}

void document_peaks(struct spool_model *recording)
{
	size_t sums = (size_t)recording->scopes * METRICS;
	uint32_t *peak_of = spool_model_room(recording, sums, sizeof(*peak_of));
	struct trace *trace = recording->trace;

	trace->peaks = spool_model_room(recording, sums, sizeof(*trace->peaks));
	if (recording->error)
		return;
	list_peaks(recording, peak_of);
	see_cells(recording, peak_of, true);
	for (size_t i = 0; i < trace->peaks_n; i++) {
		struct trace_peak *peak = &trace->peaks[i];

		peak->stacks = spool_model_room(recording, peak->stacks_n, sizeof(*peak->stacks));
		peak->stacks_n = 0;
	}
	if (recording->error)
		return;
	see_cells(recording, peak_of, false);
	for (size_t i = 0; i < trace->peaks_n; i++)
		shares_sort(trace->peaks[i].stacks, trace->peaks[i].stacks_n);
}

/* --- timeline --- */

static void put_moment(struct trace_curve *curve, const uint64_t moment[4])
{
	curve->t[curve->t_n++] = moment[0];
	curve->allocated[curve->allocated_n++] = moment[1];
	curve->reserved[curve->reserved_n++] = moment[2];
	curve->used[curve->used_n++] = moment[3] ? moment[3] : TRACE_NONE;
}

/* Adds a point's moments by time, without repeats: highest allocated, highest reserved, last. */
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

static void fill_curve(struct spool_model *recording, const struct spool_scope *scope)
{
	static const uint64_t zero[4];
	/* The curve may lack the state at the end, which is the current value of the sums. */
	const uint64_t end[4] = { recording->spool->header->t, scope->sums[METRIC_ALLOCATED].now,
				  scope->sums[METRIC_RESERVED].now, scope->sums[METRIC_USED].now };
	struct trace *trace = recording->trace;
	struct trace_curve *curve = &trace->timeline[trace->timeline_n];
	unsigned points = timeline_points(recording->spool, scope);
	size_t most = 3 * (size_t)points + 2;
	uint64_t *columns = spool_model_room(recording, 4 * most, sizeof(*columns));

	if (!columns)
		return;
	*curve = (struct trace_curve){
		.device = scope->device,
		.pool = pool_of(recording, scope),
		.t = columns,
		.allocated = columns + most,
		.reserved = columns + 2 * most,
		.used = columns + 3 * most,
	};
	trace->timeline_n++;
	put_moment(curve, zero);
	for (unsigned k = 0; k < points; k++)
		put_point(curve, timeline_point(recording->spool, scope, k));
	put_moment(curve, end);
}

void document_timeline(struct spool_model *recording)
{
	struct trace *trace = recording->trace;

	trace->timeline = spool_model_room(recording, recording->scopes, sizeof(*trace->timeline));
	for (uint32_t i = 0; trace->timeline && i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);

		if (scope->curve && has_curve(scope))
			fill_curve(recording, scope);
	}
}

/* --- samples of the device's used memory --- */

void document_used(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t count = spool_count(spool, SPOOL_USED);
	struct trace *trace = recording->trace;

	trace->used = spool_model_room(recording, count, sizeof(*trace->used));
	for (uint64_t i = 0; trace->used && i < count; i++) {
		const struct spool_used *row = spool_at(spool, SPOOL_USED, i);

		trace->used[trace->used_n++] = (struct trace_used){
			.t = row->t,
			.device = row->device,
			.bytes = row->bytes,
			.name = spool_text(spool, row->name),
			.kind = spool_text(spool, row->kind),
			.api = spool_text(spool, row->api),
			.stack = row->stack && row->stack < recording->stacks ? row->stack
									      : UINT32_MAX,
			.thread = row->thread,
			.used = row->used,
			.reserved = row->reserved,
			.rounding = row->rounding,
			.named = row->named,
			.residual = row->residual,
		};
	}
}
