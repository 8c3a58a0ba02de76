/* The sites of a baseline. */
#include "render/compare/baseline_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/text/text.h"
#include "facts/trace_rows.h"

static int no_memory(void)
{
	return err("no memory left");
}

/* --- frames --- */

static struct kept_frame keep_frame(const struct run *run, uint32_t number)
{
	const struct trace_frame *frame = &run->trace.frames[number];
	bool python = frame->language == TRACE_PYTHON;
	const char *path = python                        ? frame->file
			   : frame->module != UINT32_MAX ? run->trace.modules[frame->module].path
							 : NULL;

	return (struct kept_frame){
		.function = run->seen[number].function,
		.path = path ? site_path(python, path, run->trace.process.cwd) : NULL,
		.line = python ? frame->line : 0,
		.python = python,
	};
}

/* The frames that name the stack's site, and the line that answers for it. */
static unsigned pick_frames(const struct run *run, uint32_t stack, struct kept_frame *frames)
{
	const struct trace_stack *all = &run->trace.stacks[stack];
	struct site_pick pick = site_pick(run->seen, all->frames, all->frames_n);
	uint32_t line = site_line(run->seen, all->frames, all->frames_n);
	unsigned count = 0;

	for (uint32_t i = 0; i < all->frames_n && count < KEPT_FRAMES; i++) {
		if (i == pick.inner || i == pick.outer || i == line)
			frames[count++] = keep_frame(run, all->frames[i]);
	}
	return count;
}

/* Of stacks with one name the one whose lines come first stands for all: whatever came first. */
static bool comes_before(const struct kept_frame *a, const struct kept_frame *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (a[i].line != b[i].line)
			return a[i].line < b[i].line;
	}
	return false;
}

/* --- sites --- */

static bool is_site(const struct kept_site *kept, const char *name, const char *space)
{
	return text_same(kept->site.site, name) && text_same(kept->site.space, space);
}

static struct kept_site *find_site(struct kept *kept, struct map *known, const char *name,
				   const char *space)
{
	uint64_t key = hash_mix(hash_bytes(name, strlen(name)), hash_bytes(space, strlen(space)));
	struct kept_site *site;
	uint32_t id;

	while ((id = map_get(known, key)) && !is_site(&kept->sites[id - 1], name, space))
		key++;
	if (id)
		return &kept->sites[id - 1];
	site = &kept->sites[kept->sites_n];
	*site = (struct kept_site){
		.shares = arena_alloc(kept->arena, (2 * kept->peaks_n + 1) * sizeof(*site->shares)),
	};
	rows_clear(ROWS_site, &site->site);
	site->site.site = arena_text(kept->arena, name, strlen(name));
	site->site.space = space;
	if (!site->site.site || !site->shares || !map_put(known, key, (uint32_t)kept->sites_n + 1))
		return NULL;
	kept->sites_n++;
	return site;
}

static int enter_kept(struct kept *kept, struct map *known, uint32_t stack, const char *name,
		      const char *space)
{
	struct kept_site *site = find_site(kept, known, name, space);
	struct kept_frame frames[KEPT_FRAMES];
	unsigned count;

	if (!site)
		return no_memory();
	count = pick_frames(kept->run, stack, frames);
	if (!site->frames_n ||
	    (count == site->frames_n && comes_before(frames, site->frames, count))) {
		memcpy(site->frames, frames, sizeof(frames));
		site->frames_n = count;
	}
	kept->of_stack[stack] = (uint32_t)(site - kept->sites) + 1;
	return 0;
}

static int enter_site(struct kept *kept, struct map *known, const struct trace_site *site)
{
	char name[SITE_LONGEST];
	struct kept_site *to;

	if (!site->stacks_n)
		return 0;
	run_site_name(kept->run, site->stacks[0], name);
	/* Only stacks that have the name themselves can stand for it. */
	for (size_t i = 0; i < site->stacks_n; i++) {
		char own[SITE_LONGEST];

		run_site_name(kept->run, site->stacks[i], own);
		if (strcmp(own, name) != 0)
			continue;
		if (enter_kept(kept, known, site->stacks[i], name, site->space))
			return -1;
	}
	to = &kept->sites[kept->of_stack[site->stacks[0]] - 1];
	for (size_t i = 0; i < site->stacks_n; i++)
		kept->of_stack[site->stacks[i]] = kept->of_stack[site->stacks[0]];
	to->site.allocations += site->allocations;
	to->site.frees += site->frees;
	to->site.bytes += site->bytes;
	to->site.live_bytes += site->live_bytes;
	to->site.peak_bytes += site->peak_bytes;
	return 0;
}

static int enter_shares(struct kept *kept, struct map *known)
{
	for (size_t p = 0; p < kept->peaks_n; p++) {
		const struct trace_peak *peak = kept_peak(kept, p);

		for (size_t i = 0; i < peak->stacks_n; i++) {
			const struct trace_share *share = &peak->stacks[i];
			char name[SITE_LONGEST];
			struct kept_site *site;

			if (!kept->of_stack[share->stack]) {
				run_site_name(kept->run, share->stack, name);
				if (enter_kept(kept, known, share->stack, name, ""))
					return -1;
			}
			site = &kept->sites[kept->of_stack[share->stack] - 1];
			site->shares[2 * p] += share->bytes;
			site->shares[2 * p + 1] += share->count;
		}
	}
	return 0;
}

static int compare_kept_weights(const void *a, const void *b)
{
	const struct kept_site *x = a;
	const struct kept_site *y = b;
	int order;

	if (x->site.peak_bytes != y->site.peak_bytes)
		return x->site.peak_bytes > y->site.peak_bytes ? -1 : 1;
	order = strcmp(x->site.site, y->site.site);
	return order ? order : strcmp(x->site.space, y->site.space);
}

int kept_read(struct kept *kept, struct run *run)
{
	const struct trace *trace = &run->trace;
	struct map known = { NULL, 0 };
	int error = 0;

	*kept = (struct kept){ .arena = &run->arena, .run = run };
	kept->peaks = calloc(trace->peaks_n + 1, sizeof(*kept->peaks));
	kept->sites = calloc(trace->stacks_n + 1, sizeof(*kept->sites));
	kept->of_stack = calloc(trace->stacks_n + 1, sizeof(*kept->of_stack));
	if (!kept->peaks || !kept->sites || !kept->of_stack)
		return no_memory();
	for (size_t i = 0; i < trace->peaks_n; i++) {
		if (!trace->peaks[i].pool)
			kept->peaks[kept->peaks_n++] = (uint32_t)i;
	}
	for (size_t i = 0; !error && i < trace->sites_n; i++)
		error = enter_site(kept, &known, &trace->sites[i]);
	if (!error)
		error = enter_shares(kept, &known);
	map_clear(&known);
	qsort(kept->sites, kept->sites_n, sizeof(*kept->sites), compare_kept_weights);
	return error;
}

void kept_clear(struct kept *kept)
{
	free(kept->peaks);
	free(kept->sites);
	free(kept->of_stack);
	*kept = (struct kept){ .sites = NULL };
}
