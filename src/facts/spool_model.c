/*
 * A spool's facts, ready to be printed.
 *
 * One pass over frames, one over cells, one over stacks (recording_sites.c), each filling what the
 * next one needs. Everything read from the spool is checked before it is used as a position: the
 * file may be the torn remains of a process that died, or hostile.
 */
#include "facts/spool_model.h"

#include <errno.h>
#include <string.h>

#include "base/mem/sort.h"
#include "codec/event.h"
#include "facts/sites.h"
#include "facts/symbols.h"
#include "ledger/totals.h"

const struct spool_frame *recording_frame(const struct recording *recording, uint32_t frame)
{
	return frame < recording->frames ? spool_at(recording->spool, SPOOL_FRAME, frame) : NULL;
}

const struct spool_stack *recording_stack(const struct recording *recording, uint32_t stack)
{
	return stack < recording->stacks ? spool_at(recording->spool, SPOOL_STACK, stack) : NULL;
}

const struct spool_module *recording_module(const struct recording *recording, uint32_t module)
{
	if (module >= spool_count(recording->spool, SPOOL_MODULE))
		return NULL;
	return spool_at(recording->spool, SPOOL_MODULE, module);
}

uint32_t recording_depth(const struct recording *recording, const struct spool_stack *stack)
{
	uint64_t steps = spool_count(recording->spool, SPOOL_STEP);
	uint32_t depth = (uint32_t)stack->native + stack->python;

	return (uint64_t)stack->step + depth <= steps ? depth : 0;
}

uint32_t recording_step(const struct recording *recording, const struct spool_stack *stack,
			uint32_t i)
{
	const uint32_t *step = spool_at(recording->spool, SPOOL_STEP, stack->step + i);

	return *step - 1;
}

uint32_t recording_fact(const struct recording *recording, const char *key, uint32_t from)
{
	uint64_t facts = spool_count(recording->spool, SPOOL_FACT);

	for (uint64_t i = from; i < facts; i++) {
		const struct spool_fact *fact = spool_at(recording->spool, SPOOL_FACT, i);
		const char *name = spool_text(recording->spool, fact->key);

		if (name && !strcmp(name, key))
			return (uint32_t)i + 1;
	}
	return 0;
}

const char *recording_value(const struct recording *recording, uint32_t fact)
{
	const struct spool_fact *row;

	if (!fact || fact > spool_count(recording->spool, SPOOL_FACT))
		return NULL;
	row = spool_at(recording->spool, SPOOL_FACT, fact - 1);
	return spool_text(recording->spool, row->value);
}

/* --- names --- */

struct place { /* a native frame to be named */
	uint32_t module, frame;
	uint64_t offset;
};

