/* Sums by category of devices, pools and spaces: from blocks where events tell, else from stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/categories/categories_parts.h"
#include "base/text/text.h"

enum {
	/* A stack's blocks that live so much shorter than the longest of backward are temporaries.
	 */
	SHORT = 20,

	/* Behind the categories: what nothing tells. */
	CATEGORY_UNTOLD = CATEGORIES_MOST,
	SUMS
};

/* --- stacks alone --- */

static uint64_t longest_of_backward(const struct categories *categories)
{
	const struct categories_own *own = categories->own;
	uint64_t longest = 0;

	for (size_t i = 0; i < categories->stacks_n; i++) {
		const struct trace_stack *stack = &own->trace->stacks[i];

		if (own->views.list[i].inside && stack->lifetime_max_ns != TRACE_NONE &&
		    stack->lifetime_max_ns > longest)
			longest = stack->lifetime_max_ns;
	}
	return longest;
}

static enum stage stage_alone(const struct stack_view *view)
{
	if (view->marked == STAGES)
		return view->inside ? STAGE_BACKWARD : STAGE_FORWARD;
	if (view->marked == STAGE_FORWARD && view->inside)
		return STAGE_RECOMPUTE;
	return view->marked;
}

uint8_t categories_stack_alone(const struct categories *categories, size_t number)
{
	struct categories_own *own = categories->own;
	bool known = number < categories->stacks_n;
	const struct trace_stack *stack = known ? &own->trace->stacks[number] : NULL;
	struct life life = {
		.stack = (uint32_t)number,
		.born = (uint8_t)stage_alone(&own->views.list[number]),
		.freed = FREED_NEVER,
		.lifetime = UINT64_MAX,
		.allocations = UINT64_MAX,
		.passes = 1,
	};

	/* What PyTorch's allocator took and hands out is its pool's. */
	if (known && stack->owner && !strncmp(stack->owner, "libc10", 6))
		life.pool = "torch";
	if (!own->longest)
		own->longest = longest_of_backward(categories) + 1;
	if (!known || (!stack->frees && !stack->live_count && !stack->peak_bytes))
		return life_category(categories, &life);
	if (stack->frees && stack->lifetime_min_ns < own->longest / SHORT) {
		life.freed = FREED_SOON;
		life.allocations = life.passes = 0;
	} else if (stack->frees) {
		life.freed = STAGE_FORWARD;
	}
	if (stack->lifetime_min_ns != TRACE_NONE)
		life.lifetime = stack->lifetime_min_ns;
	return life_category(categories, &life);
}

void categories_of_shares(const struct categories *categories, const struct trace_share *shares,
			  size_t count, uint64_t bytes, struct category_sum *sums)
{
	uint64_t known = 0;

	memset(sums, 0, CATEGORIES_MOST * sizeof(*sums));
	for (size_t i = 0; i < count; i++) {
		uint8_t category = shares[i].stack < categories->stacks_n
					   ? categories->of_stack[shares[i].stack]
					   : CATEGORY_OTHER;

		sums[category].bytes += shares[i].bytes;
		sums[category].count += shares[i].count;
		known += shares[i].bytes;
	}
	if (known < bytes)
		sums[CATEGORY_OTHER].bytes += bytes - known;
}

/* --- the end of the pass --- */

static uint64_t sum_of(const struct category_sum *sums)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < CATEGORIES_MOST; i++)
		sum += sums[i].bytes;
	return sum;
}

/* What the summary says of the place. */
static const struct trace_sum *told_of(const struct trace *trace,
				       const struct categories_place *place)
{
	const struct trace_device *device = trace_device(trace, place->device);

	for (size_t i = 0; place->device == NO_DEVICE && i < trace->summary.spaces_n; i++) {
		if (text_same(trace->summary.spaces[i].space, place->space))
			return &trace->summary.spaces[i].allocated;
	}
	if (!device || !place->pool)
		return device ? &device->allocated : NULL;
	for (size_t i = 0; i < device->pools_n; i++) {
		if (text_same(device->pools[i].name, place->pool))
			return &device->pools[i].allocated;
	}
	return NULL;
}

