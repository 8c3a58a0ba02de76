/* A selection (select.h) changes the trace's stacks, sites and peaks, so the sections of the report
 * that read these describe the selection. */
#include "render/selection/select.h"

#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/lifetimes/timepoint.h"

/* --- selections that need the events --- */

static bool is_split(const struct selection_options *options)
{
	return options->by == TRACE_BY_THREAD || options->by == TRACE_BY_PHASE ||
	       report_asks_categories(options);
}

static bool needs_replay(const struct trace *trace, const struct selection_options *options)
{
	return options->at || options->from || options->to || options->pool ||
	       options->space != SPACES || is_split(options) ||
	       (options->device != NO_DEVICE && trace->summary.devices_n > 1);
}

bool report_asks_categories(const struct selection_options *options)
{
	return options->by == TRACE_BY_CATEGORY || options->categories;
}

bool report_knows_categories(const struct trace *trace, const struct selection_options *options,
			     bool wanted)
{
	if (!needs_replay(trace, options))
		return false;
	return wanted || report_asks_categories(options) ||
	       (trace->capture.events_recorded <= TRACE_FEW && !trace->capture.events_dropped);
}

/* --- replaying the events, or taking totals from the trace itself --- */

/* True if the options select a device and nothing else. The peaks of the device and its pools are
 * then those in the trace, which refer to stacks: so the replay must keep a row per stack. */
static bool is_device_only(const struct selection_options *options)
{
	return !options->at && !options->from && !options->to && !options->pool &&
	       !options->filter && options->space == SPACES && !is_split(options);
}

static int find_wish(struct report_selection *selection, const struct trace *trace,
		     const struct selection_options *options, const struct categories *categories)
{
	struct replay_wish *wish = &selection->wish;
	int error = 0;

	*wish = (struct replay_wish){
		.device = options->device,
		.pool = options->pool,
		.space = options->space,
		.to = UINT64_MAX,
		.last = UINT64_MAX,
		.moment = REPLAY_PEAK,
		.split = (enum trace_by)options->by,
		.stacks = selection->stacks,
		.metric = (enum trace_metric)options->metric,
	};
	/* If events are missing, rows by category are inexact, so they are made only on request. */
	if (categories->of_alloc && !is_device_only(options) &&
	    (!trace->capture.events_dropped || report_asks_categories(options))) {
		wish->of_alloc = categories->of_alloc;
		wish->allocs_n = categories->allocs_n;
		wish->category_names = categories->rules->names;
		wish->categories = options->categories ? options->categories : UINT64_MAX;
	}
	if (options->at) {
		selection->moment = true;
		return moment_find(wish, trace, options->at, selection->what,
				   sizeof(selection->what));
	}
	if (options->from)
		error = timepoint_bound(trace, options->from, false, &wish->from);
	if (!error && options->to)
		error = timepoint_bound(trace, options->to, true, &wish->to);
	if (!error && wish->from > wish->to)
		return err("--from %.60s is later than --to %.60s", options->from, options->to);
	return error;
}

static bool is_of_card(const struct trace *trace, size_t stack)
{
	return trace_is_of(trace, stack, SPACE_DEVICE) || trace_is_of(trace, stack, SPACE_ARRAY);
}

/* Fills the replay's rows with the bytes that were live at exit according to the trace's stacks.
 * Returns false, and changes nothing, if these do not sum to the devices' bytes at exit, or if one
 * of several devices is selected. */
static bool told_exit(struct report_selection *selection, const struct trace *trace)
{
	struct replay *replay = &selection->replay;
	uint64_t told = 0;
	uint64_t sum = 0;

	foreach (device, trace->summary.devices)
		told += device->allocated.exit_bytes;
	for (size_t i = 0; i < trace->stacks_n; i++)
		sum += is_of_card(trace, i) ? trace->stacks[i].live_bytes : 0;
	if (sum != told || (selection->wish.device != NO_DEVICE && trace->summary.devices_n > 1))
		return false;
	for (size_t i = 0; i < trace->stacks_n && i < replay->rows_n; i++) {
		bool card = is_of_card(trace, i);

		replay->rows[i].sum = card ? trace->stacks[i].live_bytes : 0;
		replay->rows[i].sum_count = card ? trace->stacks[i].live_count : 0;
		if (card && !replay->rows[i].space)
			replay->rows[i].space = trace->sites[trace->site_of[i]].space;
	}
	replay->bytes = told;
	return true;
}

static bool told_peak(struct report_selection *selection, struct trace *trace,
		      const struct trace_peak *peak)
{
	if (!peak)
		return false;
	trace->peaks = (struct trace_peak *)peak;
	trace->peaks_n = 1;
	selection->replay.t = peak->t;
	selection->replay.bytes = peak->bytes;
	return true;
}

/* Reduces the trace to the selected kind of memory: its peak, and the figures of its stacks. */
static bool told_space(struct report_selection *selection, struct trace *trace)
{
	unsigned space = (unsigned)selection->wish.space;

	if (!told_peak(selection, trace, trace_space_peak(trace, space)))
		return false;
	selection->stacks = need(&trace->arena, trace->stacks_n + 1);
	for (size_t i = 0; i < trace->stacks_n; i++)
		selection->stacks[i] = trace_is_of(trace, i, space);
	report_filter_facts(selection, trace);
	return true;
}

