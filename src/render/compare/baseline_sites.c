/* Makes a baseline's call sites: stacks cut to a few frames, each site's bytes at the peaks. */
#include <string.h>

#include "analyse/compare/run_totals.h"
#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "render/compare/diff.h"

enum { KEPT_FRAMES = 3 };

/* A site, identified by name and memory kind; the kind is "" if its stacks only reserved memory. */
struct kept_site {
	struct trace_site site; /* sums over all sites of that name and memory kind */
	/* The site's stack, innermost frame first. A native frame's `file` is its library. */
	struct trace_frame frames[KEPT_FRAMES];
	unsigned frames_n;
	uint64_t *shares; /* for each peak, the site's bytes and blocks: 2 * peaks_n numbers */
};

struct kept {
	struct kept_site *sites; /* sorted so that every run has the same order */
	size_t sites_n;
	size_t peaks_n; /* number of peaks of whole devices; peaks of pools are dropped */
	struct run *run;
	struct map known;   /* from a hash of a site's name and memory kind to 1 + its index */
	uint32_t *of_stack; /* for each stack of the trace 1 + the index of its site, or 0 */
};

/* --- frames --- */

static void keep_frame(struct trace_frame *to, const struct run *run, uint32_t number)
{
	const struct trace_frame *frame = &run->trace.frames[number];
	bool python = frame->language == TRACE_PYTHON;
	const char *path = trace_frame_path(&run->trace, frame);

	rows_clear(ROWS_frame, to);
	to->language = frame->language;
	to->function = run->seen[number].function;
	to->file = path ? site_path(python, path, run->trace.process.cwd) : NULL;
	if (python)
		to->line = frame->line;
}

static unsigned pick_frames(const struct run *run, uint32_t stack, struct trace_frame *frames)
{
	const struct trace_stack *all = &run->trace.stacks[stack];
	struct site_pick pick = site_pick(run->seen, all->frames, all->frames_n);
	uint32_t line = site_line(run->seen, all->frames, all->frames_n);
	unsigned count = 0;

	for (uint32_t i = 0; i < all->frames_n && count < KEPT_FRAMES; i++) {
		if (i == pick.inner || i == pick.outer || i == line)
			keep_frame(&frames[count++], run, all->frames[i]);
	}
	return count;
}

/* Of two stacks of a site, true if `a` represents the site and not `b`, because `a` has the smaller
 * line numbers. So every run makes the same choice. */
static bool comes_before(const struct trace_frame *a, const struct trace_frame *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (a[i].line != b[i].line)
			return a[i].line < b[i].line;
	}
	return false;
}

/* --- sites --- */

static struct kept_site *find_site(struct kept *kept, const char *name, const char *space)
{
	uint64_t key = hash_mix(hash_bytes(name, strlen(name)), hash_bytes(space, strlen(space)));
	struct kept_site *site;
	uint32_t id;

	for (; (id = map_get(&kept->known, key)) != 0; key++) {
		site = &kept->sites[id - 1];
		if (text_same(site->site.site, name) && text_same(site->site.space, space))
			return site;
	}
	site = &kept->sites[kept->sites_n];
	site->shares = NEED_ROOM(&kept->run->arena, site->shares, 2 * kept->peaks_n);
	rows_clear(ROWS_site, &site->site);
	site->site.site = need_text(&kept->run->arena, name);
	site->site.space = space;
	NEED(map_put(&kept->known, key, (uint32_t)++kept->sites_n));
	return site;
}

static void enter_kept(struct kept *kept, uint32_t stack, const char *name, const char *space)
{
	struct kept_site *site = find_site(kept, name, space);
	struct trace_frame frames[KEPT_FRAMES] = { 0 };
	unsigned count;

	count = pick_frames(kept->run, stack, frames);
	if (!site->frames_n ||
	    (count == site->frames_n && comes_before(frames, site->frames, count))) {
		memcpy(site->frames, frames, sizeof(frames));
		site->frames_n = count;
	}
	kept->of_stack[stack] = (uint32_t)(site - kept->sites) + 1;
}

static void enter_site(struct kept *kept, const struct trace_site *site)
{
	char name[SITE_LONGEST];
	struct kept_site *to;

	if (!site->stacks_n)
		return;
	run_site_name(kept->run, site->stacks[0], name);
	/* The site has the name of stacks[0]. Only stacks of that name can represent it. */
	foreach (stack, site->stacks) {
		char own[SITE_LONGEST];

		run_site_name(kept->run, *stack, own);
		if (!strcmp(own, name))
			enter_kept(kept, *stack, name, site->space);
	}
	to = &kept->sites[kept->of_stack[site->stacks[0]] - 1];
	for (size_t i = 0; i < site->stacks_n; i++)
		kept->of_stack[site->stacks[i]] = kept->of_stack[site->stacks[0]];
	to->site.allocations += site->allocations;
	to->site.frees += site->frees;
	to->site.bytes += site->bytes;
	to->site.live_bytes += site->live_bytes;
	to->site.peak_bytes += site->peak_bytes;
}

