/*
 * The lines of source that hold memory, look by look.
 *
 * To name native frames, whole symbol tables are read. A program that goes on making new stacks
 * must not have that done at each look: it is put off until it takes less than a hundredth of the
 * time, and what has no name yet is one line.
 */
#include "analyse/live/live_view_lines.h"

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
	NAMING_SHARE = 100, /* naming takes at most one part in so many of the time */
};

static const char unnamed[] = "[new, not named yet]";

/* Its number among names, 0 without memory. */
static uint32_t find_name(struct live_view_lines *lines, const char *text)
{
	return texts_enter(&lines->names, &lines->recording.arena, text, strlen(text));
}

/* Names of the stacks that have come since: now, or later if that takes too long. */
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
		name_of[i] = find_name(lines, text);
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
	size_t size = lines->list_size;
	bool device = place->kind == SCOPE_DEVICE;

	if (!GROW(lines->list, lines->list_n, lines->list_size, FIRST_SIZE))
		return NULL;
	if (size != lines->list_size) {
		free(lines->sorted);
		lines->sorted_n = 0;
		lines->sorted = malloc(lines->list_size * sizeof(struct live_view_line *));
	}
	if (!lines->sorted)
		return NULL;
	lines->list[lines->list_n] = (struct live_view_line){
		.space = space_name(device ? SPACE_DEVICE : place->name),
		.device = device ? place->device : NO_DEVICE,
		.text = name,
	};
	return &lines->list[lines->list_n++];
}

/* The line with the name in the place, a scope by its number; NULL without memory. */
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

/* Each byte once: arrays are in their device's sum already. */
static bool is_place(const struct spool_scope *scope)
{
	return scope->kind == SCOPE_DEVICE ||
	       (scope->kind == SCOPE_SPACE && scope->name != SPACE_ARRAY &&
		space_name(scope->name));
}

/* What a stack holds where. What it allocated goes to the first place that it has a cell for. */
static int line_add_stack(struct live_view_lines *lines, const struct spool *spool,
			  const struct spool_stack *stack, uint32_t name)
{
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
		line->holds += lines->sampled ? cell->estimated : cell->live;
		if (!owner)
			line->allocated += lines->sampled ? stack->estimated_bytes : stack->bytes;
		owner = line;
	}
	return 0;
}

static void keep_those_that_count(struct live_view_lines *lines, double seconds)
{
	lines->sorted_n = 0;
	for (size_t i = 0; i < lines->list_n; i++) {
		struct live_view_line *line = &lines->list[i];

		line->name = lines->names.list[line->text - 1];
		line->rate = seconds > 0 && line->allocated > line->before
				     ? (double)(line->allocated - line->before) / seconds
				     : 0;
		if (line->holds || line->rate > 0 || (line->count && !lines->sampled))
			lines->sorted[lines->sorted_n++] = line;
	}
}

int live_view_lines_read(struct live_view_lines *lines, const struct spool *spool, double seconds)
{
	int error = name_stacks(lines, spool);
	uint32_t nameless = error ? 0 : find_name(lines, unnamed);

	if (!nameless)
		return -ENOMEM;
	for (size_t i = 0; i < lines->list_n; i++) {
		struct live_view_line *line = &lines->list[i];

		line->before = line->allocated;
		line->allocated = line->bytes = line->count = line->holds = 0;
	}
	lines->sampled = spool->header->sample != 0;
	lines->allocated = 0;
	for (uint64_t i = 0; i < spool_count(spool, SPOOL_STACK) && !error; i++) {
		const struct spool_stack *stack = spool_at(spool, SPOOL_STACK, i);

		lines->allocated += stack->bytes;
		if (stack->cell)
			error = line_add_stack(lines, spool, stack,
					       i < lines->name_of_n ? lines->name_of[i] : nameless);
	}
	keep_those_that_count(lines, seconds);
	return error;
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

/* --- order --- */

static int compare_line_names(const struct live_view_line *x, const struct live_view_line *y)
{
	int order = strcmp(x->name, y->name);

	return order ? order : (x->device > y->device) - (x->device < y->device);
}

static int by_bytes(const void *a, const void *b)
{
	const struct live_view_line *x = *(struct live_view_line *const *)a;
	const struct live_view_line *y = *(struct live_view_line *const *)b;

	return x->holds != y->holds ? (x->holds < y->holds ? 1 : -1) : compare_line_names(x, y);
}

static int by_count(const void *a, const void *b)
{
	const struct live_view_line *x = *(struct live_view_line *const *)a;
	const struct live_view_line *y = *(struct live_view_line *const *)b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_bytes(a, b);
}

static int by_rate(const void *a, const void *b)
{
	const struct live_view_line *x = *(struct live_view_line *const *)a;
	const struct live_view_line *y = *(struct live_view_line *const *)b;

	return x->rate > y->rate ? -1 : x->rate < y->rate ? 1 : by_bytes(a, b);
}

void live_view_lines_sort(struct live_view_lines *lines, enum live_view_order order)
{
	static int (*const orders[LOOK_ORDERS])(const void *, const void *) = {
#define ORDER(name, key, what) by_##name,
#include "analyse/live/live_view_orders.def"
#undef ORDER
	};

	if (lines->sorted_n)
		qsort(lines->sorted, lines->sorted_n, sizeof(struct live_view_line *),
		      orders[order]);
}
