/* The rows of a run by their names: open addressing, grown before it is half full. */
#include "analyse/compare/run_totals_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/hash.h"

static uint64_t hash_row(enum dimension dimension, const char *group, const char *name)
{
	return hash_mix(hash_mix(hash_bytes(group, strlen(group)), hash_bytes(name, strlen(name))),
			(uint64_t)dimension + 1);
}

/* Where the row is, or where it would go. */
static uint32_t *slot_of(const struct run *run, enum dimension dimension, const char *group,
			 const char *name)
{
	size_t at = hash_row(dimension, group, name) & (run->slots_n - 1);

	for (;; at = (at + 1) & (run->slots_n - 1)) {
		const struct run_row *row;

		if (!run->slots[at])
			return &run->slots[at];
		row = &run->rows[run->slots[at] - 1];
		if (row->dimension == (uint8_t)dimension && !strcmp(row->name, name) &&
		    !strcmp(row->group, group))
			return &run->slots[at];
	}
}

const struct run_row *run_find(const struct run *run, enum dimension dimension, const char *group,
			       const char *name)
{
	uint32_t slot = run->slots_n ? *slot_of(run, dimension, group, name) : 0;

	return slot ? &run->rows[slot - 1] : NULL;
}

static int grow(struct run *run)
{
	size_t size = run->rows_size ? 2 * run->rows_size : 64;
	struct run_row *rows = realloc(run->rows, size * sizeof(*rows));
	uint32_t *slots = calloc(4 * size, sizeof(*slots));

	if (rows)
		run->rows = rows;
	if (!rows || !slots) {
		free(slots);
		return err_no_memory(run->trace.path);
	}
	free(run->slots);
	run->slots = slots;
	run->slots_n = 4 * size;
	run->rows_size = size;
	for (size_t i = 0; i < run->rows_n; i++)
		*slot_of(run, rows[i].dimension, rows[i].group, rows[i].name) = (uint32_t)i + 1;
	return 0;
}

struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name)
{
	uint32_t *slot;
	struct run_row *row;

	if (run->rows_n == run->rows_size && grow(run))
		return NULL;
	slot = slot_of(run, dimension, group, name);
	if (*slot)
		return &run->rows[*slot - 1];
	row = &run->rows[run->rows_n];
	*row = (struct run_row){ .dimension = (uint8_t)dimension, .lifetime = TRACE_NONE };
	row->name = arena_text(&run->arena, name, strlen(name));
	row->group = arena_text(&run->arena, group, strlen(group));
	if (!row->name || !row->group) {
		err_no_memory(run->trace.path);
		return NULL;
	}
	*slot = (uint32_t)++run->rows_n;
	return row;
}

void run_count(int64_t *sum, int64_t more)
{
	*sum += more;
	if (*sum > RUN_MOST)
		*sum = RUN_MOST;
	if (*sum < -RUN_MOST)
		*sum = -RUN_MOST;
}
