/* The phases of a page, which src/page/view/marks.ts draws: of very many the longest. */
#include "render/page/page_parts.h"

#include <stdlib.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "render/emit/emit.h"

/* One that never ended is longer than any. */
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

/* Of those as short as the shortest that stay, the first ones stay. How many are left. */
static size_t keep_phases(struct trace_phase *list, size_t count, uint64_t shortest,
			  size_t as_short)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t length = length_of(&list[i]);

		if (length < shortest || (length == shortest && !as_short))
			continue;
		as_short -= length == shortest;
		list[kept++] = list[i];
	}
	return kept;
}

int page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most)
{
	size_t count = trace->phases_n;
	const struct trace_phase **sorted;
	uint64_t shortest;
	size_t as_short = 0;

	*phases = (struct page_phases){ 0, 0 };
	if (!most || count <= most)
		return 0;
	sorted = calloc(count, sizeof(struct trace_phase *));
	if (!sorted)
		return err_no_memory(trace->path);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &trace->phases[i];
	qsort(sorted, count, sizeof(struct trace_phase *), longest_first);
	shortest = length_of(sorted[most - 1]);
	while (as_short < most && length_of(sorted[most - 1 - as_short]) == shortest)
		as_short++;
	*phases = (struct page_phases){ count - most, length_of(sorted[most]) };
	free(sorted);
	trace->phases_n = keep_phases(trace->phases, count, shortest, as_short);
	return 0;
}

void page_phases_facts(const struct page_phases *phases, struct out *out)
{
	if (!phases->left_out)
		return;
	member_number(out, ",\n\"phases_left_out\":[", phases->left_out);
	member_number(out, ",", phases->left_out_ns);
	out_char(out, ']');
}
