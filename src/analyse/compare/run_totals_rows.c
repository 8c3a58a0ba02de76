/* The rows of a run by their names. */
#include "analyse/compare/run_totals.h"

#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"

/* Group and name are numbers of texts. */
static uint64_t run_key(enum dimension dimension, uint32_t group, uint32_t name)
{
	return (uint64_t)dimension << 56 | (uint64_t)group << 32 | name;
}

const struct run_row *run_find(const struct run *run, enum dimension dimension, const char *group,
			       const char *name)
{
	uint32_t group_id = texts_find(&run->texts, group, strlen(group));
	uint32_t name_id = texts_find(&run->texts, name, strlen(name));
	uint32_t id = group_id && name_id
			      ? map_get(&run->row_of, run_key(dimension, group_id, name_id))
			      : 0;

	return id ? &run->rows[id - 1] : NULL;
}

struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name)
{
	uint32_t group_id = texts_enter(&run->texts, &run->arena, group, strlen(group));
	uint32_t name_id = texts_enter(&run->texts, &run->arena, name, strlen(name));
	uint64_t key = run_key(dimension, group_id, name_id);
	uint32_t id = map_get(&run->row_of, key);

	if (id)
		return &run->rows[id - 1];
	if (!group_id || !name_id || !GROW(run->rows, run->rows_n, run->rows_size, 64) ||
	    !map_put(&run->row_of, key, (uint32_t)run->rows_n + 1)) {
		err_no_memory(run->trace.path);
		return NULL;
	}
	run->rows[run->rows_n] = (struct run_row){ .dimension = (uint8_t)dimension,
						   .lifetime = TRACE_NONE,
						   .name = run->texts.list[name_id - 1],
						   .group = run->texts.list[group_id - 1] };
	return &run->rows[run->rows_n++];
}

void run_count(int64_t *sum, int64_t more)
{
	*sum += more;
	if (*sum > RUN_MOST)
		*sum = RUN_MOST;
	if (*sum < -RUN_MOST)
		*sum = -RUN_MOST;
}