static void enter_shares(struct kept *kept, const struct trace_peak *peak, size_t number)
{
	foreach (share, peak->stacks) {
		char name[SITE_LONGEST];
		uint64_t *shares;

		if (!kept->of_stack[share->stack]) {
			run_site_name(kept->run, share->stack, name);
			enter_kept(kept, share->stack, name, "");
		}
		shares = &kept->sites[kept->of_stack[share->stack] - 1].shares[2 * number];
		shares[0] += share->bytes;
		shares[1] += share->count;
	}
}

static void find_sites(struct kept *kept, struct trace *to)
{
	static const struct sort_key by_weight[] = {
		SORT_DOWN(struct kept_site, site.peak_bytes),
		SORT_TEXT(struct kept_site, site.site),
		SORT_TEXT(struct kept_site, site.space),
		{ 0 },
	};
	const struct trace *trace = &kept->run->trace;
	struct arena *arena = &kept->run->arena;

	kept->sites = NEED_ROOM(arena, kept->sites, trace->stacks_n);
	kept->of_stack = NEED_ROOM(arena, kept->of_stack, trace->stacks_n);
	to->peaks = baseline_room(kept->run, ROWS_peak, trace->peaks_n);
	foreach (peak, trace->peaks) {
		if (!peak->pool)
			to->peaks[kept->peaks_n++] = *peak;
	}
	for (size_t i = 0; i < trace->sites_n; i++)
		enter_site(kept, &trace->sites[i]);
	for (size_t i = 0; i < kept->peaks_n; i++)
		enter_shares(kept, &to->peaks[i], i);
	sort_rows(kept->sites, kept->sites_n, sizeof(*kept->sites), by_weight);
}

/* --- rows --- */

/* Lists the sites that held memory at each peak. Site i of the baseline has stack i. */
static void keep_peaks(const struct kept *kept, struct trace *to)
{
	for (; to->peaks_n < kept->peaks_n; to->peaks_n++) {
		struct trace_peak *peak = &to->peaks[to->peaks_n];

		peak->t = 0;
		peak->stacks = baseline_room(kept->run, ROWS_share, kept->sites_n);
		peak->stacks_n = 0;
		for (uint32_t i = 0; i < kept->sites_n; i++) {
			const uint64_t *share = &kept->sites[i].shares[2 * to->peaks_n];

			if (share[0] || share[1])
				peak->stacks[peak->stacks_n++] =
					(struct trace_share){ i, share[0], share[1], TRACE_NONE,
							      0 };
		}
	}
}

/* Returns the index of the path in to->modules, to which it is added if it is missing. */
static uint32_t module_of(struct trace *to, const char *path)
{
	uint32_t i = 0;

	while (i < to->modules_n && strcmp(to->modules[i].path, path) != 0)
		i++;
	if (i == to->modules_n)
		to->modules[to->modules_n++].path = path;
	return i;
}

static void put_kept_frame(struct trace *to, const struct trace_frame *from)
{
	struct trace_frame *frame = &to->frames[to->frames_n++];

	*frame = *from;
	if (from->language == TRACE_PYTHON)
		return;
	frame->file = NULL;
	if (from->file && from->file[0])
		frame->module = module_of(to, from->file);
}

static void keep_sites(const struct kept *kept, struct trace *to)
{
	struct arena *arena = &kept->run->arena;
	size_t most = KEPT_FRAMES * kept->sites_n;
	uint32_t *numbers = NEED_ROOM(arena, numbers, most + kept->sites_n);
	uint32_t *stack_numbers = numbers + most;

	to->modules = baseline_room(kept->run, ROWS_module, most);
	to->frames = baseline_room(kept->run, ROWS_frame, most);
	to->stacks = baseline_room(kept->run, ROWS_stack, kept->sites_n);
	to->sites = baseline_room(kept->run, ROWS_site, kept->sites_n);
	for (uint32_t i = 0; i < kept->sites_n; i++) {
		const struct kept_site *from = &kept->sites[i];
		struct trace_stack *stack = &to->stacks[to->stacks_n++];

		stack->frames = numbers + to->frames_n;
		stack->frames_n = from->frames_n;
		for (unsigned k = 0; k < from->frames_n; k++) {
			stack->frames[k] = (uint32_t)to->frames_n;
			put_kept_frame(to, &from->frames[k]);
		}
		stack_numbers[i] = i;
		if (from->site.space[0]) {
			to->sites[to->sites_n] = from->site;
			to->sites[to->sites_n].stacks = &stack_numbers[i];
			to->sites[to->sites_n++].stacks_n = 1;
		}
	}
}

void baseline_sites(struct trace *to, struct run *run)
{
	struct kept kept = { .run = run };

	find_sites(&kept, to);
	keep_peaks(&kept, to);
	keep_sites(&kept, to);
	map_clear(&kept.known);
}
