/* Selects the spans of CUPTI that a page shows (src/page/view/spans.ts), and finds their tracks. */
#include "render/page/page_parts.h"

#include "analyse/input/grow.h"
#include "base/mem/sort.h"

static void leave_out(struct page_spans *spans, struct trace *trace, uint64_t most)
{
	static const struct sort_key longest_first[] = {
		SORT_DOWN(struct trace_span, ns),
		SORT_UP(struct trace_span, t),
		{ 0 },
	};

	if (!most || trace->spans_n <= most)
		return;
	sort_rows(trace->spans, trace->spans_n, sizeof(*trace->spans), longest_first);
	spans->left_out = trace->spans_n - most;
	spans->left_out_ns = trace->spans[most].ns;
	trace->spans_n = most;
}

struct page_track {
	int device;
	uint64_t stream, thread;
};

/* A span's index in the trace, and a number for its track, which is of a device's stream or, if the
 * span has no device, of a thread. */
struct span_place {
	uint64_t track, span;
};

static void find_tracks(struct page_spans *spans, struct trace *trace, struct span_place *places)
{
	static const struct sort_key by_track[] = { SORT_UP(struct span_place, track), { 0 } };

	for (size_t i = 0; i < trace->spans_n; i++) {
		const struct trace_span *span = &trace->spans[i];
		uint32_t number = span->device < 0 ? span->thread : span->stream;

		places[i].track = (uint64_t)(uint16_t)(span->device + 1) << 32 | number;
		places[i].span = i;
	}
	sort_rows(places, trace->spans_n, sizeof(*places), by_track);
	for (size_t i = 0; i < trace->spans_n; i++) {
		const struct trace_span *span = &trace->spans[places[i].span];
		bool call = span->device < 0;
		const struct page_track track = { span->device, call ? TRACE_NONE : span->stream,
						  call ? span->thread : TRACE_NONE };

		if (!i || places[i].track != places[i - 1].track)
			emit_add(&trace->arena, &spans->track, &track);
		spans->tracks[places[i].span] = (uint32_t)spans->track.count - 1;
	}
}

void page_spans_find(struct page_spans *spans, struct trace *trace, uint64_t most)
{
	/* Of spans that begin at one time, the longest is first, because it encloses the others. */
	static const struct sort_key by_time[] = {
		SORT_UP(struct trace_span, t),
		SORT_DOWN(struct trace_span, ns),
		{ 0 },
	};
	struct span_place *places = NEED_ROOM(&trace->arena, places, trace->spans_n);

	*spans = (struct page_spans){
		.tracks = NEED_ROOM(&trace->arena, spans->tracks, trace->spans_n),
		.track = EMIT_NONE_OF(struct page_track, SIZE_MAX),
		.dropped = trace->spans_dropped,
	};
	leave_out(spans, trace, most);
	spans->count = trace->spans_n;
	sort_rows(trace->spans, trace->spans_n, sizeof(*trace->spans), by_time);
	find_tracks(spans, trace, places);
}

void page_spans_facts(const struct page_spans *spans, const struct trace *trace, struct out *out)
{
	static const struct emit_column track_columns[] = {
		EMIT_FIELD(DEVICE, struct page_track, device),
		EMIT_FIELD(NUMBER, struct page_track, stream),
		EMIT_FIELD(NUMBER, struct page_track, thread),
		EMIT_END,
	};
	static const struct emit_column fact_columns[] = {
		EMIT_FIELD(NUMBER, struct page_spans, count),
		EMIT_FIELD(NUMBER, struct page_spans, dropped),
		EMIT_FIELD(NUMBER, struct page_spans, left_out),
		EMIT_FIELD(NUMBER, struct page_spans, left_out_ns),
		EMIT_LIST("\ntracks", "", struct page_spans, track, track_columns),
		EMIT_END,
	};
	static const struct emit_column columns[] = {
		{ .key = "\nspans", .kind = EMIT_OBJECT, .of = fact_columns },
		EMIT_END,
	};

	if (trace->cupti_check.cupti)
		emit_members(out, columns, spans);
}
