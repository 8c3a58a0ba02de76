/* Selects the phases for a page (src/page/view/marks.ts): if there are very many, the longest. */
#include "render/page/page_parts.h"

#include <stdlib.h>

#include "analyse/input/error.h"
#include "render/emit/emit.h"

/* A phase that never ended counts as the longest. */
static uint64_t length_of(const struct trace_phase *phase)
{
	return phase->end == TRACE_NONE ? UINT64_MAX : phase->end - phase->start;
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x = length_of(*(const struct trace_phase *const *)a);
	uint64_t y = length_of(*(const struct trace_phase *const *)b);

	if (x != y)
		return x > y ? -1 : 1;
	return *(const struct trace_phase *const *)a < *(const struct trace_phase *const *)b ? -1
											     : 1;
}

int page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most)
{
	struct trace_phase *list = trace->phases;
	size_t count = trace->phases_n;
	const struct trace_phase **sorted;
	bool *stays;

	*phases = (struct page_phases){ 0, 0 };
	if (!most || count <= most)
		return 0;
	sorted = arena_alloc(&trace->arena, count * sizeof(struct trace_phase *));
	stays = arena_alloc(&trace->arena, count * sizeof(*stays));
	if (!sorted || !stays)
		return err_no_memory(trace->path);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &list[i];
	qsort(sorted, count, sizeof(struct trace_phase *), longest_first);
	*phases = (struct page_phases){ count - most, length_of(sorted[most]) };
	for (size_t i = 0; i < most; i++)
		stays[sorted[i] - list] = true;
	trace->phases_n = 0;
	for (size_t i = 0; i < count; i++) {
		if (stays[i])
			list[trace->phases_n++] = list[i];
	}
	return 0;
}

void page_phases_facts(const struct page_phases *phases, struct out *out)
{
	static const struct emit_column columns[] = {
		{ .key = "\nphases_left_out",
		  .kind = EMIT_ROWS,
		  .of = emit_numbers,
		  .between = "" },
		EMIT_END,
	};

	if (phases->left_out)
		emit_members(out, columns, &EMIT_ROWS_OF(&phases->left_out, 2));
}
