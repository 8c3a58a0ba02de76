/* Selects the spans of CUPTI that a page shows, and finds their tracks (src/page/view/spans.ts). */
#include "render/page/page_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/text/out.h"
#include "render/emit/emit.h"

static int longest_first(const void *a, const void *b)
{
	const struct trace_span *x = *(const struct trace_span *const *)a;
	const struct trace_span *y = *(const struct trace_span *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

/* Orders spans by time; if they begin together, the longest is first, as it encloses the others. */
static int compare_spans(const void *a, const void *b)
{
	const struct trace_span *x = *(const struct trace_span *const *)a;
	const struct trace_span *y = *(const struct trace_span *const *)b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/* Returns a key for a stream of a device, or for a thread if the span has no device. */
static uint64_t track_key(const struct trace_span *span)
{
	return (uint64_t)(uint16_t)(span->device + 1) << 32 |
	       (span->device < 0 ? span->thread : span->stream);
}

static uint64_t track_hash(const struct trace_span *span)
{
	uint64_t key = track_key(span);

	return hash_mix(key >> 32, key & UINT32_MAX);
}

static int by_track(const void *a, const void *b)
{
	uint64_t x = track_key(*(const struct trace_span *const *)a);
	uint64_t y = track_key(*(const struct trace_span *const *)b);

	return x < y ? -1 : x > y;
}

static int name_tracks(struct page_spans *spans)
{
	struct map known = { NULL, 0 };
	bool ok = true;

	for (size_t i = 0; i < spans->count; i++) {
		uint64_t key = track_hash(spans->list[i]);

		if (ok && !map_get(&known, key)) {
			spans->track[spans->track_n++] = spans->list[i];
			ok = map_put(&known, key, (uint32_t)spans->track_n);
		}
	}
	qsort(spans->track, spans->track_n, sizeof(const struct trace_span *), by_track);
	for (size_t i = 0; ok && i < spans->track_n; i++)
		ok = map_put(&known, track_hash(spans->track[i]), (uint32_t)i + 1);
	for (size_t i = 0; ok && i < spans->count; i++)
		spans->tracks[i] = map_get(&known, track_hash(spans->list[i])) - 1;
	map_clear(&known);
	return ok ? 0 : -1;
}

static void leave_out(struct page_spans *spans, uint64_t most)
{
	if (!most || spans->count <= most)
		return;
	qsort(spans->list, spans->count, sizeof(const struct trace_span *), longest_first);
	spans->left_out = spans->count - most;
	spans->left_out_ns = spans->list[most]->ns;
	spans->count = most;
}

int page_spans_find(struct page_spans *spans, struct trace *trace, uint64_t most)
{
	size_t count = trace->spans_n + 1;

	*spans = (struct page_spans){
		.list = arena_alloc(&trace->arena, count * sizeof(struct trace_span *)),
		.tracks = arena_alloc(&trace->arena, count * sizeof(*spans->tracks)),
		.track = arena_alloc(&trace->arena, count * sizeof(struct trace_span *)),
		.count = trace->spans_n,
	};
	if (!spans->list || !spans->tracks || !spans->track)
		return err_no_memory(trace->path);
	for (size_t i = 0; i < trace->spans_n; i++)
		spans->list[i] = &trace->spans[i];
	leave_out(spans, most);
	qsort(spans->list, spans->count, sizeof(const struct trace_span *), compare_spans);
	return name_tracks(spans) ? err_no_memory(trace->path) : 0;
}

struct page_track {
	int device;
	uint64_t stream, thread;
};

static const struct emit_column track_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct page_track, device),
	EMIT_MEMBER("stream", NUMBER, struct page_track, stream),
	EMIT_MEMBER("thread", NUMBER, struct page_track, thread),
	EMIT_END,
};

struct page_span_facts {
	uint64_t count, dropped, left_out, left_out_ns;
	struct emit_rows tracks;
};

static const struct emit_column fact_columns[] = {
	EMIT_MEMBER("count", NUMBER, struct page_span_facts, count),
	EMIT_MEMBER("dropped", NUMBER, struct page_span_facts, dropped),
	EMIT_MEMBER("left_out", NUMBER, struct page_span_facts, left_out),
	EMIT_MEMBER("left_out_ns", NUMBER, struct page_span_facts, left_out_ns),
	EMIT_LIST("\ntracks", "", struct page_span_facts, tracks, track_columns),
	EMIT_END,
};
static const struct emit_column span_columns[] = {
	{ .key = "\nspans", .kind = EMIT_OBJECT, .of = fact_columns },
	EMIT_END,
};

int page_spans_facts(const struct page_spans *spans, struct trace *trace, struct out *out)
{
	struct page_span_facts facts = { spans->count, trace->spans_dropped, spans->left_out,
					 spans->left_out_ns,
					 EMIT_NONE_OF(struct page_track, SIZE_MAX) };

	if (!trace->cupti_check.cupti)
		return 0;
	for (size_t i = 0; i < spans->track_n; i++) {
		const struct trace_span *span = spans->track[i];
		bool call = span->device < 0;
		const struct page_track track = { span->device, call ? TRACE_NONE : span->stream,
						  call ? span->thread : TRACE_NONE };

		emit_add(&trace->arena, &facts.tracks, &track);
	}
	emit_members(out, span_columns, &facts);
	return 0;
}
