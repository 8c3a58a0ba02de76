/* Computes sums, peaks, allocations and frees during phases, for one device or for all. */
#include "facts/phases.h"

#include "base/mem/arena.h"
#include "base/mem/sort.h"

void track_clear(struct track *track)
{
	pages_free(track->allocated.peaks, track->allocated.size * sizeof(struct track_peak));
	pages_free(track->reserved.peaks, track->reserved.size * sizeof(struct track_peak));
	pages_free(track->tree, track->tree_size * sizeof(*track->tree));
}

/* Sets the curve's present value, in gap `gap` (phases.h: the time between two pushes). Of the
 * values in a gap only the highest is kept, as only it can be a phase's peak. */
static bool move(struct track_curve *curve, uint64_t bytes, uint32_t gap)
{
	struct track_peak *top;
	struct track_peak *peaks;

	curve->now = bytes;
	while (curve->count && curve->peaks[curve->count - 1].bytes <= bytes)
		curve->count--;
	top = curve->count ? &curve->peaks[curve->count - 1] : NULL;
	if (top && top->gap == gap)
		return true;
	peaks = pages_room(curve->peaks, &curve->size, curve->count + 1, sizeof(*peaks));
	if (!peaks)
		return false;
	curve->peaks = peaks;
	curve->peaks[curve->count++] = (struct track_peak){ bytes, gap };
	return true;
}

bool track_move(struct track *track, uint64_t allocated, uint64_t reserved, uint32_t gap)
{
	bool good = move(&track->allocated, allocated, gap);

	return move(&track->reserved, reserved, gap) && good;
}

void track_forget(struct track *track)
{
	track->allocated.count = track->reserved.count = 0;
}

static void count_block(struct trace_phase_count *to, const struct trace_phase_count *what)
{
	to->bytes += what->bytes;
	to->count += what->count;
}

static struct trace_phase_count less(const struct trace_phase_count *from,
				     const struct trace_phase_count *what)
{
	return (struct trace_phase_count){ from->bytes - what->bytes, from->count - what->count };
}

void track_born(struct track *track, uint64_t bytes)
{
	count_block(&track->allocations, &(struct trace_phase_count){ bytes, 1 });
}

/* Adds nodes to the Fenwick tree up to number `gap`; a new node's value is the sum of its
 * children. */
static bool extend(struct track *track, size_t gap)
{
	struct trace_phase_count *tree =
		pages_room(track->tree, &track->tree_size, gap + 1, sizeof(*tree));

	if (!tree)
		return false;
	track->tree = tree;
	while (track->tree_n < gap) {
		size_t at = ++track->tree_n;

		track->tree[at] = (struct trace_phase_count){ 0, 0 };
		for (size_t step = 1; !(at & step); step *= 2)
			count_block(&track->tree[at], &track->tree[at - step]);
	}
	return true;
}

bool track_freed(struct track *track, uint64_t bytes, uint32_t gap)
{
	struct trace_phase_count one = { bytes, 1 };

	count_block(&track->freed, &one);
	if (!gap)
		return true;
	if (gap > track->tree_n && !extend(track, gap))
		return false;
	count_block(&track->inside, &one);
	for (size_t at = gap; at <= track->tree_n; at += at & (0 - at))
		count_block(&track->tree[at], &one);
	return true;
}

/* Returns the bytes and number of the freed blocks that were allocated before push number `gap`. */
static struct trace_phase_count born_before(const struct track *track, uint32_t gap)
{
	struct trace_phase_count sum = { 0, 0 };
	size_t at = gap - 1 < track->tree_n ? gap - 1 : track->tree_n;

	for (; at; at &= at - 1)
		count_block(&sum, &track->tree[at]);
	return sum;
}

/* Sets the bytes at the phase's end and at its peak: the highest value since its push (number
 * `gap`), the value at the push included. */
static void end_sums(const struct track_curve *curve, uint32_t gap, struct trace_phase_sums *sums)
{
	size_t first = sort_until(curve->peaks, curve->count, sizeof(*curve->peaks),
				  offsetof(struct track_peak, gap), gap - 1);

	sums->end_bytes = curve->now;
	sums->peak_bytes = sums->start_bytes;
	if (first < curve->count && curve->peaks[first].bytes > sums->start_bytes)
		sums->peak_bytes = curve->peaks[first].bytes;
}

void track_begin(const struct track *track, struct trace_phase_device *share)
{
	*share = (struct trace_phase_device){
		.allocated.start_bytes = track->allocated.now,
		.reserved.start_bytes = track->reserved.now,
		.allocations = track->allocations,
		.freed = track->freed,
	};
}

void track_end(const struct track *track, uint32_t gap, struct trace_phase_device *share)
{
	struct trace_phase_count before = born_before(track, gap);
	struct trace_phase_count inside = less(&track->inside, &before);

	share->device = track->device;
	end_sums(&track->allocated, gap, &share->allocated);
	end_sums(&track->reserved, gap, &share->reserved);
	share->allocations = less(&track->allocations, &share->allocations);
	share->freed = less(&track->freed, &share->freed);
	share->kept = less(&share->allocations, &inside);
}