/* If events were dropped, but the trace itself has exact figures for the selection, puts these into
 * the replay or reduces the trace to them, and returns true. */
static bool is_told(struct report_selection *selection, struct trace *trace,
		    const struct selection_options *options)
{
	struct replay_wish *wish = &selection->wish;

	if (!selection->replay.dropped || wish->of_alloc || options->metric != TRACE_ALLOCATED ||
	    options->filter || is_split(options) || options->from || options->to)
		return false;
	if (options->at && !strcmp(options->at, "exit"))
		return !options->pool && options->space == SPACES && told_exit(selection, trace);
	if (options->at && strcmp(options->at, "peak") != 0)
		return false;
	if (options->space != SPACES)
		return !options->pool && wish->device == NO_DEVICE && told_space(selection, trace);
	if (!options->at && !options->pool)
		return false;
	if (wish->device == NO_DEVICE && trace->summary.devices_n == 1)
		wish->device = trace->summary.devices[0].device;
	return told_peak(selection, trace,
			 trace_peak(trace, wish->device, options->pool, TRACE_ALLOCATED));
}

static bool is_empty(const struct replay *replay)
{
	foreach (row, replay->rows) {
		if (row->allocations || row->frees_here || row->live_count || row->sum_count ||
		    (row->epoch == replay->epoch && row->at_count))
			return false;
	}
	return true;
}

/* If a stack's allocation events were dropped, sets its memory kind to that of its site. */
static void keep_sites(struct replay *replay, const struct trace *trace)
{
	foreach (peak, trace->peaks) {
		for (size_t k = 0; peak->device == replay->wish->device && k < peak->stacks_n;
		     k++) {
			uint32_t stack = peak->stacks[k].stack;
			uint32_t site = trace->site_of[stack];

			if (!replay->rows[stack].space && site != UINT32_MAX)
				replay->rows[stack].space = trace->sites[site].space;
		}
	}
}

static void adopt_rows(struct replay *replay, struct trace *trace, bool keep_peaks)
{
	struct trace_peak *peaks = trace->peaks;
	size_t peaks_n = trace->peaks_n;

	if (keep_peaks)
		keep_sites(replay, trace);
	replay_adopt(replay);
	if (!keep_peaks)
		return;
	trace->peaks = peaks;
	trace->peaks_n = peaks_n;
}

static int run_selection(struct report_selection *selection, struct trace *trace,
			 const struct selection_options *options,
			 const struct categories *categories)
{
	struct replay *replay = &selection->replay;
	int error;

	if (trace->capture.baseline && !is_device_only(options))
		return err("%s is a baseline, which has no events to select from; use the trace it "
			   "was made from",
			   trace->path);
	error = find_wish(selection, trace, options, categories);
	if (!error)
		error = replay_run(replay, trace, &selection->wish);
	if (error)
		return error;
	selection->replayed = true;
	if (!replay->pool_text)
		error = report_select_check(trace, NO_DEVICE, options->pool);
	if (error)
		return error;
	selection->told = is_told(selection, trace, options);
	selection->empty = !selection->moment && !selection->told && is_empty(replay);
	if (selection->told)
		replay->lost = 0;
	/* For --at peak and for a kind of memory, the trace's own stacks have the figures, so they
	 * stay. For a pool, the trace has the peak, but the figures of stacks are the replay's. */
	if (!selection->told || (options->at && !strcmp(options->at, "exit")))
		adopt_rows(replay, trace, is_device_only(options));
	else if (!options->at && options->pool)
		adopt_rows(replay, trace, true);
	if (!replay->dropped)
		NEED(!gaps_find(&selection->gaps, &replay->lives.blocks));
	if (selection->moment && replay->lost && replay->lost != TRACE_NONE)
		trace->peaks->bytes += replay->lost;
	return 0;
}

int report_select(struct report_selection *selection, struct trace *trace,
		  const struct selection_options *options, const struct categories *categories)
{
	/* True if the trace has no rows for this --by, so that they are made from the events. */
	bool told = options->by == TRACE_BY_THREAD || options->by == TRACE_BY_PHASE ||
		    options->by == TRACE_BY_CATEGORY;
	enum trace_by by = told ? TRACE_BY_SITE : (enum trace_by)options->by;
	bool filtered = options->filter && !options->categories;
	int error;

	*selection = (struct report_selection){ 0 };
	error = report_select_check(trace, options->device, NULL);
	if (error)
		return error;
	trace_choose(trace, (enum trace_stacks)options->stacks, by);
	if (filtered)
		report_filter_stacks(selection, trace, options->filter);
	if (needs_replay(trace, options))
		error = run_selection(selection, trace, options, categories);
	else if (filtered)
		report_filter_facts(selection, trace);
	selection->narrow = selection->replayed && !selection->moment && !is_device_only(options);
	report_select_describe(selection, options);
	return error;
}

void report_select_clear(struct report_selection *selection)
{
	if (selection->replayed) {
		gaps_clear(&selection->gaps);
		replay_clear(&selection->replay);
	}
	*selection = (struct report_selection){ 0 };
}
