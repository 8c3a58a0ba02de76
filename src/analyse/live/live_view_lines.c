/*
 * Reads the lines of source that hold memory, at each look at a spool.
 *
 * To name native frames, complete symbol tables are read, which is slow. A program may make new
 * frames all the time, so they are named only if NAMING_SHARE times the duration of the last naming
 * has passed since. Until then all stacks without a name share one line.
 */
#include "analyse/live/live_view_lines.h"
#include "base/mem/each.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/guest/clock.h"
#include "codec/event.h"
#include "facts/sites.h"
#include "ledger/totals.h"

enum {
	FIRST_SIZE = 256,
	NAMING_SHARE = 100,
};

static const char unnamed[] = "[new call sites, not named yet]";

/* Names the new stacks, unless it is too early for that (NAMING_SHARE). Returns 0 or -errno. */
static int name_stacks(struct live_view_lines *lines, const struct spool *spool)
{
	struct spool_model *recording = &lines->recording;
	uint64_t stacks = spool_count(spool, SPOOL_STACK);
	uint64_t start = clock_now();
	uint32_t *name_of;
	int error;

	if (stacks <= recording->stacks ||
	    (spool_count(spool, SPOOL_FRAME) > recording->frames &&
	     start - lines->named_at < NAMING_SHARE * lines->naming_cost))
		return 0;
	error = spool_model_extend(recording, spool, SYMBOLS_LOAD);
	if (error)
		return error;
	name_of = realloc(lines->name_of, stacks * sizeof(*name_of));
	if (!name_of)
		return -ENOMEM;
	lines->name_of = name_of;
	for (uint32_t i = lines->name_of_n; i < recording->stacks; i++) {
		char text[SITE_LONGEST];

		spool_model_line(recording, i, text, sizeof(text));
		name_of[i] = texts_enter(&lines->names, &recording->arena, text, strlen(text));
		if (!name_of[i])
			return -ENOMEM;
		lines->name_of_n = i + 1;
	}
	lines->named_at = clock_now();
	lines->naming_cost = lines->named_at - start;
	return 0;
}

static struct live_view_line *new_line(struct live_view_lines *lines, uint32_t name,
				       const struct spool_scope *place)
{
	bool device = place->kind == SCOPE_DEVICE;

	if (!GROW(lines->list, lines->list_n, lines->list_size, FIRST_SIZE))
		return NULL;
	lines->list[lines->list_n] = (struct live_view_line){
		.space = space_name(device ? SPACE_DEVICE : place->name),
		.device = device ? place->device : NO_DEVICE,
		.name = lines->names.list[name - 1],
	};
	return &lines->list[lines->list_n++];
}

/* Finds or adds the line with the name in the scope `place`. NULL if memory is short. */
static struct live_view_line *find_line(struct live_view_lines *lines, uint32_t name,
					uint32_t scope, const struct spool_scope *place)
{
	uint64_t key = (uint64_t)scope << 32 | name;
	uint32_t id = map_get(&lines->places, key);
	struct live_view_line *line;

	if (id)
		return &lines->list[id - 1];
	line = new_line(lines, name, place);
	return line && map_put(&lines->places, key, (uint32_t)lines->list_n) ? line : NULL;
}

/* True for the scopes (struct spool_scope) whose sums together count each byte once. The scope of
 * CUDA arrays is not among them: their bytes are already in their device's sum. */
static bool is_place(const struct spool_scope *scope)
{
	return scope->kind == SCOPE_DEVICE ||
	       (scope->kind == SCOPE_SPACE && scope->name != SPACE_ARRAY &&
		space_name(scope->name));
}

/* Adds a stack's live bytes to one line for each scope in which it has some. The bytes that it
 * ever allocated are known only for all scopes together: the first of these lines gets them all. */
