/* Sums by category: from blocks or, where events are missing, from stacks. */
#include <stdlib.h>
#include <string.h>

#include "analyse/categories/categories_parts.h"

enum {
	/* Without events, a stack's blocks count as freed soon if the stack's shortest lifetime is
	 * below 1/20 of the longest lifetime of all stacks inside backward passes. */
	SHORT = 20,

	/* An entry after all categories, for bytes that no stack explains. */
	CATEGORY_UNTOLD = CATEGORIES_MOST,
	SUMS
};

/* --- stacks without events --- */

static uint64_t longest_of_backward(const struct categories *categories)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < categories->stacks_n; i++) {
		const struct trace_stack *stack = &categories->trace->stacks[i];

		if (categories->views.list[i].inside && stack->lifetime_max_ns != TRACE_NONE &&
		    stack->lifetime_max_ns > longest)
			longest = stack->lifetime_max_ns;
	}
	return longest;
}

uint8_t categories_stack_alone(struct categories *categories, size_t number)
{
	bool known = number < categories->stacks_n;
	const struct trace_stack *stack = known ? &categories->trace->stacks[number] : NULL;
	const struct stack_view *view = &categories->views.list[number];
	struct life life = {
		.stack = (uint32_t)number,
		.of = {
			[RULE_STAGE].number = stage_of(view, view->inside),
			[RULE_FREED].number = FREED_NEVER,
			[RULE_LIFETIME].number = UINT64_MAX,
			[RULE_ALLOCATIONS].number = UINT64_MAX,
			[RULE_PASSES].number = 1,
			[RULE_SPACE].text = space_name(0),
		},
	};

	/* If the stack's owner is PyTorch's allocator, its blocks are in the pool "torch". */
	if (known && stack->owner && !strncmp(stack->owner, "libc10", 6))
		life.of[RULE_POOL].text = "torch";
	if (!categories->longest)
		categories->longest = longest_of_backward(categories) + 1;
	if (!known || (!stack->frees && !stack->live_count && !stack->peak_bytes))
		return life_category(categories, &life);
	if (stack->frees && stack->lifetime_min_ns < categories->longest / SHORT) {
		life.of[RULE_FREED].number = FREED_SOON;
		life.of[RULE_ALLOCATIONS].number = life.of[RULE_PASSES].number = 0;
	} else if (stack->frees) {
		life.of[RULE_FREED].number = STAGE_FORWARD;
	}
	if (stack->lifetime_min_ns != TRACE_NONE)
		life.of[RULE_LIFETIME].number = stack->lifetime_min_ns;
	return life_category(categories, &life);
}

void categories_of_shares(const struct categories *categories, const struct trace_share *shares,
			  size_t count, uint64_t bytes, struct category_sum *sums)
{
	uint64_t known = 0;

	memset(sums, 0, CATEGORIES_MOST * sizeof(*sums));
	foreach (share, shares, count) {
		uint8_t category = share->stack < categories->stacks_n
					   ? categories->of_stack[share->stack]
					   : CATEGORY_OTHER;

		category_add(&sums[category], share->bytes, share->count);
		known += share->bytes;
	}
	if (known < bytes)
		sums[CATEGORY_OTHER].bytes += bytes - known;
}

/* --- after the last event --- */

static uint64_t sum_of(const struct category_sum *sums)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < CATEGORIES_MOST; i++)
		sum += sums[i].bytes;
	return sum;
}

/* True if the stack's memory is of the place's memory kind, according to the stack's site. */
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

/* Sums by category the totals of the stacks of the place's memory kind, in total at most `bytes`.
 * Stacks have no totals by pool, so for a pool, all bytes get no category. */
