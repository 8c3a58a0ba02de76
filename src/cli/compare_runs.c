#include "cli/compare_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "cli/cli.h"
#include "cli/traces.h"
#include "render/selection/select.h"

/* Leaves in the totals only the blocks that were live at the selection's peak, on one device. */
static void keep_peak(struct trace *trace, int ordinal)
{
	struct trace_device *device = trace->summary.devices;

	*device = *trace_device(trace, ordinal);
	rows_clear(ROWS_sum, &device->allocated);
	rows_clear(ROWS_sum, &device->reserved);
	device->allocated.peak_bytes = trace->peaks_n ? trace->peaks->bytes : 0;
	device->allocations = trace->peaks_n ? trace->peaks->count : 0;
	device->frees = device->allocations;
	device->pools_n = device->owners_n = device->ooms = device->retries = 0;
	trace->summary.devices_n = 1;
	trace->summary.spaces_n = trace->phases_n = 0;
	trace->timeline_n = trace->ooms_n = 0;
	foreach (site, trace->sites) {
		site->allocations = site->frees = site->bytes = site->live_bytes = 0;
		site->lifetime_max_ns = TRACE_NONE;
	}
	for (size_t i = 0; trace->peaks_n && i < trace->peaks->stacks_n; i++) {
		const struct trace_share *share = &trace->peaks->stacks[i];
		uint32_t of = trace->site_of[share->stack];
		struct trace_site *site = of == UINT32_MAX ? NULL : &trace->sites[of];

		if (!site)
			continue;
		site->bytes += share->bytes;
		site->allocations += share->count;
		site->frees += share->count;
	}
}

/* Reduces a run that was read to a phase on one device: its peak, and what it allocated. */
static int reduce(struct run *run, const char *phase, int device)
{
	static const struct categories none;
	char at[300];
	struct selection_options options = { .space = SPACES, .from = at, .to = at };
	const struct trace_device *worst = trace_worst_device(&run->trace, device);
	struct report_selection selection;
	int error;

	if (!worst)
		return err("%s: --phase compares memory of GPUs, and the run used none",
			   run->trace.path);
	options.device = worst->device;
	snprintf(at, sizeof(at), "phase:%s", phase);
	error = report_select(&selection, &run->trace, &options, &none);
	if (!error)
		keep_peak(&run->trace, options.device);
	report_select_clear(&selection);
	return error;
}

static int open_run(struct run *run, const char *path, const char *phase, int device)
{
	int error = run_read(run, path, device);

	if (!error && phase)
		error = reduce(run, phase, device);
	if (!error)
		run_add_rows(run, device);
	return error;
}

/* Opens the runs of base or head; each run keeps a pointer to its path in `traces`. */
static int open_side(struct diff_side *side, struct traces *traces, const char *const *operands,
		     const char *phase, int device)
{
	int error = traces_add(traces, operands);

	if (error)
		return error;
	side->runs = calloc(traces->count + 1, sizeof(*side->runs));
	NEED(side->runs);
	for (; !error && side->count < traces->count; side->count += !error)
		error = open_run(&side->runs[side->count], traces->paths[side->count], phase,
				 device);
	return error;
}

/* Returns run i of all runs: those of the base, then those of the head. NULL after the last. */
static struct run *run_at(struct diff_side *const *sides, size_t i)
{
	size_t bases = sides[0]->count;

	if (i < bases)
		return &sides[0]->runs[i];
	return i - bases < sides[1]->count ? &sides[1]->runs[i - bases] : NULL;
}

static bool asks_categories(const struct gates *gates)
{
	for (size_t i = 0; i < gates->count; i++) {
		if (gates->list[i]->query.by[NARROWING_CATEGORY])
			return true;
	}
	return false;
}

/* Finds the categories of all runs, and adds them to the comparison if every run has them for each
 * block, or if a gate needs them: in that case, fails if only some runs have them per block. */
static int categorise(struct diff_side *const *sides, const struct gates *gates,
		      const struct rules *rules, int device)
{
	bool asked = asks_categories(gates);
	const struct run *first = run_at(sides, 0);
	const struct run *other = NULL;
	struct run *run;

	for (size_t i = 0; (run = run_at(sides, i)); i++) {
		int error = run_find_categories(run, rules, asked);

		if (error)
			return error;
		if (!other && run->categories_from != first->categories_from)
			other = run;
	}
	if (other && asked)
		return err("%s and %s cannot be compared by category: one has too few events to "
			   "find each block's category (record with a larger MEMTRACE_MAX_EVENTS)",
			   first->trace.path, other->trace.path);
	if (!first || other || (first->categories_from != RUN_BLOCKS && !asked))
		return 0;
	for (size_t i = 0; (run = run_at(sides, i)); i++)
		run_add_categories(run, device);
	return 0;
}

static int write_comparison(struct diff *diff, const struct comparison *asked)
{
	struct diff_options shown = asked->options;
	const struct diff_format *format = asked->format;
	int error = cli_redirect(asked->output);

	shown.colour = cli_colour(cli_out()->fd);
	shown.ascii = isatty(cli_out()->fd) && !cli_unicode();
	if (asked->json)
		format = args_choose("format", "json", diff_formats, sizeof(*format));
	if (!error)
		format->write(diff, cli_out(), &shown);
	return error;
}

static int refuse_unlike(const struct diff *diff)
{
	char keys[800] = "";

	for (size_t i = 0; i < diff->unlike_n; i++) {
		const struct diff_key *key = &diff->unlike[i];

		show_more(keys, sizeof(keys), "%s%.60s (%.100s, %.100s)", i ? ", " : "", key->key,
			  key->base, key->head);
	}
	return err("the runs are too different to be compared: %s %s; --force compares them anyway",
		   keys, diff->unlike_n == 1 ? "differs" : "differ");
}

int compare_runs(const struct comparison *asked)
{
	struct traces traces[2] = { { NULL, 0 }, { NULL, 0 } };
	struct diff diff = { .device = asked->device };
	struct diff_side *const sides[] = { &diff.base, &diff.head };
	struct rules rules;
	int error = 0;
	int status;

	if (rules_read(&rules, asked->rules))
		return cli_fail(STATUS_USAGE);
	for (size_t s = 0; s < 2 && !error; s++)
		error = open_side(sides[s], &traces[s], asked->sides[s], asked->phases[s],
				  asked->device);
	if (!error && !asked->phases[0])
		error = categorise(sides, &asked->gates, &rules, asked->device);
	if (!error)
		error = diff_make(&diff, &diff.base, &diff.head, asked->device);
	if (!error && diff.unlike_n && !asked->force)
		error = refuse_unlike(&diff);
	if (!error)
		error = diff_judge(&diff, asked->gates.list, asked->gates.count);
	if (!error)
		error = write_comparison(&diff, asked);
	status = error ? cli_fail(STATUS_UNREADABLE) : diff_broken(&diff) ? STATUS_NO : STATUS_DONE;
	diff_clear(&diff);
	traces_clear(&traces[0]);
	traces_clear(&traces[1]);
	rules_clear(&rules);
	return status;
}
