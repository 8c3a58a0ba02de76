/* The findings that need more than the trace's sums: growth, categories, leaks, steps. */
#include "analyse/findings/steps.h"
#include "analyse/input/error.h"
#include "render/report/report_parts.h"

/* A trace with at most this many events is read whole even if no section needs the events: reading
 * takes at most a few seconds, and finds growth, which shows mainly in long runs. */
enum { UNASKED = 4000000 };

static bool wants_events(const struct report *report)
{
	return report->trace->capture.events_recorded <= UNASKED || report->options->full ||
	       (report->options->show & report_section_bits_of_events());
}

/* Removes the sites of which every stack is matched by a suppression: their growth is expected. */
static void suppress_growth(struct report_study *study, const struct trace *trace)
{
	struct event_scan *survey = &study->survey;
	size_t kept = 0;

	foreach (grown, survey->growth) {
		const struct trace_site *site = &trace->sites[grown->site];
		bool fits = site->stacks_n > 0;

		foreach (stack, site->stacks)
			fits &= suppressions_fit(&study->suppressions, trace, *stack);
		if (!fits)
			survey->growth[kept++] = *grown;
	}
	survey->growth_n = kept;
}

/* Finds each allocation's category from the events, which report_select() then reads once more. */
static int find_first(struct report_study *study, struct trace *trace, const struct rules *rules)
{
	int error;

	if (trace->once)
		return err("%s cannot be read twice, as a selection by category needs: give a "
			   "file",
			   trace->path);
	error = trace_open(&study->again, trace->path);
	if (error)
		return error;
	categories_start(&study->categories, &study->again, rules);
	study->categories.keep_allocs = true;
	error = categories_read(&study->categories);
	study->categorised = !error;
	return error;
}

/* Infers the program's steps if no phases mark them; without --by phase, only in a short trace. */
static int infer_steps(struct trace *trace, const struct report_options *options)
{
	if (options->oom)
		return 0;
	return options->select.by == TRACE_BY_PHASE ? steps_infer(trace)
						    : steps_infer_if_few(trace);
}

int report_study_start(struct report_study *study, const struct report *report)
{
	const struct report_options *options = report->options;
	const struct rules *rules = options->rules ? options->rules : &study->builtin;
	bool wanted = options->full || (options->show & report_section_bit("categories", 10));
	struct trace *trace = report->trace;
	int error = 0;

	if (options->suppressions)
		error = suppressions_read(&study->suppressions, options->suppressions);
	if (!error && !options->rules)
		error = rules_read(&study->builtin, NULL);
	if (!error)
		error = infer_steps(trace, options);
	if (error)
		return error;
	if (report_knows_categories(trace, &options->select, wanted) &&
	    (!trace->once || report_asks_categories(&options->select)))
		return find_first(study, trace, rules);
	if (wants_events(report))
		categories_start(&study->categories, trace, rules);
	return 0;
}

static int read_events(struct report_study *study, struct trace *trace)
{
	struct event event;
	int more;

	event_scan_start(&study->survey, trace);
	study->surveyed = true;
	while ((more = trace_next(trace, &event)) == 1) {
		event_scan_event(&study->survey, &event);
		if (study->categories.rules)
			categories_event(&study->categories, &event);
	}
	if (!more)
		event_scan_end(&study->survey);
	return more;
}

static uint64_t temporaries_of(const struct report_study *study, const struct trace_device *device)
{
	const struct categories_place *place = NULL;

	if (study->categorised && device)
		place = categories_place(&study->categories, device->device, NULL, "device");
	return place ? place->peak[CATEGORY_TEMPORARIES].bytes : TRACE_NONE;
}

int report_study(struct report_study *study, const struct report *report)
{
	const struct report_selection *selection = report->selection;
	struct trace *trace = report->trace;
	const struct trace_device *worst = report_worst(report);
	int error = 0;

	if (selection->empty)
		return 0;
	/* A baseline has no events: growth and short-lived memory are unknown, not absent. */
	if (!trace->capture.baseline && !selection->replayed && wants_events(report))
		error = read_events(study, trace);
	if (error)
		return error;
	if (study->categories.rules && !selection->replayed && !selection->stacks) {
		categories_end(&study->categories);
		study->categorised = true;
	}
	leaks_find(&study->leaks, trace, &study->suppressions);
	if (study->surveyed)
		suppress_growth(study, trace);
	facts_find(&study->facts, trace, worst, temporaries_of(study, worst),
		   study->surveyed ? &study->survey : NULL, &study->leaks);
	return 0;
}

void report_study_clear(struct report_study *study)
{
	if (study->surveyed)
		event_scan_clear(&study->survey);
	categories_clear(&study->categories);
	trace_close(&study->again);
	rules_clear(&study->builtin);
	suppressions_clear(&study->suppressions);
	leaks_clear(&study->leaks);
}

const char *report_study_story(const struct report *report)
{
	const struct facts *facts = &report->study->facts;

	if (facts->growth && facts->grown * 20 >= facts->peak)
		return report_format(report,
				     "Memory keeps growing: %s more each %s, %s in total, from %s.",
				     SAY_BYTES(facts->growth), facts->step, SAY_BYTES(facts->grown),
				     facts->growth_site);
	if (facts->cached >= 1 << 30 && facts->cached * 3 >= facts->reserved)
		return report_format(
			report, "%s of %s reserved was unused at the peak of allocated memory.",
			SAY_BYTES(facts->cached), SAY_BYTES(facts->reserved));
	return NULL;
}