static int by_module(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void name_module(struct recording *recording, const struct place *places, size_t count,
			struct symbol_query *queries, enum symbols_names names)
{
	const struct spool_module *module = recording_module(recording, places[0].module);
	const char *path = module ? spool_text(recording->spool, module->path) : NULL;

	memset(queries, 0, count * sizeof(*queries));
	/* A return address: the call is the instruction before it. */
	for (size_t i = 0; i < count; i++)
		queries[i].offset = places[i].offset - 1;
	if (!path || symbols_find(path, spool_text(recording->spool, module->build_id), queries,
				  count, &recording->arena))
		return;
	for (size_t i = 0; i < count; i++) {
		struct recording_frame *name = &recording->names[places[i].frame];

		if (!queries[i].symbol)
			continue;
		name->symbol = queries[i].symbol;
		name->function = symbols_demangle(queries[i].symbol, names, &recording->arena);
	}
}

static int name_frames(struct recording *recording, uint32_t first, enum symbols_names names)
{
	uint32_t frames = recording->frames - first;
	struct place *places = arena_alloc(&recording->arena, (frames + 1) * sizeof(*places));
	struct symbol_query *queries =
		arena_alloc(&recording->arena, (frames + 1) * sizeof(*queries));
	size_t count = 0;
	size_t to;

	if (!places || !queries)
		return -ENOMEM;
	for (uint32_t i = first; i < recording->frames; i++) {
		const struct spool_frame *frame = recording_frame(recording, i);

		recording->names[i].function = spool_text(recording->spool, frame->function);
		if (frame->language == FRAME_NATIVE && frame->module)
			places[count++] = (struct place){ frame->module - 1, i, frame->offset };
	}
	sort_rows(places, count, sizeof(*places), by_module);
	for (size_t from = 0; from < count; from = to) {
		for (to = from + 1; to < count && places[to].module == places[from].module; to++)
			;
		name_module(recording, places + from, to - from, queries, names);
	}
	return 0;
}

/* --- shares --- */

static int by_peak(const void *a, const void *b)
{
	const struct recording_share *x = a;
	const struct recording_share *y = b;

	if (x->at_peak != y->at_peak)
		return x->at_peak > y->at_peak ? -1 : 1;
	if (x->live != y->live)
		return x->live > y->live ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

typedef void visit_fn(struct recording *recording, uint32_t stack, const struct spool_cell *cell);

/* Every cell of every stack; a chain that does not end is cut by the number of cells. */
static void each_cell(struct recording *recording, visit_fn *visit)
{
	uint64_t cells = spool_count(recording->spool, SPOOL_CELL);
	uint64_t seen = 0;

	for (uint32_t i = 0; i < recording->stacks; i++) {
		uint32_t id = recording_stack(recording, i)->cell;

		while (id && id <= cells && seen++ < cells) {
			const struct spool_cell *cell =
				spool_at(recording->spool, SPOOL_CELL, id - 1);

			if (cell->sum < recording->scopes * METRICS)
				visit(recording, i, cell);
			id = cell->next;
		}
		recording->damaged |= id > cells || seen > cells;
	}
}

static void count_share(struct recording *recording, uint32_t stack, const struct spool_cell *cell)
{
	(void)stack;
	recording->first[cell->sum + 1]++;
}

static void put_share(struct recording *recording, uint32_t stack, const struct spool_cell *cell)
{
	const struct spool_scope *scope = totals_scope(recording->spool, cell->sum / METRICS);
	struct recording_share *share = &recording->shares[recording->first[cell->sum]++];

	share->stack = stack;
	share->live = cell->live;
	share->live_count = cell->live_count;
	share->at_peak =
		totals_at_peak(&scope->sums[cell->sum % METRICS], cell, &share->at_peak_count);
	share->estimated = cell->estimated;
	share->estimated_at_peak =
		totals_estimated_at_peak(&scope->sums[cell->sum % METRICS], cell);
}

static int find_shares(struct recording *recording)
{
	uint32_t sums = recording->scopes * METRICS;
	uint32_t *first = arena_alloc(&recording->arena, (sums + 2) * sizeof(*first));

	if (!first)
		return -ENOMEM;
	recording->first = first;
	each_cell(recording, count_share);
	for (uint32_t i = 0; i < sums; i++)
		first[i + 1] += first[i];
	recording->shares =
		arena_alloc(&recording->arena, (first[sums] + 1) * sizeof(*recording->shares));
	if (!recording->shares)
		return -ENOMEM;
	each_cell(recording, put_share);
	/* Filling moved each start to its end. */
	memmove(first + 1, first, sums * sizeof(*first));
	first[0] = 0;
	for (uint32_t i = 0; i < sums; i++)
		sort_rows(recording->shares + first[i], first[i + 1] - first[i],
			  sizeof(*recording->shares), by_peak);
	return 0;
}

/* Each byte once: arrays are in their device's sum already. */
static int find_held(struct recording *recording)
{
	recording->held =
		arena_alloc(&recording->arena, (recording->stacks + 1) * sizeof(*recording->held));
	if (!recording->held)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);
		uint32_t sum = i * METRICS + METRIC_ALLOCATED;

		if (scope->kind != SCOPE_DEVICE &&
		    !(scope->kind == SCOPE_SPACE && scope->name != SPACE_ARRAY))
			continue;
		for (uint32_t k = recording->first[sum]; k < recording->first[sum + 1]; k++) {
			const struct recording_share *share = &recording->shares[k];
			struct recording_held *held = &recording->held[share->stack];

			held->live += share->live;
			held->live_count += share->live_count;
			held->peak += share->at_peak;
			held->peak_count += share->at_peak_count;
			held->estimated += share->estimated;
			held->estimated_peak += share->estimated_at_peak;
		}
	}
	return 0;
}

/* --- all together --- */

/* Room for the names of all frames of the spool, doubled where that is not the first time. */
static int make_room(struct recording *recording)
{
	uint32_t frames = (uint32_t)spool_count(recording->spool, SPOOL_FRAME);
	uint32_t room = recording->room ? 2 * recording->room : frames + 1;
	struct recording_frame *names;
	struct site_frame *seen;

	if (frames < recording->room)
		return 0;
	room = room > frames ? room : frames + 1;
	names = arena_alloc(&recording->arena, room * sizeof(*names));
	seen = arena_alloc(&recording->arena, room * sizeof(*seen));
	if (!names || !seen)
		return -ENOMEM;
	if (recording->frames) {
		memcpy(names, recording->names, recording->frames * sizeof(*names));
		memcpy(seen, recording->seen, recording->frames * sizeof(*seen));
	}
	recording->names = names;
	recording->seen = seen;
	recording->room = room;
	return 0;
}

int recording_extend(struct recording *recording, const struct spool *spool,
		     enum symbols_names names)
{
	uint32_t first = recording->frames;
	int error;

	recording->spool = spool;
	error = make_room(recording);
	if (error)
		return error;
	recording->frames = (uint32_t)spool_count(spool, SPOOL_FRAME);
	recording->stacks = (uint32_t)spool_count(spool, SPOOL_STACK);
	recording->scopes = (uint32_t)spool_count(spool, SPOOL_SCOPE);
	error = name_frames(recording, first, names);
	return error ? error : recording_see(recording, first);
}

int recording_read(struct recording *recording, const struct spool *spool, enum symbols_names names)
{
	int error;

	memset(recording, 0, sizeof(*recording));
	error = recording_extend(recording, spool, names);
	if (!error)
		error = find_shares(recording);
	if (!error)
		error = find_held(recording);
	if (!error)
		error = recording_find_sites(recording);
	if (error)
		recording_clear(recording);
	return error;
}

void recording_clear(struct recording *recording)
{
	arena_clear(&recording->arena);
	memset(recording, 0, sizeof(*recording));
}
