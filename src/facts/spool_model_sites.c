/* Makes a recording's call sites. A site has all stacks with its name and its memory space. */
#include "facts/spool_model.h"

#include <errno.h>
#include <string.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "base/settings/sample.h"
#include "codec/event.h"
#include "facts/sites.h"
#include "ledger/totals.h"

/* Returns the memory space in which a stack allocated, found in the sums that include its bytes. */
static const char *space_of(const struct spool_model *recording, const struct spool_stack *stack)
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

/* Returns the position of the site that `place` describes; adds the site if it is new.
 * UINT32_MAX if memory is short. */
static uint32_t find_site(struct trace *trace, struct map *known, const struct trace_place *place)
{
	uint64_t key = hash_mix(place->key, hash_bytes(place->space, strlen(place->space)));
	uint32_t id;

	while ((id = map_get(known, key)) &&
	       (strcmp(trace->sites[id - 1].site, place->name) != 0 ||
		strcmp(trace->sites[id - 1].space, place->space) != 0))
		key++; /* another site has the same hash */
	if (id)
		return id - 1;
	trace->sites[trace->sites_n] = (struct trace_site){
		.site = place->name,
		.space = place->space,
		.lifetime_min_ns = TRACE_NONE,
		.lifetime_max_ns = TRACE_NONE,
	};
	return map_put(known, key, (uint32_t)trace->sites_n + 1) ? (uint32_t)trace->sites_n++
								 : UINT32_MAX;
}

static void site_add_stack(struct trace_site *site, const struct trace_stack *stack)
{
	site->stacks_n++;
	site->allocations += stack->allocations;
	site->bytes += stack->bytes;
	site->frees += stack->frees;
	site->live_bytes += stack->live_bytes;
	site->peak_bytes += stack->peak_bytes;
	if (stack->lifetime_min_ns == TRACE_NONE)
		return;
	if (stack->lifetime_min_ns < site->lifetime_min_ns)
		site->lifetime_min_ns = stack->lifetime_min_ns;
	if (site->lifetime_max_ns == TRACE_NONE || stack->lifetime_max_ns > site->lifetime_max_ns)
		site->lifetime_max_ns = stack->lifetime_max_ns;
}

/* Sorts the sites and writes the stacks of each to `list`. Each stacks_n must be set before. */
static void list_stacks(struct trace *trace, uint32_t *list)
{
	static const struct sort_key by_weight[] = {
		SORT_DOWN(struct trace_site, peak_bytes),
		SORT_DOWN(struct trace_site, live_bytes),
		SORT_DOWN(struct trace_site, bytes),
		SORT_TEXT(struct trace_site, site),
		{ 0 },
	};

	for (size_t i = 0; i < trace->sites_n; i++) {
		trace->sites[i].stacks = list;
		list += trace->sites[i].stacks_n;
		trace->sites[i].stacks_n = 0;
	}
	for (uint32_t i = 0; i < trace->stacks_n; i++) {
		if (trace->site_of[i] != UINT32_MAX) {
			struct trace_site *site = &trace->sites[trace->site_of[i]];

			site->stacks[site->stacks_n++] = i;
		}
	}
	sort_rows(trace->sites, trace->sites_n, sizeof(*trace->sites), by_weight);
	for (uint32_t i = 0; i < trace->sites_n; i++) {
		for (size_t k = 0; k < trace->sites[i].stacks_n; k++)
			trace->site_of[trace->sites[i].stacks[k]] = i;
	}
}

int trace_gather_sites(struct trace *trace, struct arena *arena, const struct trace_place *places)
{
	size_t room = trace->stacks_n + 1;
	uint32_t *list = arena_alloc(arena, room * sizeof(*list));
	struct map known = { NULL, 0 };
	bool good;

	trace->sites = arena_alloc(arena, room * sizeof(*trace->sites));
	trace->site_of = arena_alloc(arena, room * sizeof(*trace->site_of));
	trace->sites_n = 0;
	good = list && trace->sites && trace->site_of;
	for (size_t i = 0; good && i < trace->stacks_n; i++) {
		uint32_t site = places[i].name ? find_site(trace, &known, &places[i]) : UINT32_MAX;

		good = site != UINT32_MAX || !places[i].name;
		trace->site_of[i] = site;
		if (site != UINT32_MAX)
			site_add_stack(&trace->sites[site], &trace->stacks[i]);
	}
	map_clear(&known);
	if (good)
		list_stacks(trace, list);
	return good ? 0 : -ENOMEM;
}

/* Adds up the estimates of a site's stacks, if the recording was sampled; rounds only their sum. */
static void estimate_site(const struct spool_model *recording, struct trace_site *site)
{
	if (!recording->spool->header->sample) {
		site->estimated_allocations = site->estimated_bytes = site->estimated_live_bytes =
			site->estimated_peak_bytes = TRACE_NONE;
		return;
	}
	for (size_t i = 0; i < site->stacks_n; i++) {
		const struct trace_stack *stack = &recording->trace->stacks[site->stacks[i]];

		site->estimated_allocations +=
			spool_model_stack(recording, site->stacks[i])->estimated_parts;
		site->estimated_bytes += stack->estimated_bytes;
		site->estimated_live_bytes += stack->estimated_live_bytes;
		site->estimated_peak_bytes += stack->estimated_peak_bytes;
	}
	site->estimated_allocations = sample_allocations(site->estimated_allocations);
}

void spool_model_find_sites(struct spool_model *recording)
{
	struct trace *trace = recording->trace;
	struct trace_place *places =
		spool_model_room(recording, recording->stacks, sizeof(*places));

	for (uint32_t i = 0; !recording->error && i < recording->stacks; i++) {
		const struct spool_stack *row = spool_model_stack(recording, i);
		char name[SITE_LONGEST];

		/* A stack has no site if it only freed, reserved or failed to allocate memory. */
		if (!row->allocations)
			continue;
		spool_model_site(recording, row, name);
		places[i] = (struct trace_place){ spool_model_text(recording, name),
						  space_of(recording, row),
						  hash_bytes(name, strlen(name)) };
	}
	if (!recording->error)
		recording->error = trace_gather_sites(trace, &recording->arena, places);
	for (size_t i = 0; !recording->error && i < trace->sites_n; i++)
		estimate_site(recording, &trace->sites[i]);
}