/* Is the stack's memory the place's? A stack has a site in one space. */
static bool is_of_place(const struct trace *trace, const struct categories_place *place,
			size_t stack)
{
	uint32_t site = trace->site_of[stack];
	const char *space = site < trace->sites_n ? trace->sites[site].space : NULL;

	if (!space)
		return false;
	return !strcmp(space, place->space) ||
	       (place->device != NO_DEVICE && !strcmp(space, "array"));
}

/* By the figures of stacks, which know no pools and of several devices only their sum. */
static void take_figures(const struct categories *categories, const struct categories_place *place,
			 bool at_peak, uint64_t bytes, struct category_sum *sums)
{
	const struct trace *trace = categories->own->trace;
	uint64_t known = 0;

	memset(sums, 0, SUMS * sizeof(*sums));
	for (size_t i = 0; i < categories->stacks_n && !place->pool; i++) {
		const struct trace_stack *stack = &trace->stacks[i];
		uint64_t held = at_peak ? stack->peak_bytes : stack->live_bytes;

		if (!is_of_place(trace, place, i))
			continue;
		held = held <= bytes - known ? held : bytes - known;
		sums[categories->of_stack[i]].bytes += held;
		sums[categories->of_stack[i]].count +=
			at_peak ? stack->peak_count : stack->live_count;
		known += held;
	}
	sums[CATEGORY_UNTOLD].bytes = bytes - known;
}

/* By the composition in the document, where it has one. */
static void stacks_at_peak(const struct categories *categories,
			   const struct categories_place *place, struct category_sum *sums)
{
	const struct trace_peak *peak =
		trace_peak(categories->own->trace, place->device, place->pool, TRACE_ALLOCATED);
	uint64_t known = 0;

	if (!peak) {
		take_figures(categories, place, true, place->peak_bytes, sums);
		return;
	}
	categories_of_shares(categories, peak->stacks, peak->stacks_n, 0, sums);
	known = sum_of(sums);
	sums[CATEGORY_UNTOLD] =
		(struct category_sum){ known < place->peak_bytes ? place->peak_bytes - known : 0,
				       0 };
}

/* What of `bytes` no block tells is other; unless stacks tell more. True when blocks it is. */
static bool settle(struct category_sum *blocks, const struct category_sum *stacks, uint64_t bytes,
		   bool seen)
{
	uint64_t known = sum_of(blocks);
	uint64_t told = bytes - stacks[CATEGORY_UNTOLD].bytes;

	if (!seen || known > bytes || known < told) {
		memcpy(blocks, stacks, CATEGORIES_MOST * sizeof(*blocks));
		blocks[CATEGORY_OTHER].bytes += bytes - told;
		return false;
	}
	blocks[CATEGORY_OTHER].bytes += bytes - known;
	return true;
}

static void settle_peak(struct categories *categories, size_t i, const struct trace_sum *told)
{
	const struct categories_own *own = categories->own;
	const struct place_own *mine = &own->places[i];
	struct categories_place *place = &categories->places[i];
	struct category_sum stacks[SUMS];
	bool seen = own->any && (own->gap_seq == UINT64_MAX || mine->peak_seq < own->gap_seq);

	if (told && told->peak_bytes != TRACE_NONE) {
		seen = seen && place->peak_bytes == told->peak_bytes;
		place->peak_bytes = told->peak_bytes;
		place->peak_t = told->peak_t;
	}
	for (size_t k = 0; k < CATEGORIES_MOST; k++)
		place->peak[k] = (struct category_sum){
			mine->corpses[k][0] + mine->loose_at[k].bytes,
			mine->corpses[k][1] + mine->loose_at[k].count,
		};
	stacks_at_peak(categories, place, stacks);
	place->peak_exact = settle(place->peak, stacks, place->peak_bytes, seen);
}

