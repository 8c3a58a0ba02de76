/* Selects the phases that a page shows (src/page/view/marks.ts): the longest, if there are many. */
#include "render/page/page_parts.h"

#include "analyse/input/grow.h"
#include "base/mem/sort.h"
#include "render/emit/emit.h"

/* A phase that never ended counts as the longest. */
static uint64_t length_of(const struct trace_phase *phase)
{
	return phase->end == TRACE_NONE ? UINT64_MAX : phase->end - phase->start;
}

struct phase_length {
	uint64_t ns, at; /* ns: the phase's duration; at: the phase's index in the trace */
};

void page_phases_find(struct page_phases *phases, struct trace *trace, uint64_t most)
{
	static const struct sort_key longest_first[] = { SORT_DOWN(struct phase_length, ns),
							 { 0 } };
	static const struct sort_key in_order[] = { SORT_UP(struct phase_length, at), { 0 } };
	size_t count = trace->phases_n;
	struct phase_length *lengths;

	*phases = (struct page_phases){ 0, 0 };
	if (!most || count <= most)
		return;
	lengths = need(&trace->arena, count * sizeof(*lengths));
	for (size_t i = 0; i < count; i++)
		lengths[i] = (struct phase_length){ length_of(&trace->phases[i]), i };
	sort_rows(lengths, count, sizeof(*lengths), longest_first);
	*phases = (struct page_phases){ count - most, lengths[most].ns };
	sort_rows(lengths, most, sizeof(*lengths), in_order);
	for (size_t i = 0; i < most; i++)
		trace->phases[i] = trace->phases[lengths[i].at];
	trace->phases_n = most;
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
