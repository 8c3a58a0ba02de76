/* The sites of a recording: its stacks by the line that a user knows, and what they hold together.
 */
#include "facts/spool_model.h"

#include <errno.h>
#include <string.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "base/settings/sample.h"
#include "codec/event.h"
#include "ledger/totals.h"

/* A site's space is that of its stacks: the sum that they have a share in. */
static const char *space_of(const struct recording *recording, const struct spool_stack *stack)
{
	uint64_t cells = spool_count(recording->spool, SPOOL_CELL);
	uint32_t id = stack->cell;

	for (int most = 64; most && id && id <= cells; most--) {
		const struct spool_cell *cell = spool_at(recording->spool, SPOOL_CELL, id - 1);
		uint32_t scope = cell->sum / METRICS;

		const struct spool_scope *row =
			scope < recording->scopes ? totals_scope(recording->spool, scope) : NULL;

		if (row && row->kind == SCOPE_SPACE && space_name(row->name))
			return space_name(row->name);
		id = cell->next;
	}
	return space_name(SPACE_DEVICE);
}

static bool is_site(const struct trace_site *site, const char *name, const char *space)
{
	return !strcmp(site->site, name) && !strcmp(site->space, space);
}

static uint32_t find_site(struct recording *recording, struct map *known, const char *name,
			  const char *space)
{
	uint64_t key = hash_mix(hash_bytes(name, strlen(name)), hash_bytes(space, strlen(space)));
	uint32_t id;

	while ((id = map_get(known, key)) && !is_site(&recording->sites[id - 1], name, space))
		key++; /* two sites of one hash */
	if (id)
		return id - 1;
	recording->sites[recording->site_count] =
		(struct trace_site){ .site = name, .space = space };
	map_put(known, key, recording->site_count + 1);
	return recording->site_count++;
}

/* Until finish_site() allocations are estimated in parts, and a lifetime of 0 is none. */
static void add_stack(struct trace_site *site, const struct spool_stack *stack,
		      const struct recording_held *held)
{
	site->stacks_n++;
	site->allocations += stack->allocations;
	site->bytes += stack->bytes;
	site->estimated_allocations += stack->estimated_parts;
	site->estimated_bytes += stack->estimated_bytes;
	if (stack->lifetime_max) {
		if (!site->lifetime_max_ns || stack->lifetime_min < site->lifetime_min_ns)
			site->lifetime_min_ns = stack->lifetime_min;
		if (stack->lifetime_max > site->lifetime_max_ns)
			site->lifetime_max_ns = stack->lifetime_max;
	}
	site->frees += stack->frees;
	site->live_bytes += held->live;
	site->peak_bytes += held->peak;
	site->estimated_live_bytes += held->estimated;
	site->estimated_peak_bytes += held->estimated_peak;
}

static int by_weight(const void *a, const void *b)
{
	const struct trace_site *x = a;
	const struct trace_site *y = b;

	if (x->peak_bytes != y->peak_bytes)
		return x->peak_bytes > y->peak_bytes ? -1 : 1;
	if (x->live_bytes != y->live_bytes)
		return x->live_bytes > y->live_bytes ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->site, y->site);
}

static void finish_site(struct trace_site *site, bool sampled)
{
	if (!site->lifetime_max_ns)
		site->lifetime_min_ns = site->lifetime_max_ns = TRACE_NONE;
	site->estimated_allocations = sample_allocations(site->estimated_allocations);
	if (!sampled)
		site->estimated_allocations = site->estimated_bytes = site->estimated_live_bytes =
			site->estimated_peak_bytes = TRACE_NONE;
}

/* The stacks of each site side by side, as they come. */
static void list_stacks(struct recording *recording, const uint32_t *site_of)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < recording->site_count; i++) {
		struct trace_site *site = &recording->sites[i];

		site->stacks = recording->by_site + at;
		at += (uint32_t)site->stacks_n;
		site->stacks_n = 0;
		finish_site(site, recording->spool->header->sample);
	}
	for (uint32_t i = 0; i < recording->stacks; i++) {
		struct trace_site *site;

		if (site_of[i] == UINT32_MAX)
			continue;
		site = &recording->sites[site_of[i]];
		site->stacks[site->stacks_n++] = i;
	}
}

int recording_find_sites(struct recording *recording)
{
	uint32_t *site_of =
		arena_alloc(&recording->arena, (recording->stacks + 1) * sizeof(*site_of));
	struct map known = { NULL, 0 };

	recording->sites =
		arena_alloc(&recording->arena, (recording->stacks + 1) * sizeof(*recording->sites));
	recording->by_site = arena_alloc(&recording->arena,
					 (recording->stacks + 1) * sizeof(*recording->by_site));
	if (!site_of || !recording->sites || !recording->by_site)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->stacks; i++) {
		const struct spool_stack *stack = recording_stack(recording, i);
		const char *name;

		/* Stacks that only freed, reserved or failed are no sites. */
		site_of[i] = UINT32_MAX;
		if (!stack->allocations)
			continue;
		name = recording_site(recording, stack);
		if (!name) {
			map_clear(&known);
			return -ENOMEM;
		}
		site_of[i] = find_site(recording, &known, name, space_of(recording, stack));
		add_stack(&recording->sites[site_of[i]], stack, &recording->held[i]);
	}
	map_clear(&known);
	list_stacks(recording, site_of);
	sort_rows(recording->sites, recording->site_count, sizeof(*recording->sites), by_weight);
	return 0;
}
