/* The phases of a baseline: of each name those that a gate may be about. */
#include <stdlib.h>
#include <string.h>

#include "analyse/error.h"
#include "base/out.h"
#include "render/baseline_parts.h"

/* More names than this are told by what they have in common: "step" for "step 1", "step 2", ... */
enum { PHASE_NAMES = 100 };

/* Of the phases of one name those that a gate may be about. */
struct kept_phase {
	const char *name;
	size_t length;
	const struct trace_phase *highest, *added, *last;
};

static uint64_t added(const struct trace_phase *phase)
{
	return phase->allocated.peak_bytes == TRACE_NONE ||
			       phase->allocated.start_bytes == TRACE_NONE
		       ? 0
		       : phase->allocated.peak_bytes - phase->allocated.start_bytes;
}

static uint64_t at_end(const struct trace_phase *phase)
{
	return phase->allocated.end_bytes == TRACE_NONE ? 0 : phase->allocated.end_bytes;
}

static int by_phase(const void *a, const void *b)
{
	const struct kept_phase *x = a;
	const struct kept_phase *y = b;
	size_t length = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->name, y->name, length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Sorts, and puts the phases of one name together. */
static size_t join_phases(struct kept_phase *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), by_phase);
	for (size_t i = 0; i < count; i++) {
		struct kept_phase *to = kept ? &list[kept - 1] : NULL;

		if (!to || by_phase(to, &list[i])) {
			list[kept++] = list[i];
			continue;
		}
		if (list[i].highest->allocated.peak_bytes > to->highest->allocated.peak_bytes)
			to->highest = list[i].highest;
		if (added(list[i].added) > added(to->added))
			to->added = list[i].added;
		if (at_end(list[i].last) > at_end(to->last))
			to->last = list[i].last;
	}
	return kept;
}

static void phase_sums(struct out *out, const char *key, const struct trace_phase_sums *sums)
{
	baseline_number(out, key, sums->start_bytes);
	baseline_number(out, ",\"end_bytes\":", sums->end_bytes);
	baseline_number(out, ",\"peak_bytes\":", sums->peak_bytes);
	out_char(out, '}');
}

static void phase(struct out *out, const char **comma, const struct kept_phase *kept,
		  const struct trace_phase *of)
{
	out_text(out, *comma);
	out_text(out, "{\"name\":");
	out_json_n(out, kept->name, kept->length);
	out_text(out, ",\"domain\":null,\"thread\":0,\"start\":0,\"end\":0");
	phase_sums(out, ",\"allocated\":{\"start_bytes\":", &of->allocated);
	phase_sums(out, ",\"reserved\":{\"start_bytes\":", &of->reserved);
	out_char(out, '}');
	*comma = ",\n";
}

int baseline_phases(struct out *out, const struct trace *trace)
{
	struct kept_phase *list = calloc(trace->phases_n + 1, sizeof(*list));
	const char *comma = "\n";
	size_t count = 0;

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *of = &trace->phases[i];

		if (of->name)
			list[count++] =
				(struct kept_phase){ of->name, strlen(of->name), of, of, of };
	}
	count = join_phases(list, count);
	if (count > PHASE_NAMES) {
		for (size_t i = 0; i < count; i++)
			list[i].length = run_phase_length(list[i].name);
		count = join_phases(list, count);
	}
	out_text(out, "\"phases\":[");
	for (size_t i = 0; i < count; i++) {
		phase(out, &comma, &list[i], list[i].highest);
		if (list[i].added != list[i].highest)
			phase(out, &comma, &list[i], list[i].added);
		if (list[i].last != list[i].highest && list[i].last != list[i].added)
			phase(out, &comma, &list[i], list[i].last);
	}
	out_text(out, "],\n");
	free(list);
	return 0;
}
