/* Sums, peaks and births of one device while phases begin and end. */
#include "facts/phase_stats.h"

#include <string.h>

#include "base/mem/pages.h"

enum { FIRST_SIZE = 256 };

static void clear_curve(struct track_curve *curve)
{
	pages_free(curve->peaks, curve->size * sizeof(*curve->peaks));
}

void track_clear(struct track *track)
{
	clear_curve(&track->allocated);
	clear_curve(&track->reserved);
	pages_free(track->tree, track->tree_size * sizeof(*track->tree));
	*track = (struct track){ .device = track->device };
}

static bool copy_curve(struct track_curve *to, const struct track_curve *from)
{
	*to = *from;
	to->peaks = NULL;
	if (!from->size)
		return true;
	to->peaks = pages_grow(NULL, 0, from->size * sizeof(*to->peaks));
	if (to->peaks)
		memcpy(to->peaks, from->peaks, from->count * sizeof(*to->peaks));
	else
		to->size = 0;
	return to->peaks != NULL;
}

bool track_copy(struct track *to, const struct track *from)
{
	bool good;

	*to = *from;
	to->tree = NULL;
	to->tree_size = 0;
	good = copy_curve(&to->allocated, &from->allocated);
	good = copy_curve(&to->reserved, &from->reserved) && good;
	if (from->tree_size) {
		to->tree = pages_grow(NULL, 0, from->tree_size * sizeof(*to->tree));
		if (to->tree)
			to->tree_size = from->tree_size;
		if (to->tree)
			memcpy(to->tree, from->tree, (from->tree_n + 1) * sizeof(*to->tree));
	}
	if (good && to->tree_size == from->tree_size)
		return true;
	track_clear(to);
	return false;
}

/* Between two pushes only the highest value can be a phase's peak. */
static bool move(struct track_curve *curve, uint64_t bytes, uint32_t gap)
{
	struct track_peak *top;

	curve->now = bytes;
	while (curve->count && curve->peaks[curve->count - 1].bytes <= bytes)
		curve->count--;
	top = curve->count ? &curve->peaks[curve->count - 1] : NULL;
	if (top && top->gap == gap)
		return true;
	if (curve->count == curve->size) {
		size_t size = curve->size ? curve->size * 2 : FIRST_SIZE;
		struct track_peak *peaks = pages_grow(curve->peaks, curve->size * sizeof(*peaks),
						      size * sizeof(*peaks));

		if (!peaks)
			return false;
		curve->peaks = peaks;
		curve->size = size;
	}
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

static void add(struct track_count *to, const struct track_count *what)
{
	to->bytes += what->bytes;
	to->count += what->count;
}

static struct track_count less(const struct track_count *from, const struct track_count *what)
{
	return (struct track_count){ from->bytes - what->bytes, from->count - what->count };
}

void track_born(struct track *track, uint64_t bytes)
{
	add(&track->born, &(struct track_count){ bytes, 1 });
}

/* Nodes are made when a block of so late a birth first dies; each sums those that it covers. */
static bool extend(struct track *track, size_t gap)
{
	size_t size = track->tree_size ? track->tree_size : FIRST_SIZE;
	struct track_count *tree;

	while (size <= gap)
		size *= 2;
	if (size != track->tree_size) {
		tree = pages_grow(track->tree, track->tree_size * sizeof(*tree),
				  size * sizeof(*tree));
		if (!tree)
			return false;
		track->tree = tree;
		track->tree_size = size;
	}
	while (track->tree_n < gap) {
		size_t at = ++track->tree_n;

		track->tree[at] = (struct track_count){ 0, 0 };
		for (size_t step = 1; !(at & step); step *= 2)
			add(&track->tree[at], &track->tree[at - step]);
	}
	return true;
}

bool track_freed(struct track *track, uint64_t bytes, uint32_t gap)
{
	struct track_count one = { bytes, 1 };

	add(&track->freed, &one);
	if (!gap)
		return true;
	if (gap > track->tree_n && !extend(track, gap))
		return false;
	add(&track->inside, &one);
	for (size_t at = gap; at <= track->tree_n; at += at & (0 - at))
		add(&track->tree[at], &one);
	return true;
}

/* Of what was freed, that which was born in a gap before. */
static struct track_count born_before(const struct track *track, uint32_t gap)
{
	struct track_count sum = { 0, 0 };
	size_t at = gap - 1 < track->tree_n ? gap - 1 : track->tree_n;

	for (; at; at &= at - 1)
		add(&sum, &track->tree[at]);
	return sum;
}

static uint64_t peak_since(const struct track_curve *curve, uint32_t gap, uint64_t start)
{
	size_t low = 0;
	size_t high = curve->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (curve->peaks[middle].gap < gap)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == curve->count || curve->peaks[low].bytes < start)
		return start;
	return curve->peaks[low].bytes;
}

void track_begin(const struct track *track, struct track_part *part)
{
	*part = (struct track_part){
		.allocated.start = track->allocated.now,
		.reserved.start = track->reserved.now,
		.born = track->born,
		.freed = track->freed,
	};
}

static void end_sums(const struct track_curve *curve, uint32_t gap, struct track_sums *sums)
{
	sums->end = curve->now;
	sums->peak = peak_since(curve, gap, sums->start);
}

void track_end(const struct track *track, uint32_t gap, struct track_part *part)
{
	struct track_count before = born_before(track, gap);
	struct track_count inside = less(&track->inside, &before);

	end_sums(&track->allocated, gap, &part->allocated);
	end_sums(&track->reserved, gap, &part->reserved);
	part->born = less(&track->born, &part->born);
	part->freed = less(&track->freed, &part->freed);
	part->outliving = less(&part->born, &inside);
}