static void settle_exit(struct categories *categories, size_t i, const struct trace_sum *told)
{
	const struct categories_own *own = categories->own;
	const struct place_own *mine = &own->places[i];
	struct categories_place *place = &categories->places[i];
	struct category_sum stacks[SUMS];
	bool seen = own->any && own->gap_seq == UINT64_MAX;

	for (size_t k = 0; k < CATEGORIES_MOST; k++) {
		place->exit[k].bytes += mine->loose[k].bytes;
		place->exit[k].count += mine->loose[k].count;
	}
	place->exit_bytes =
		told && told->exit_bytes != TRACE_NONE ? told->exit_bytes : sum_of(place->exit);
	take_figures(categories, place, false, place->exit_bytes, stacks);
	place->exit_exact = settle(place->exit, stacks, place->exit_bytes, seen);
}

/* As a baseline keeps them; names that the rules do not know are other. */
static void take_baseline(const struct categories *categories, struct categories_place *place)
{
	const struct trace *trace = categories->own->trace;
	const struct trace_device *device = trace_device(trace, place->device);
	const struct trace_category *list = device ? device->categories : NULL;
	size_t count = device ? device->categories_n : 0;

	for (size_t i = 0; place->device == NO_DEVICE && i < trace->summary.spaces_n; i++) {
		if (!text_same(trace->summary.spaces[i].space, place->space))
			continue;
		list = trace->summary.spaces[i].categories;
		count = trace->summary.spaces[i].categories_n;
	}
	if (!count || place->pool)
		return;
	memset(place->peak, 0, sizeof(place->peak));
	memset(place->exit, 0, sizeof(place->exit));
	for (size_t i = 0; i < count; i++) {
		int number =
			list[i].category ? rules_category(categories->rules, list[i].category) : -1;
		size_t category = number < 0 ? CATEGORY_OTHER : (size_t)number;

		place->peak[category].bytes += trace_known(list[i].peak_bytes);
		place->exit[category].bytes += trace_known(list[i].exit_bytes);
	}
	place->peak_exact = place->exit_exact = true;
}

/* What the curve has beyond the blocks that are known is other, as at the peak. */
static void add_unknown(const struct categories *categories, struct categories_place *place,
			const struct trace_curve *curve, size_t i)
{
	uint64_t whole = trace_curve_at(curve, curve->allocated, place->t[i]);
	uint64_t known = 0;

	for (size_t k = 0; k < categories->rules->categories; k++)
		known += place->bytes[k * place->points + i];
	if (whole != TRACE_NONE && whole > known)
		place->bytes[CATEGORY_OTHER * place->points + i] += whole - known;
}

/* Differences become values. The peak may lie between events of one time: it is as it is. */
static void settle_curve(const struct categories *categories, struct categories_place *place)
{
	const struct trace_curve *curve = trace_curve(categories->own->trace, place->device, NULL);

	if (!categories->own->any || categories->own->gap_seq != UINT64_MAX)
		place->points = 0;
	for (size_t k = 0; k < categories->rules->categories && place->points; k++) {
		uint64_t *column = place->bytes + k * place->points;

		for (size_t i = 1; i < place->points; i++)
			column[i] += column[i - 1];
	}
	for (size_t i = 0; i < place->points; i++) {
		bool peak = place->peak_exact && place->t[i] == place->peak_t;

		for (size_t k = 0; peak && k < categories->rules->categories; k++)
			place->bytes[k * place->points + i] = place->peak[k].bytes;
		if (!peak)
			add_unknown(categories, place, curve, i);
	}
}

void categories_settle(struct categories *categories)
{
	for (size_t i = 0; i < categories->places_n; i++) {
		const struct trace_sum *told =
			told_of(categories->own->trace, &categories->places[i]);

		settle_peak(categories, i, told);
		settle_exit(categories, i, told);
		take_baseline(categories, &categories->places[i]);
		settle_curve(categories, &categories->places[i]);
	}
}

size_t categories_order(const struct categories *categories, const struct category_sum *sums,
			uint8_t *order)
{
	size_t count = 0;

	for (size_t i = 0; i < categories->rules->categories; i++) {
		size_t at = count;

		if (!sums[i].bytes && !sums[i].count)
			continue;
		for (; at && sums[order[at - 1]].bytes < sums[i].bytes; at--)
			order[at] = order[at - 1];
		order[at] = (uint8_t)i;
		count++;
	}
	return count;
}