static int line_add_stack(struct live_view_lines *lines, const struct spool *spool,
			  const struct spool_stack *stack, uint32_t name)
{
	bool sampled = spool->header->sample;
	uint64_t cells = spool_count(spool, SPOOL_CELL);
	uint32_t scopes = (uint32_t)spool_count(spool, SPOOL_SCOPE);
	struct live_view_line *owner = NULL;
	uint32_t id = stack->cell;

	for (uint64_t most = (uint64_t)scopes * METRICS; most && id && id <= cells; most--) {
		const struct spool_cell *cell = spool_at(spool, SPOOL_CELL, id - 1);
		uint32_t number = cell->sum / METRICS;
		const struct spool_scope *scope =
			number < scopes ? totals_scope(spool, number) : NULL;
		struct live_view_line *line;

		id = cell->next;
		if (!scope || cell->sum % METRICS != METRIC_ALLOCATED || !is_place(scope))
			continue;
		line = find_line(lines, name, number, scope);
		if (!line)
			return -ENOMEM;
		line->bytes += cell->live;
		line->count += cell->live_count;
		line->holds += sampled ? cell->estimated : cell->live;
		if (!owner)
			line->allocated += sampled ? stack->estimated_bytes : stack->bytes;
		owner = line;
	}
	return 0;
}

static int keep_those_that_count(struct live_view_lines *lines, bool sampled, double seconds)
{
	size_t size = (lines->list_n + 1) * sizeof(*lines->sorted);
	struct live_view_line *sorted = realloc(lines->sorted, size);

	if (!sorted)
		return -ENOMEM;
	lines->sorted = sorted;
	lines->sorted_n = 0;
	foreach (line, lines->list) {
		line->estimated = sampled ? line->holds : TRACE_NONE;
		line->rate = live_view_rate(line->allocated, line->before, seconds);
		if (line->holds || line->rate > 0 || (line->count && !sampled))
			sorted[lines->sorted_n++] = *line;
	}
	return 0;
}

int live_view_lines_read(struct live_view_lines *lines, const struct spool *spool, double seconds)
{
	int error = name_stacks(lines, spool);
	uint32_t nameless = error ? 0
				  : texts_enter(&lines->names, &lines->recording.arena, unnamed,
						strlen(unnamed));

	if (!nameless)
		return -ENOMEM;
	foreach (line, lines->list) {
		line->before = line->allocated;
		line->allocated = line->bytes = line->count = line->holds = 0;
	}
	lines->allocated = 0;
	for (uint64_t i = 0; i < spool_count(spool, SPOOL_STACK) && !error; i++) {
		const struct spool_stack *stack = spool_at(spool, SPOOL_STACK, i);

		lines->allocated += stack->bytes;
		if (stack->cell)
			error = line_add_stack(lines, spool, stack,
					       i < lines->name_of_n ? lines->name_of[i] : nameless);
	}
	return error ? error : keep_those_that_count(lines, spool->header->sample, seconds);
}

void live_view_lines_clear(struct live_view_lines *lines)
{
	spool_model_clear(&lines->recording);
	texts_clear(&lines->names);
	map_clear(&lines->places);
	free(lines->list);
	free(lines->sorted);
	free(lines->name_of);
	memset(lines, 0, sizeof(*lines));
}

static double weight_of(const struct live_view_line *line, enum live_view_order order)
{
	const double weights[] = {
#define ORDER(name, key, by, what) (double)line->by,
#include "analyse/live/live_view_orders.def"
	};

	return weights[order];
}

static int compare_lines(const void *a, const void *b, void *order)
{
	const struct live_view_line *x = a, *y = b;
	double weight = weight_of(x, *(enum live_view_order *)order);
	double other = weight_of(y, *(enum live_view_order *)order);
	int by_name;

	if (islessgreater(weight, other)) /* false if a rate is unknown */
		return weight < other ? 1 : -1;
	if (x->holds != y->holds)
		return x->holds < y->holds ? 1 : -1;
	by_name = strcmp(x->name, y->name);
	return by_name ? by_name : (x->device > y->device) - (x->device < y->device);
}

void live_view_lines_sort(struct live_view_lines *lines, enum live_view_order order)
{
	if (lines->sorted_n)
		qsort_r(lines->sorted, lines->sorted_n, sizeof(*lines->sorted), compare_lines,
			&order);
}