static void take_figures(const struct categories *categories, const struct categories_place *place,
			 bool at_peak, uint64_t bytes, struct category_sum *sums)
{
	const struct trace *trace = categories->trace;
	uint64_t known = 0;

	memset(sums, 0, SUMS * sizeof(*sums));
	for (size_t i = 0; i < categories->stacks_n && !place->pool; i++) {
		const struct trace_stack *stack = &trace->stacks[i];
		uint64_t held = at_peak ? stack->peak_bytes : stack->live_bytes;

		if (!is_of_place(trace, place, i))
			continue;
		held = held <= bytes - known ? held : bytes - known;
		category_add(&sums[categories->of_stack[i]], held,
			     at_peak ? stack->peak_count : stack->live_count);
		known += held;
	}
	sums[CATEGORY_UNTOLD].bytes = bytes - known;
}

/* Sums the stacks that the trace lists for the peak or, without a list, all stacks' peak totals. */
static void stacks_at_peak(const struct categories *categories,
			   const struct categories_place *place, struct category_sum *sums)
{
	const struct trace_peak *peak =
		trace_peak(categories->trace, place->device, place->pool, TRACE_ALLOCATED);
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

/* Raises "other" so that `blocks` sums to `bytes`. If events are missing (not `seen`), or `blocks`
 * sums to over `bytes` or to less than `stacks`, first copies `stacks`; then returns false. */
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

static void settle_peak(const struct categories *categories, struct categories_place *place)
{
	const struct trace_sum *told = place->told;
	struct category_sum stacks[SUMS];
	bool seen = categories->any &&
		    (categories->gap_seq == UINT64_MAX || place->peak_seq < categories->gap_seq);

	if (told->peak_bytes != TRACE_NONE) {
		seen = seen && place->peak_bytes == told->peak_bytes;
		place->peak_bytes = told->peak_bytes;
		place->peak_t = told->peak_t;
	}
	for (size_t k = 0; k < CATEGORIES_MOST; k++)
		place->peak[k] = (struct category_sum){
			place->corpses[k].bytes + place->loose_at[k].bytes,
			place->corpses[k].count + place->loose_at[k].count,
		};
	stacks_at_peak(categories, place, stacks);
	place->peak_exact = settle(place->peak, stacks, place->peak_bytes, seen);
}

static void settle_exit(const struct categories *categories, struct categories_place *place)
{
	const struct trace_sum *told = place->told;
	struct category_sum stacks[SUMS];
	bool seen = categories->any && categories->gap_seq == UINT64_MAX;

	for (size_t k = 0; k < CATEGORIES_MOST; k++)
		category_add(&place->exit[k], place->loose[k].bytes, place->loose[k].count);
	place->exit_bytes = told->exit_bytes != TRACE_NONE ? told->exit_bytes : sum_of(place->exit);
	take_figures(categories, place, false, place->exit_bytes, stacks);
	place->exit_exact = settle(place->exit, stacks, place->exit_bytes, seen);
}

/* Takes a baseline's sums; categories that the rules do not have are added to "other". */
static void take_baseline(const struct categories *categories, struct categories_place *place)
{
	if (!place->baseline_n)
		return;
	memset(place->peak, 0, sizeof(place->peak));
	memset(place->exit, 0, sizeof(place->exit));
	foreach (of, place->baseline) {
		int number = of->category ? rules_category(categories->rules, of->category) : -1;
		size_t category = number < 0 ? CATEGORY_OTHER : (size_t)number;

		place->peak[category].bytes += trace_known(of->peak_bytes);
		place->exit[category].bytes += trace_known(of->exit_bytes);
	}
	place->peak_exact = place->exit_exact = true;
}

/* Raises "other" so that at point i, all categories add up to the curve's allocated bytes. */
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

/* Turns the curve's changes from point to point into live bytes. The point at the peak gets the
 * peak's sums, since the peak may lie between two events at the same time. */
static void settle_curve(const struct categories *categories, struct categories_place *place)
{
	const struct trace_curve *curve = trace_curve(categories->trace, place->device, NULL);

	if (!categories->any || categories->gap_seq != UINT64_MAX)
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
	foreach (place, categories->places) {
		settle_peak(categories, place);
		settle_exit(categories, place);
		take_baseline(categories, place);
		settle_curve(categories, place);
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
