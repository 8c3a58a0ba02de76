/* The sites of a recording: its stacks by the line that a user knows, and what they hold together.
 */
#include "facts/spool_model.h"

#include <string.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "base/settings/sample.h"
#include "codec/event.h"
#include "facts/sites.h"
#include "ledger/totals.h"

/* A site's space is that of its stacks: the sum that they have a share in. */
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

static bool is_site(const struct trace_site *site, const char *name, const char *space)
{
	return !strcmp(site->site, name) && !strcmp(site->space, space);
}

/* The site of the name, made if it is new: its position. */
static uint32_t find_site(struct spool_model *recording, struct map *known, const char *name,
			  const char *space)
{
	struct trace *trace = recording->trace;
	uint64_t key = hash_mix(hash_bytes(name, strlen(name)), hash_bytes(space, strlen(space)));
	uint32_t id;

	while ((id = map_get(known, key)) && !is_site(&trace->sites[id - 1], name, space))
		key++; /* two sites of one hash */
	if (id)
		return id - 1;
	trace->sites[trace->sites_n] = (struct trace_site){
		.site = spool_model_text(recording, name),
		.space = space,
	};
	map_put(known, key, (uint32_t)trace->sites_n + 1);
	return (uint32_t)trace->sites_n++;
}

/* Until finish_site() allocations are estimated in parts, and a lifetime of 0 is none. */
static void site_add_stack(struct trace_site *site, const struct spool_stack *row,
			   const struct trace_stack *stack)
{
	site->stacks_n++;
	site->allocations += stack->allocations;
	site->bytes += stack->bytes;
	site->estimated_allocations += row->estimated_parts;
	site->estimated_bytes += row->estimated_bytes;
	if (row->lifetime_max) {
		if (!site->lifetime_max_ns || row->lifetime_min < site->lifetime_min_ns)
			site->lifetime_min_ns = row->lifetime_min;
		if (row->lifetime_max > site->lifetime_max_ns)
			site->lifetime_max_ns = row->lifetime_max;
	}
	site->frees += stack->frees;
	site->live_bytes += stack->live_bytes;
	site->peak_bytes += stack->peak_bytes;
	site->estimated_live_bytes += stack->estimated_live_bytes;
	site->estimated_peak_bytes += stack->estimated_peak_bytes;
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

/* The stacks of each site side by side in `stacks`, as they come. */
static void list_stacks(struct spool_model *recording, uint32_t *stacks, const uint32_t *site_of)
{
	struct trace *trace = recording->trace;

	for (size_t i = 0; i < trace->sites_n; i++) {
		struct trace_site *site = &trace->sites[i];

		site->stacks = stacks;
		stacks += site->stacks_n;
		site->stacks_n = 0;
		finish_site(site, recording->spool->header->sample);
	}
	for (uint32_t i = 0; i < recording->stacks; i++) {
		struct trace_site *site;

		if (site_of[i] == UINT32_MAX)
			continue;
		site = &trace->sites[site_of[i]];
		site->stacks[site->stacks_n++] = i;
	}
}

void spool_model_find_sites(struct spool_model *recording)
{
	static const struct sort_key by_weight[] = {
		SORT_DOWN(struct trace_site, peak_bytes),
		SORT_DOWN(struct trace_site, live_bytes),
		SORT_DOWN(struct trace_site, bytes),
		SORT_TEXT(struct trace_site, site),
		{ 0 },
	};
	uint32_t *site_of = spool_model_room(recording, recording->stacks, sizeof(*site_of));
	uint32_t *stacks = spool_model_room(recording, recording->stacks, sizeof(*stacks));
	struct trace *trace = recording->trace;
	struct map known = { NULL, 0 };

	trace->sites = spool_model_room(recording, recording->stacks, sizeof(*trace->sites));
	for (uint32_t i = 0; !recording->error && i < recording->stacks; i++) {
		const struct spool_stack *row = spool_model_stack(recording, i);
		char name[SITE_LONGEST];

		/* Stacks that only freed, reserved or failed are no sites. */
		site_of[i] = UINT32_MAX;
		if (!row->allocations)
			continue;
		spool_model_site(recording, row, name);
		site_of[i] = find_site(recording, &known, name, space_of(recording, row));
		site_add_stack(&trace->sites[site_of[i]], row, &trace->stacks[i]);
	}
	map_clear(&known);
	if (recording->error)
		return;
	list_stacks(recording, stacks, site_of);
	sort_rows(trace->sites, trace->sites_n, sizeof(*trace->sites), by_weight);
}
